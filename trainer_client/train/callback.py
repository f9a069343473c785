"""From TRL's figures to lines of the record, and to lines for whoever looks on."""

from __future__ import annotations

import sys
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from trainer_client.outcome import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainer_client.grpo.monitor import HealthWarning
    from trainer_client.train.record import Record

FIGURES: Mapping[str, str] = MappingProxyType(
    {
        "reward": "reward",
        "reward_std": "reward_std",
        "length": "completions/mean_length",
        "truncated": "completions/clipped_ratio",
        "diversity": "diversity",
        "eligible": "mask/eligible",
        "masked": "mask/masked",
        "zero_std": "frac_reward_zero_std",
        "unscorable": "evaluator/unscorable",
        "temperature": "temperature",
        "max_completion_length": "max_completion_length",
        "entropy": "entropy",
        "kl": "kl",
        "clipped_low": "clip_ratio/low_mean",
        "clipped_high": "clip_ratio/high_mean",
        "loss": "loss",
        "grad_norm": "grad_norm",
        "learning_rate": "learning_rate",
    }
)
HELDOUT: Mapping[str, str] = MappingProxyType(
    {
        "accuracy": "eval_heldout/accuracy",
        "unscorable": "eval_heldout/unscorable",
        "length": "eval_completions/mean_length",
        "truncated": "eval_completions/clipped_ratio",
    }
)
SHOWN = ("reward", "length", "diversity", "masked", "temperature", "unscorable")


class RecordCallback(TrainerCallback):
    """Writes what the trainer logs; only the main process has one."""

    def __init__(self, record: Record, updates_per_step: int, steps: int) -> None:
        self._record = record
        self._updates = updates_per_step
        self._steps = steps
        self._started_s = time.monotonic()
        self._step = 0

    def on_log(self, _: Any, state: Any, __: Any, logs: dict[str, Any] | None = None, **___: Any) -> None:
        """Write a line for a step or an evaluation."""
        logs = logs or {}
        self._step = state.global_step // self._updates
        if "reward" in logs:
            figures = _named(logs, FIGURES) | {
                "verdicts": {verdict: logs.get(f"evaluator/{verdict}") for verdict in map(str, VERDICTS)},
                "seconds": round(time.monotonic() - self._started_s, 3),
            }
            self._record.write("step", self._step, figures)
            self._show({name: figures[name] for name in SHOWN})
        elif "eval_heldout/accuracy" in logs:
            figures = _named(logs, HELDOUT)
            self._record.write("heldout", self._step, figures)
            self._show({"held-out accuracy": figures["accuracy"], "unscorable": figures["unscorable"]})

    def warn(self, warning: HealthWarning) -> None:
        """Write a warning of the monitor, and show it."""
        figures = {"warning": warning.kind, "message": warning.message, "insight": str(warning.insight)}
        self._record.write("warning", warning.step, figures)
        _say(f"warning: {warning}")

    def _show(self, figures: Mapping[str, Any]) -> None:
        told = [
            f"{name} {value:.3g}"
            for name, value in figures.items()
            if value is not None and not (name == "unscorable" and value == 0)
        ]
        _say(f"step {self._step}/{self._steps}: {', '.join(told)}")


def _named(logs: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    # Losses are numbers already; torch's scalars would not be written.
    return {ours: _number(logs.get(theirs)) for ours, theirs in names.items()}


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 -- for whoever looks on
