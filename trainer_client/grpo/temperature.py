"""From diversity measured over a grid of temperatures to the temperature to train at, T(D).

The paper says what to look for ("neither keeps falling nor swings") and no thresholds; those here are settings, and
hold for the metric that they were set for. Two ways, by what was measured:

- at step 0 only: the smallest temperature whose diversity reaches a level;
- diversity over the steps of short runs: the smallest temperature of those whose diversity neither keeps falling nor
  swings (and reaches the level at its start, where one is set).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

THIRDS = 3


@dataclass(frozen=True, slots=True)
class TemperaturePoint:
    """What was measured at one temperature."""

    temperature: float
    diversity: float
    """At step 0, in [0, 1]."""
    trajectory: tuple[tuple[int, float], ...] = ()
    """(step, diversity) over a run at this temperature; three points at least, or none."""
    accuracy: float | None = None
    """At step 0, where measured: in [0, 1]."""


@dataclass(frozen=True, slots=True)
class TemperatureRule:
    """What a temperature must show. Thresholds hold for one metric of diversity."""

    level: float | None = 0.6
    """Least diversity at step 0; None asks nothing, and needs trajectories."""
    max_fall: float = 0.02
    """A trajectory keeps falling when its mean falls by more than this from the first third of its points to the
    second, and again from there to the last."""
    max_swing: float = 0.2
    """A trajectory swings when its largest and its smallest value are further apart."""
    max_accuracy_loss: float | None = None
    """Most that the accuracy at step 0 may lie below the grid's best: beyond, completions differ because they have
    stopped to make sense. None asks nothing."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """A point and, in words, why it is refused; ``reason`` is None where it fits."""

    point: TemperaturePoint
    reason: str | None


@dataclass(frozen=True, slots=True)
class TemperatureChoice:
    """The outcome: ``temperature`` is None where no point fits; ``reason`` tells why in either case."""

    temperature: float | None
    reason: str
    rule: TemperatureRule
    assessments: tuple[Assessment, ...]
    """In the order of temperatures."""


def choose_temperature(
    curve: Sequence[TemperaturePoint], rule: TemperatureRule | None = None
) -> TemperatureChoice:
    """Return the smallest temperature of ``curve`` that fits ``rule``.

    Where any point has a trajectory, points without one are not candidates.

    Raises:
        ValueError: the curve is empty, names a temperature twice or holds a value out of range, a trajectory is too
            short, or the rule has no level and nothing else to go by.

    """
    rule = rule or TemperatureRule()
    _check(curve, rule)
    watched = any(point.trajectory for point in curve)
    accuracies = [point.accuracy for point in curve if point.accuracy is not None]
    best_accuracy = max(accuracies, default=None)
    assessments = tuple(
        Assessment(point, _refusal(point, rule, best_accuracy, watched=watched))
        for point in sorted(curve, key=lambda point: point.temperature)
    )
    chosen = next((one.point for one in assessments if one.reason is None), None)
    if chosen is None:
        reasons = "; ".join(f"T={one.point.temperature:g}: {one.reason}" for one in assessments)
        return TemperatureChoice(None, f"no temperature fits: {reasons}", rule, assessments)
    return TemperatureChoice(
        chosen.temperature, _praise(chosen, assessments, rule, watched=watched), rule, assessments
    )


def plot_temperatures(choice: TemperatureChoice, path: str | Path) -> None:
    """Draw the measured curve, the level and the choice (and trajectories, where there are any) to a file.

    The format is that of the name's ending. Needs matplotlib.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 -- only who plots needs it

    points = [one.point for one in choice.assessments]
    watched = [point for point in points if point.trajectory]
    figure = Figure(figsize=(10, 4) if watched else (5.5, 4), layout="constrained")
    axes = figure.subplots(1, 2 if watched else 1, squeeze=False)[0]
    first = axes[0]
    first.plot([point.temperature for point in points], [point.diversity for point in points], "o-")
    if choice.rule.level is not None:
        first.axhline(choice.rule.level, color="grey", linestyle=":", label=f"level {choice.rule.level:g}")
    if choice.temperature is not None:
        first.axvline(choice.temperature, color="tab:green", label=f"chosen: {choice.temperature:g}")
    first.set(xlabel="temperature", ylabel="diversity at step 0", ylim=(0, 1.02))
    if first.get_legend_handles_labels()[0]:
        first.legend()
    if watched:
        for point in watched:
            steps, values = zip(*point.trajectory, strict=True)
            chosen = point.temperature == choice.temperature
            axes[1].plot(steps, values, label=f"T={point.temperature:g}", linewidth=2.5 if chosen else 1)
        axes[1].set(xlabel="step", ylabel="diversity", ylim=(0, 1.02))
        axes[1].legend()
    figure.savefig(path)


