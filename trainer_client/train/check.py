"""``microcoder train --check``: what can be known before a GPU is taken."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from trainer_client.train.arguments import Batches, grpo_arguments
from trainer_client.train.data import examples_of
from trainer_client.train.errors import ConfigError
from trainer_client.train.readiness import check_ready

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainer_client.train.config import TrainConfig


def check(config: TrainConfig, *, processes: int, offline: bool) -> Iterator[str]:
    """Give a line for each thing that was checked, or that could not be.

    Raises:
        ConfigError: the configuration cannot be used; names the field.
        RunError: no service is ready.

    """
    batches = Batches.of(config, processes)
    algorithm = config.algorithm
    yield (
        f"algorithm {algorithm.name}: clip {algorithm.clip_low}/{algorithm.clip_high}, KL {algorithm.kl}, "
        f"truncation mask {'none' if algorithm.truncation_mask is None else algorithm.truncation_mask.rho}"
    )
    yield (
        f"a step: {config.rollout.prompts} prompts of {config.rollout.group_size} completions, "
        f"{config.updates_per_step} updates; on {processes} processes {batches.passes_per_update} passes of "
        f"{batches.per_device} completions per update"
    )
    for stage in config.rollout.stages:
        yield f"from step {stage.step}: temperature {stage.temperature}, at most {stage.max_completion_length} tokens"
    examples = examples_of(config)
    yield f"problems: {len(examples.train)} to train on, {len(examples.heldout)} held out"
    yield _model(config)
    yield _trl(config, batches)
    yield "service: not asked" if offline else f"service: {check_ready(config.evaluator)}"


def _model(config: TrainConfig) -> str:
    if config.model.random is not None:
        return f"model: random, {len(config.model.random.vocabulary)} words"
    folder = Path(str(config.model.name))
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ConfigError(f"model.name: {folder}: has no config.json")
        return f"model: folder {folder}"
    return f"model: {config.model.name}, not checked: it is no folder here, and comes from the hub"


def _trl(config: TrainConfig, batches: Batches) -> str:
    fields = grpo_arguments(config, batches)
    if find_spec("trl") is None:
        return "TRL: not checked: it is not installed here (pip install 'microcoder-evaluator[train]')"
    from trl import GRPOConfig  # noqa: PLC0415 -- where it is installed only, and it loads torch

    # This machine need not have what the configuration is for.
    here = {"use_cpu": True, "bf16": False, "deepspeed": None, "use_vllm": False}
    alone = {"steps_per_generation": batches.passes_per_step * batches.processes}
    alone["gradient_accumulation_steps"] = batches.passes_per_update * batches.processes
    samples = fields.get("num_generations_eval")
    if samples is not None:
        alone["per_device_eval_batch_size"] = samples
    try:
        GRPOConfig(**(fields | here | alone))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"TRL refuses the configuration: {error}") from error
    return f"TRL {metadata.version('trl')}: takes these settings"
