"""The checks of a training run's health: pure functions of a window, each of which names its insight."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from trainer_client.grpo.health import LEAST_OBSERVATIONS, Window, halves_of, mean_of
from trainer_client.grpo.insights import Insight

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

type Finding = tuple[str, Insight]
"""What is wrong, in words, and the observation that says why it matters."""


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
    temperature, step = window.latest.temperature, window.latest.step
    if temperature is None or temperature > window.thresholds.low_temperature:
        return None
    if step < window.thresholds.low_temperature_steps:
        return None
    return f"the temperature is still {temperature:g}", Insight.LOW_TEMPERATURE


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
    if mean_of(values) <= window.thresholds.first_truncated_share:
        return None
    return (
        f"{mean_of(values):.0%} of the first samples are cut off: the first maximum length is too small",
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
    rewards = halves_of([reward for reward, _ in window.judged])
    accuracies = halves_of([accuracy for _, accuracy in window.judged])
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