def _check(curve: Sequence[TemperaturePoint], rule: TemperatureRule) -> None:
    temperatures = [point.temperature for point in curve]
    if not curve or len(set(temperatures)) != len(temperatures):
        raise ValueError("curve: every temperature must be there once, and one at least")
    for point in curve:
        if not (math.isfinite(point.temperature) and point.temperature >= 0):
            raise ValueError(f"curve: temperature must not be negative, and is {point.temperature}")
        shares = [point.diversity, *(value for _, value in point.trajectory)]
        shares += [] if point.accuracy is None else [point.accuracy]
        if not all(0 <= share <= 1 for share in shares):
            raise ValueError(f"curve: diversity and accuracy must be in [0, 1] at T={point.temperature:g}")
        steps = [step for step, _ in point.trajectory]
        if 0 < len(steps) < THIRDS or steps != sorted(set(steps)):
            raise ValueError(
                f"curve: a trajectory has three points at least, at rising steps (T={point.temperature:g})"
            )
    if rule.level is None and not any(point.trajectory for point in curve):
        raise ValueError("rule: without a level there must be trajectories to choose by")
    for name in ("level", "max_fall", "max_swing", "max_accuracy_loss"):
        value = getattr(rule, name)
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"rule: {name} must be in [0, 1], not {value}")


def _refusal(
    point: TemperaturePoint, rule: TemperatureRule, best_accuracy: float | None, *, watched: bool
) -> str | None:
    if point.temperature == 0:
        return "nothing is sampled at temperature 0"
    if rule.level is not None and point.diversity < rule.level:
        return f"its diversity at step 0, {point.diversity:.3f}, is below the level {rule.level:g}"
    if rule.max_accuracy_loss is not None and point.accuracy is not None and best_accuracy is not None:
        loss = best_accuracy - point.accuracy
        if loss > rule.max_accuracy_loss:
            return f"its accuracy is {loss:.3f} below the best, more than {rule.max_accuracy_loss:g}"
    if not watched:
        return None
    if not point.trajectory:
        return "it was not watched over steps, and others were"
    values = [value for _, value in point.trajectory]
    first, second, last = _thirds(values)
    if first - second > rule.max_fall and second - last > rule.max_fall:
        return f"its diversity keeps falling ({first:.3f}, {second:.3f}, {last:.3f} by thirds of the run)"
    swing = max(values) - min(values)
    if swing > rule.max_swing:
        return f"its diversity swings by {swing:.3f}, more than {rule.max_swing:g}"
    return None


def _thirds(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the means of the first, the middle and the last third; what does not divide goes to the middle."""
    size = len(values) // THIRDS
    parts = (values[:size], values[size : len(values) - size], values[len(values) - size :])
    first, second, last = (sum(part) / len(part) for part in parts)
    return first, second, last


def _praise(
    chosen: TemperaturePoint, assessments: Sequence[Assessment], rule: TemperatureRule, *, watched: bool
) -> str:
    shown = [f"a diversity of {chosen.diversity:.3f} at step 0"]
    if rule.level is not None:
        shown[0] += f", which reaches the level {rule.level:g}"
    if watched:
        shown.append("a diversity that then neither keeps falling nor swings")
    lower = [one for one in assessments if one.point.temperature < chosen.temperature]
    below = "".join(f"; not T={one.point.temperature:g}: {one.reason}" for one in lower)
    return f"T={chosen.temperature:g} is the smallest temperature with {' and '.join(shown)}{below}"
