"""What a step shows, where the healthy region ends, and the checks between the two: pure functions of a window.

The insights behind the checks are published, most of the thresholds are not: they are settings, with defaults of ours
where the paper gives no figure. Those of diversity hold for one metric only.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from trainer_client.grpo.insights import Insight

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


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
    """Largest minus smallest diversity within a window."""
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
    """Temperatures up to this are warned of."""
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


LEAST_OBSERVATIONS = 4
"""Two for each half of a window; also enough to say that a first maximum is too small."""

type Finding = tuple[str, Insight]


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
        return _mean(values) if len(values) == self.thresholds.window else None

    def halves(self, name: str) -> tuple[float, float] | None:
        """Return the means of the window's two halves, None until it is full."""
        values = self.values.get(name, ())
        return _halves(values) if len(values) == self.thresholds.window else None


def _diversity_collapse(window: Window) -> Finding | None:
    halves, level = window.halves("diversity"), window.thresholds.diversity_level
    if halves is None or halves[1] >= level or halves[0] - halves[1] <= window.thresholds.diversity_fall:
        return None
    return (
        f"diversity is below {level:g} and falling ({halves[0]:.3f} to {halves[1]:.3f})",
        Insight.START_BELOW_LEVEL,
    )


def _diversity_swing(window: Window) -> Finding | None:
    values = window.values.get("diversity", ())
    if not values or max(values) - min(values) <= window.thresholds.diversity_swing:
        return None
    return (
        f"diversity swings between {min(values):.3f} and {max(values):.3f} within {len(values)} observations",
        Insight.BY_DIVERSITY,
    )


def _low_temperature(window: Window) -> Finding | None:
    temperature = window.latest.temperature
    if temperature is None or temperature > window.thresholds.low_temperature:
        return None
    return f"the temperature is {temperature:g}", Insight.LOW_TEMPERATURE


def _mask_share(window: Window) -> Finding | None:
    masked, truncated = window.mean("masked_share"), window.mean("truncated_share")
    if masked is None or not truncated or masked / truncated <= window.thresholds.masked_of_truncated:
        return None
    return f"{masked / truncated:.0%} of the truncated samples are masked", Insight.MASK_SHARE


def _truncated_share(window: Window) -> Finding | None:
    truncated = window.mean("truncated_share")
    if truncated is None or truncated <= window.thresholds.truncated_share:
        return None
    return f"{truncated:.0%} of the samples are cut off at the maximum length", Insight.LONG_CONTEXT


def _small_first_maximum(window: Window) -> Finding | None:
    values = window.values.get("truncated_share", ())
    if window.latest.step >= window.thresholds.first_steps or len(values) < LEAST_OBSERVATIONS:
        return None
    if _mean(values) <= window.thresholds.first_truncated_share:
        return None
    return (
        f"{_mean(values):.0%} of the first samples are cut off: the first maximum length is too small",
        Insight.SMALL_FIRST_MAXIMUM,
    )


def _length_fall(window: Window) -> Finding | None:
    halves = window.halves("mean_length")
    if halves is None or halves[1] >= halves[0] * (1 - window.thresholds.length_fall):
        return None
    return f"completions get shorter ({halves[0]:.0f} to {halves[1]:.0f} tokens)", Insight.LENGTH_GROWTH


def _zero_std_share(window: Window) -> Finding | None:
    share = window.mean("zero_std_share")
    if share is None or share <= window.thresholds.zero_std_share:
        return None
    return (
        (
            f"{share:.0%} of the groups have equal rewards throughout and teach nothing: problems are too easy or "
            "too hard for the policy"
        ),
        Insight.HARD_DATA,
    )


def _hidden_stall(window: Window) -> Finding | None:
    if len(window.judged) < LEAST_OBSERVATIONS:
        return None
    rewards = _halves([reward for reward, _ in window.judged])
    accuracies = _halves([accuracy for _, accuracy in window.judged])
    rise, fall = rewards[1] - rewards[0], accuracies[0] - accuracies[1]
    if rise <= window.thresholds.reward_rise or fall <= window.thresholds.accuracy_fall:
        return None
    return (
        (
            f"the training reward rises ({rewards[0]:.3f} to {rewards[1]:.3f}) while the held-out accuracy falls "
            f"({accuracies[0]:.3f} to {accuracies[1]:.3f})"
        ),
        Insight.HIDDEN_STALL,
    )


def _kl(window: Window) -> Finding | None:
    latest = window.latest
    if not latest.kl_weight:
        return None
    symmetric = latest.clip_low is not None and latest.clip_low == latest.clip_high
    clip = f" with a symmetric clip of {latest.clip_low:g}" if symmetric else ""
    return (
        f"KL is on (weight {latest.kl_weight:g}){clip}",
        Insight.KL_WITH_SYMMETRIC_CLIP if symmetric else Insight.KL,
    )


CHECKS: Mapping[str, Callable[[Window], Finding | None]] = MappingProxyType(
    {
        "diversity_collapse": _diversity_collapse,
        "diversity_swing": _diversity_swing,
        "low_temperature": _low_temperature,
        "mask_share": _mask_share,
        "truncated_share": _truncated_share,
        "small_first_maximum": _small_first_maximum,
        "length_fall": _length_fall,
        "zero_std_share": _zero_std_share,
        "hidden_stall": _hidden_stall,
        "kl": _kl,
    }
)
"""By the kind of warning."""


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _halves(values: Sequence[float]) -> tuple[float, float]:
    """Return the means of the first and the last half; the middle one of an odd number is left out."""
    size = len(values) // 2
    return _mean(values[:size]), _mean(values[len(values) - size :])
