"""A run from its configuration to its final model."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import accelerate
import transformers
import trl
from accelerate import PartialState
from datasets import Dataset

from trainer_client.errors import EvaluatorError
from trainer_client.grpo.monitor import HealthMonitor
from trainer_client.grpo.trl_state import STATE_NAME
from trainer_client.grpo.trl_trainer import MicroCoderGRPOTrainer
from trainer_client.grpo.truncation_mask import NonIncorrect, TruncationMask
from trainer_client.train import plots, record
from trainer_client.train.arguments import Batches, grpo_arguments
from trainer_client.train.callback import RecordCallback
from trainer_client.train.data import Examples, examples_of, fitting, rows_of
from trainer_client.train.errors import ConfigError, MissingError, RunError
from trainer_client.train.policy import policy_of
from trainer_client.train.readiness import check_ready
from trainer_client.train.record import Record
from trainer_client.train.reward import reward_of

if TYPE_CHECKING:
    from pathlib import Path

    from trainer_client.train.config import TrainConfig


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a run left its results."""

    log: Path
    model: Path
    curves: Path | None
    """None where matplotlib is not installed."""


def train(config: TrainConfig, *, resume: bool = False) -> Outcome | None:
    """Train as ``config`` says, or go on from the latest complete checkpoint of its folder.

    Returns None on all processes but the main one.

    Raises:
        ConfigError: the configuration does not fit the data, the devices or TRL.
        RunError: the folder, the service or a checkpoint is not as it must be, or training lost its judge.

    """
    state = PartialState(cpu=config.run.cpu)
    batches = Batches.of(config, state.num_processes)
    examples = examples_of(config)
    checkpoint = _checkpoint(config.run.output, resume=resume)
    if state.is_main_process:
        check_ready(config.evaluator)
        config.run.output.mkdir(parents=True, exist_ok=True)
    state.wait_for_everyone()
    trainer, log = _assembled(config, batches, examples, resumed=checkpoint is not None)
    if state.is_main_process:
        _begin(log, config, trainer, checkpoint)
    started_s = time.monotonic()
    try:
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        if config.evaluation is not None and not _evaluated(trainer.state):
            trainer.evaluate()
    except EvaluatorError as error:
        raise RunError(f"{error}\nThe run can go on from its latest checkpoint with --resume.") from error
    finally:
        _close_connections(trainer)
    final = config.run.output / "model"
    trainer.save_model(str(final))
    if not state.is_main_process:
        return None
    log.write("end", config.run.steps, {"seconds": round(time.monotonic() - started_s, 1)})
    return Outcome(log.path, final, draw_curves(config.run.output))


def draw_curves(output: Path) -> Path | None:
    """Draw the curves of the run in ``output``; returns their file, or None without matplotlib."""
    path = output / plots.NAME
    try:
        plots.plot_runs({output.name: [record.read_record(output / record.NAME)]}, path)
    except MissingError:
        return None
    return path


def _assembled(
    config: TrainConfig, batches: Batches, examples: Examples, *, resumed: bool
) -> tuple[MicroCoderGRPOTrainer, Record]:
    state = PartialState()
    with state.main_process_first():
        name, tokenizer = policy_of(config.model, config.run.output / "initial", config.run.seed)
    length = partial(_length, tokenizer)
    kept = fitting(examples.train, length, config.data.max_prompt_length)
    heldout = fitting(examples.heldout, length, config.data.max_prompt_length)
    if len(kept) < config.rollout.prompts:
        raise ConfigError(
            f"data.max_prompt_length: only {len(kept)} of {len(examples.train)} prompts have at most "
            f"{config.data.max_prompt_length} tokens, fewer than rollout.prompts"
        )
    log = Record(config.run.output / record.NAME)
    callback = RecordCallback(log, config.updates_per_step, config.run.steps)
    fields = grpo_arguments(config, batches, resumed=resumed)
    try:
        arguments = trl.GRPOConfig(**fields)
        trainer = MicroCoderGRPOTrainer(
            model=name,
            args=arguments,
            reward_funcs=reward_of(config.evaluator, [*examples.train, *examples.heldout]),
            train_dataset=Dataset.from_list(rows_of(kept)),
            eval_dataset=Dataset.from_list(rows_of(heldout)) if config.evaluation is not None else None,
            processing_class=tokenizer,
            schedule=config.rollout.schedule(),
            mask=_mask(config),
            metric=config.rollout.diversity,
            monitor=HealthMonitor(config.health),
            on_warning=callback.warn,
            evaluation_temperature=None if config.evaluation is None else config.evaluation.temperature,
        )
    except (TypeError, ValueError) as error:
        raise ConfigError(f"TRL {trl.__version__} refuses the configuration: {error}") from error
    # It would repeat every figure as Python's text of a dictionary.
    trainer.remove_callback(transformers.PrinterCallback)
    if state.is_main_process:
        trainer.add_callback(callback)
    return trainer, log


def _evaluated(state: Any) -> bool:
    """Whether the final model was evaluated: transformers does that by itself, but not in all of its versions."""
    return any(
        "eval_heldout/accuracy" in line and line["step"] == state.global_step for line in state.log_history
    )


def _close_connections(trainer: Any) -> None:
    """Close those to the service, in the loop of TRL's thread, which opened them."""
    for reward in trainer.reward_funcs:
        asyncio.run_coroutine_threadsafe(reward.client.aclose(), trainer.async_loop).result()


def _mask(config: TrainConfig) -> TruncationMask | None:
    section = config.algorithm.truncation_mask
    if section is None:
        return None
    return TruncationMask(
        max_length=config.rollout.stages[0].max_completion_length,
        rho=section.rho,
        repeat_tokens=section.repeat_tokens,
        non_incorrect=NonIncorrect(section.non_incorrect),
        seed=config.run.seed,
    )


def _length(tokenizer: Any, prompt: str | list[dict[str, str]]) -> int:
    if isinstance(prompt, str):
        return len(tokenizer(prompt)["input_ids"])
    return len(
        tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_dict=True)["input_ids"]
    )


def _checkpoint(output: Path, *, resume: bool) -> Path | None:
    """Return the checkpoint to go on from; None for a new run.

    Raises:
        RunError: a new run would write over another one, or there is nothing to go on from.

    """
    if not resume:
        if (output / record.NAME).exists():
            raise RunError(
                f"{output}: holds a run; go on with --resume, or choose another folder (run.output)"
            )
        return None
    complete = [path.parent for path in output.glob(f"checkpoint-*/{STATE_NAME}")]
    if not complete:
        raise RunError(f"{output}: has no complete checkpoint to resume from; begin anew in another folder")
    return max(complete, key=lambda path: int(path.name.rpartition("-")[2]))


def _begin(log: Record, config: TrainConfig, trainer: Any, checkpoint: Path | None) -> None:
    if checkpoint is not None:
        log.cut_after(int(checkpoint.name.rpartition("-")[2]) // config.updates_per_step)
        return
    log.write(
        "run",
        0,
        {
            # Without what is secret: pydantic writes stars for the API key.
            "config": config.model_dump(mode="json"),
            "prompts": len(trainer.train_dataset),
            "versions": {one.__name__: one.__version__ for one in (trl, transformers, accelerate)},
        },
    )
