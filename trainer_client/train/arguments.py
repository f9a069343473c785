"""The configuration in TRL's terms: batches over devices, and ``GRPOConfig``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainer_client.train.errors import ConfigError

if TYPE_CHECKING:
    from trainer_client.train.config import TrainConfig

# The latest steps' figures are in our own log; TRL's reporters are asked for by `run.trl.report_to`.
_FIXED = {"report_to": [], "disable_tqdm": True, "logging_strategy": "steps"}


@dataclass(frozen=True, slots=True)
class Batches:
    """Numbers of completions, and of passes over them, on ``processes`` processes."""

    processes: int
    per_device: int
    """Completions that a device computes at once."""
    passes_per_update: int
    """Gradient accumulation."""
    passes_per_step: int
    """Passes that learn from one rollout."""

    @classmethod
    def of(cls, config: TrainConfig, processes: int) -> Batches:
        """Divide a step's completions.

        Raises:
            ConfigError: they cannot be divided; names the field.

        """
        per_device = config.update.completions_per_device
        at_once = per_device * processes
        of_update = config.prompts_per_update * config.rollout.group_size
        if of_update % at_once:
            raise ConfigError(
                f"update.completions_per_device: {per_device} on {processes} processes do not divide the {of_update} "
                f"completions of an update ({config.prompts_per_update} prompts of {config.rollout.group_size})"
            )
        evaluation = config.evaluation
        if evaluation is not None and evaluation.completions_per_device * processes % evaluation.samples:
            raise ConfigError(
                f"evaluation.completions_per_device: {evaluation.completions_per_device} on {processes} processes are "
                f"no whole number of problems with evaluation.samples of {evaluation.samples}"
            )
        passes = of_update // at_once
        return cls(processes, per_device, passes, passes * config.updates_per_step)


def grpo_arguments(config: TrainConfig, batches: Batches, *, resumed: bool = False) -> dict[str, Any]:
    """Return the fields of TRL's ``GRPOConfig``; steps are multiplied by the updates of a step.

    Raises:
        ConfigError: ``run.trl`` sets what another section sets.

    """
    updates, update, run, algorithm = config.updates_per_step, config.update, config.run, config.algorithm
    first = config.rollout.stages[0]
    fields: dict[str, Any] = _FIXED | {
        "output_dir": str(run.output),
        "seed": run.seed,
        "max_steps": run.steps * updates,
        "logging_steps": updates,
        "save_strategy": "steps",
        "save_steps": run.save_every * updates,
        "save_total_limit": run.keep_checkpoints,
        "use_cpu": run.cpu,
        "bf16": update.bf16,
        "deepspeed": None if run.deepspeed is None else str(run.deepspeed),
        "per_device_train_batch_size": batches.per_device,
        "gradient_accumulation_steps": batches.passes_per_update,
        "steps_per_generation": batches.passes_per_step,
        "learning_rate": update.learning_rate,
        "lr_scheduler_type": update.learning_rate_schedule,
        "warmup_steps": update.warmup_steps * updates,
        "weight_decay": update.weight_decay,
        "max_grad_norm": update.max_grad_norm,
        "gradient_checkpointing": update.gradient_checkpointing,
        "num_generations": config.rollout.group_size,
        "temperature": first.temperature,
        "max_completion_length": first.max_completion_length,
        "top_p": config.rollout.top_p,
        "beta": algorithm.kl,
        "epsilon": algorithm.clip_low,
        "epsilon_high": algorithm.clip_high,
        "loss_type": algorithm.loss,
        "scale_rewards": algorithm.scale_rewards,
        "mask_truncated_completions": algorithm.leave_out_truncated,
        "model_init_kwargs": _model_fields(config),
        **_vllm_fields(config),
        **_evaluation_fields(config, resumed=resumed),
    }
    for name in run.trl:
        if name in fields and name != "report_to":
            raise ConfigError(f"run.trl.{name}: is set by another section of the configuration")
    return fields | run.trl


def _model_fields(config: TrainConfig) -> dict[str, Any]:
    fields: dict[str, Any] = {"dtype": config.model.dtype}
    if config.model.attention is not None:
        fields["attn_implementation"] = config.model.attention
    return fields


def _vllm_fields(config: TrainConfig) -> dict[str, Any]:
    vllm = config.rollout.vllm
    if vllm is None:
        return {"use_vllm": False}
    fields: dict[str, Any] = {"use_vllm": True, "vllm_mode": vllm.mode}
    if vllm.mode == "server":
        return fields | {"vllm_server_base_url": vllm.server_url}
    return fields | {
        "vllm_tensor_parallel_size": vllm.tensor_parallel_size,
        "vllm_gpu_memory_utilization": vllm.gpu_memory_utilization,
        "vllm_enable_sleep_mode": vllm.sleep,
        # Of all stages: vLLM is started once.
        "vllm_max_model_length": config.data.max_prompt_length + config.rollout.longest_completion,
    }


def _evaluation_fields(config: TrainConfig, *, resumed: bool) -> dict[str, Any]:
    evaluation = config.evaluation
    if evaluation is None:
        return {"eval_strategy": "no"}
    return {
        "eval_strategy": "steps",
        "eval_steps": evaluation.every * config.updates_per_step,
        "eval_on_start": not resumed,
        "per_device_eval_batch_size": evaluation.completions_per_device,
        "num_generations_eval": evaluation.samples,
    }
