"""What a training step shows, where the healthy region ends, and the window of steps that checks look at.

The insights behind the checks are published, most of the thresholds are not: they are settings, with defaults of ours
where the paper gives no figure. Those of diversity hold for one metric only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST_OBSERVATIONS = 4
"""Two for each half of a window; also enough to say that a first maximum is too small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFigures:
    """What is known of one training step; None where it was not measured. Shares are in [0, 1]."""

    step: int
    diversity: float | None = None
    """Mean over the groups of the step."""
    masked_share: float | None = None
    """Share of samples that the truncation mask took out."""
    truncated_share: float | None = None
    """Share of samples that were cut off at the maximum length."""
    mean_length: float | None = None
    """Tokens of a completion."""
    zero_std_share: float | None = None
    """Share of groups whose rewards are all equal."""
    reward: float | None = None
    """Mean training reward."""
    accuracy: float | None = None
    """Of the held-out set, at the steps where it was measured."""
    temperature: float | None = None
    kl_weight: float | None = None
    """beta."""
    clip_low: float | None = None
    clip_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthThresholds:
    """Where the healthy region ends. A window is a number of observations; a trend compares its two halves."""

    window: int = 20
    diversity_level: float = 0.6
    """Diversity that falls is warned of below this."""
    diversity_fall: float = 0.01
    """What counts as falling."""
    diversity_swing: float = 0.2
    """Largest minus smallest diversity within a window; a new temperature begins a new one."""
    masked_of_truncated: float = 0.5
    """Masked samples by truncated ones, over a window. Full masking is 1; rho, published as 0.3, bounds it."""
    truncated_share: float = 0.5
    """Over a window."""
    first_steps: int = 50
    """Steps in which a truncated share above the next setting means that the first maximum length is too small."""
    first_truncated_share: float = 0.3
    length_fall: float = 0.2
    """Relative fall of the mean length."""
    zero_std_share: float = 0.6
    """Over a window."""
    low_temperature: float = 0.6
    """Temperatures up to this are warned of from the next setting on,"""
    low_temperature_steps: int = 140
    """the length of the published first stage at a low temperature."""
    reward_rise: float = 0.02
    """Rise of the training reward that should show in the accuracy,"""
    accuracy_fall: float = 0.01
    """and the fall of the accuracy that shows that it does not."""

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            ValueError: a setting is out of range.

        """
        if self.window < LEAST_OBSERVATIONS:
            raise ValueError(f"window must be at least {LEAST_OBSERVATIONS}, not {self.window}")


@dataclass(frozen=True, slots=True)
class Window:
    """What the checks look at: the latest step, and the last values of everything measured, oldest first."""

    latest: StepFigures
    values: Mapping[str, Sequence[float]]
    judged: Sequence[tuple[float, float]]
    """(reward, accuracy) of the steps where both were measured."""
    thresholds: HealthThresholds

    def mean(self, name: str) -> float | None:
        """Return the mean over the window, None until it is full."""
        values = self.values.get(name, ())
        return mean_of(values) if len(values) == self.thresholds.window else None

    def halves(self, name: str) -> tuple[float, float] | None:
        """Return the means of the window's two halves, None until it is full."""
        values = self.values.get(name, ())
        return halves_of(values) if len(values) == self.thresholds.window else None


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    return sum(values) / len(values)


def halves_of(values: Sequence[float]) -> tuple[float, float]:
    """Return the means of the first and the last half; the middle one of an odd number is left out."""
    size = len(values) // 2
    return mean_of(values[:size]), mean_of(values[len(values) - size :])
