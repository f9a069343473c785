"""The algorithms by name: settings of the same clipped objective.

| | ``grpo`` | ``dapo`` | ``microcoder`` |
| --- | --- | --- | --- |
| clip | 0.2, both sides | 0.2 below, 0.28 above | 0.2 below, 0.28 above |
| KL weight | 0.04 | 0 | 0 |
| average of the loss | per completion | over all tokens | over all tokens |
| truncated completions | count | are left out | count; a share of those not wrong gets advantage 0 |

Sources: GRPO is DeepSeekMath (arXiv 2402.03300, section 4.2), DAPO is arXiv 2503.14476 (clip-higher, token-level
loss, overlong filtering; its dynamic sampling is not part of TRL), MicroCoder-GRPO is arXiv 2603.07777.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from trainer_client.train.section import Section

if TYPE_CHECKING:
    from collections.abc import Mapping

Name = Literal["grpo", "dapo", "microcoder"]

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "grpo": MappingProxyType(
            {"clip_low": 0.2, "clip_high": 0.2, "kl": 0.04, "loss": "grpo", "leave_out_truncated": False}
        ),
        "dapo": MappingProxyType(
            {"clip_low": 0.2, "clip_high": 0.28, "kl": 0.0, "loss": "dapo", "leave_out_truncated": True}
        ),
        "microcoder": MappingProxyType(
            {
                "clip_low": 0.2,
                "clip_high": 0.28,
                "kl": 0.0,
                "loss": "dapo",
                "leave_out_truncated": False,
                "truncation_mask": MappingProxyType({}),
            }
        ),
    }
)


class MaskSection(Section):
    """The conditional truncation mask; see :mod:`trainer_client.grpo.truncation_mask`."""

    rho: float = Field(0.3, ge=0, le=1)
    """Probability with which an eligible completion gets advantage 0."""
    repeat_tokens: int = Field(128, ge=1)
    """A completion whose last so many tokens equal the ones before them repeats itself and is not eligible."""
    non_incorrect: Literal["correct", "correct_or_unanswered"] = "correct"
    """What a truncated completion must be: accepted, or also one that has no program yet."""


class AlgorithmSection(Section):
    """What ``name`` stands for, and what is to differ from it."""

    name: Name = "microcoder"
    clip_low: float = Field(gt=0, lt=1)
    clip_high: float = Field(gt=0)
    kl: float = Field(ge=0)
    """Weight of the divergence from the initial model; above 0 that model is kept in memory as well."""
    loss: Literal["grpo", "dapo", "dr_grpo", "bnpo"]
    """How token losses are averaged, in TRL's names."""
    leave_out_truncated: bool
    truncation_mask: MaskSection | None = None
    scale_rewards: Literal["group", "batch", "none"] = "group"

    @model_validator(mode="before")
    @classmethod
    def _named(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        preset = PRESETS.get(values.get("name", "microcoder"), {})
        plain = {name: dict(value) if hasattr(value, "keys") else value for name, value in preset.items()}
        return plain | values

    @model_validator(mode="after")
    def _one_mask(self) -> Self:
        if self.leave_out_truncated and self.truncation_mask is not None:
            raise ValueError(
                "leave_out_truncated and truncation_mask exclude each other: what is left out cannot be masked"
            )
        return self
