"""MicroCoder-GRPO as a subclass of TRL's trainer (TRL 1.14 to 1.16), which keeps the loop, the loss and the devices.

What is added, at the two places where TRL samples and scores: the stage's temperature and maximum length (set before
a rollout, in sampling and in log-probabilities alike), the conditional truncation mask (its samples get advantage 0
and stay in the number of tokens), the diversity within groups, warnings, and held-out accuracy. A step is a rollout.

Every process draws the mask of the whole batch with the same generator and takes its own part, so that the mask does
not depend on how many processes there are.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import gather_object
from trl import GRPOTrainer

from trainer_client.grpo.diversity import diversity
from trainer_client.grpo.monitor import HealthMonitor, StepFigures
from trainer_client.grpo.schedule import Stage, StagedSchedule
from trainer_client.grpo.trl_head import LogProbHead
from trainer_client.grpo.trl_state import load_state, save_state
from trainer_client.grpo.trl_tally import Rollout, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainer_client.grpo.diversity import Metric
    from trainer_client.grpo.monitor import HealthWarning
    from trainer_client.grpo.truncation_mask import TruncationMask

VERDICTS = "verdict"
_OWNED = ("temperature", "max_new_tokens", "max_tokens")
_log = logging.getLogger(__name__)


def _log_warning(warning: HealthWarning) -> None:
    _log.warning("%s", warning)


class MicroCoderGRPOTrainer(GRPOTrainer):
    """TRL's ``GRPOTrainer`` with stages, conditional truncation mask, diversity, monitor and exact resume.

    A reward function must log the column ``verdict`` with the service's verdicts, as
    :class:`trainer_client.adapters.trl.EvaluatorReward` does. Logged besides TRL's figures, per step:
    ``temperature``, ``max_completion_length``, ``diversity``, ``mask/eligible`` and ``mask/masked`` (shares of the
    samples), and per evaluation ``heldout/accuracy`` (accepted by judged) and ``heldout/unscorable``.
    """

    temperature: float
    max_completion_length: int

    def __init__(
        self,
        *args: Any,
        schedule: StagedSchedule | None = None,
        mask: TruncationMask | None = None,
        metric: str | Metric = "bigram_jaccard",
        monitor: HealthMonitor | None = None,
        on_warning: Callable[[HealthWarning], None] = _log_warning,
        evaluation_temperature: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Take TRL's arguments, and these.

        Args:
            args: TRL's.
            schedule: temperature and maximum length by step; None: those of ``GRPOConfig`` throughout.
            mask: the conditional truncation mask; None for none. Its maximum length and end tokens are set here.
            metric: of the diversity.
            monitor: None for one with default thresholds.
            on_warning: called with what the monitor finds, on the main process.
            evaluation_temperature: of sampling in evaluations; None: that of the stage.
            kwargs: TRL's.

        Raises:
            ValueError: ``generation_kwargs`` sets what stages own, or the mask meets
                ``mask_truncated_completions``, which leaves nothing for it.

        """
        super().__init__(*args, **kwargs)
        for name in _OWNED:
            if name in (self.args.generation_kwargs or {}):
                raise ValueError(f"generation_kwargs: {name} is set by the schedule")
        if mask is not None and self.args.mask_truncated_completions:
            raise ValueError(
                "mask_truncated_completions leaves out every truncated completion; use it or `mask`"
            )
        self.schedule = schedule or StagedSchedule([Stage(0, self.temperature, self.max_completion_length)])
        self.mask = mask
        self.metric = metric
        self.monitor = monitor or HealthMonitor()
        self._on_warning = on_warning
        self._evaluation_temperature = evaluation_temperature
        # TRL 1.14 knows the tokenizer's end token only.
        ends = getattr(self, "eos_token_ids", [self._tokenizer.eos_token_id])
        self._ends = frozenset({*ends, self._tokenizer.pad_token_id})
        self._rollout = Rollout((), ())
        self._tally = Tally()
        self._accuracy: float | None = None
        self._train_sampler: Any = None
        base = self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model
        self._head = LogProbHead(
            base, self.temperature, cast_lm_head_to_fp32=bool(self.args.cast_lm_head_to_fp32)
        )
        self._enter(self.schedule.at(0))

    @property
    def _micro_steps_per_rollout(self) -> int:
        return int(self.args.steps_per_generation * self.num_iterations)

    def set_temperature(self, temperature: float) -> None:
        """Sample at ``temperature`` and compute log-probabilities at it, from the next rollout or call on.

        Log-probabilities of samples that were drawn before belong to the old one: call it between rollouts only.

        Raises:
            ValueError: ``temperature`` is not above 0.

        """
        self._head.set_temperature(temperature)
        self.temperature = self.args.temperature = temperature
        if self.use_vllm:
            self.vllm_generation.temperature = temperature
        else:
            self.generation_config.temperature = temperature
            self.generation_kwargs["temperature"] = temperature

    def set_max_completion_length(self, tokens: int) -> None:
        """Cut completions off at ``tokens`` from the next rollout on."""
        self.max_completion_length = self.args.max_completion_length = tokens
        if self.use_vllm:
            self.vllm_generation.max_completion_length = tokens
        else:
            self.generation_config.max_new_tokens = tokens
            self.generation_kwargs["max_new_tokens"] = tokens

    def _enter(self, stage: Stage) -> None:
        if stage.temperature != self.temperature:
            self.set_temperature(stage.temperature)
        if stage.max_completion_length not in {None, self.max_completion_length}:
            self.set_max_completion_length(stage.max_completion_length)
        if self.mask is not None:
            self.mask.max_length = self.max_completion_length
            self.mask.end_ids = self._ends

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        before = self.temperature
        if self._evaluation_temperature is not None:
            self.set_temperature(self._evaluation_temperature)
        try:
            yield
        finally:
            if self.temperature != before:
                self.set_temperature(before)

    def _calculate_rewards(
        self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Sequence[Sequence[int]]
    ) -> Any:
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        verdicts = list(self._pending_extra_logs.get(VERDICTS, ()))
        if len(verdicts) != len(prompts):
            raise ValueError(
                f"{len(verdicts)} verdicts of {len(prompts)} completions: a reward function must log the column "
                f"{VERDICTS!r} (log_extra), as EvaluatorReward does"
            )
        self._rollout = Rollout(gather_object(list(completion_ids_list)), gather_object(verdicts))
        return rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        if not self.model.training:
            with self._evaluating():
                output: dict[str, Any] = super()._generate_and_score_completions(inputs)
            self._tally.add(self._rollout.verdicts)
            return output
        self._enter(self.schedule.at(self._step // self._micro_steps_per_rollout))
        output = super()._generate_and_score_completions(inputs)
        if self.mask is not None:
            draw = self.mask.draw(self._rollout.ids, self._rollout.verdicts)
            start = self.accelerator.process_index * len(inputs)
            own = draw.masked[start : start + len(inputs)].to(output["advantages"].device)
            output["advantages"] = output["advantages"].masked_fill(own, 0.0)
            self._note("mask/eligible", draw.eligible.float().mean().item())
            self._note("mask/masked", draw.masked.float().mean().item())
        self._observe()
        return output

    def _note(self, name: str, value: float) -> None:
        self._metrics["train"][name].append(value)

    def _latest(self, name: str) -> float | None:
        values = self._metrics["train"].get(name)
        return float(values[-1]) if values else None

    def _observe(self) -> None:
        self._note("temperature", self.temperature)
        self._note("max_completion_length", self.max_completion_length)
        if not self.accelerator.is_main_process:
            return
        self._note(
            "diversity", diversity(self._rollout.groups(self.num_generations, self._ends), self.metric)
        )
        figures = StepFigures(
            step=self._step // self._micro_steps_per_rollout + 1,
            diversity=self._latest("diversity"),
            masked_share=self._latest("mask/masked"),
            truncated_share=self._latest("completions/clipped_ratio"),
            mean_length=self._latest("completions/mean_length"),
            zero_std_share=self._latest("frac_reward_zero_std"),
            reward=self._latest("reward"),
            accuracy=self._accuracy,
            temperature=self.temperature,
            kl_weight=self.beta,
            clip_low=self.epsilon_low,
            clip_high=self.epsilon_high,
        )
        self._accuracy = None
        for warning in self.monitor.observe(figures):
            self._on_warning(warning)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Evaluate as TRL does, and measure the accuracy."""
        self._tally = Tally()
        metrics: dict[str, float] = super().evaluate(*args, **kwargs)
        return metrics

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log as TRL does, after an evaluation with the accuracy."""
        # The model stays in its mode of evaluation until the next step: what is logged in between is not one more.
        if not self.model.training and self._tally.total:
            for name, value in self._tally.figures().items():
                self._metrics["eval"][name] = [value]
            self._accuracy = self._tally.accuracy if self._tally.judged else None
            self._tally = Tally()
        super().log(logs, start_time)

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        self._train_sampler = super()._get_train_sampler(dataset)
        return self._train_sampler

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.args.should_save:
            folder = Path(self._get_output_dir(trial=trial)) / f"checkpoint-{self.state.global_step}"
            save_state(folder, self.mask, self.monitor, self._accuracy)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is None:
            return
        self._accuracy = load_state(Path(checkpoint), self.mask, self.monitor)
        # TRL counts from 0 again, which would put stages and the parts of a rollout at other steps.
        self._step = self.state.global_step * self.args.gradient_accumulation_steps
        if self._step % self._micro_steps_per_rollout:
            updates = self._micro_steps_per_rollout // self.args.gradient_accumulation_steps
            raise ValueError(
                f"{checkpoint}: was taken within a rollout, whose completions are lost; make save_steps a multiple "
                f"of the {updates} updates of a rollout"
            )
        self._shuffle_as_before()

    def _shuffle_as_before(self) -> None:
        """Draw the permutations of the epochs that are over: TRL's sampler begins with that of the first one."""
        sampler = self._train_sampler
        if sampler is None or not self.shuffle_dataset:
            return
        # The loader hands over whole rollouts; each is repeated for the passes that learn from it.
        micro_steps = len(sampler) // (
            self.accelerator.num_processes * self._train_batch_size * self.args.steps_per_generation
        )
        updates = max(1, -(-micro_steps // self.args.gradient_accumulation_steps))
        for _ in range(self.state.global_step // updates):
            torch.randperm(sampler.num_samples, generator=sampler.generator)
