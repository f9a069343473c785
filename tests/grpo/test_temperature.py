"""The temperature from diversity: made curves whose answer is known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from trainer_client.grpo.temperature import (
    TemperaturePoint,
    TemperatureRule,
    choose_temperature,
    plot_temperatures,
)

if TYPE_CHECKING:
    from pathlib import Path

# Diversity at step 0 of a made model, rising with the temperature as that of real ones does.
CURVE = [
    TemperaturePoint(temperature, diversity, accuracy=accuracy)
    for temperature, diversity, accuracy in (
        (0.0, 0.35, 0.30), (0.2, 0.50, 0.31), (0.6, 0.58, 0.32), (1.0, 0.68, 0.31), (1.2, 0.72, 0.30),
        (1.8, 0.97, 0.05),
    )
]  # fmt: skip


def trajectory(values: list[float]) -> tuple[tuple[int, float], ...]:
    return tuple((20 * index, value) for index, value in enumerate(values))


# The three shapes of the published figure, in numbers of ours with some noise.
FALLING = trajectory([0.58 - 0.01 * step + 0.002 * (-1) ** step for step in range(15)])
LEVEL = trajectory([0.70 + 0.03 * math.sin(step) for step in range(15)])
DROPPING = trajectory([0.97, 0.85, 0.72, 0.60, *[0.62 + 0.01 * math.sin(step) for step in range(11)]])
WATCHED = [
    TemperaturePoint(0.6, 0.58, FALLING),
    TemperaturePoint(1.2, 0.72, LEVEL),
    TemperaturePoint(1.8, 0.97, DROPPING),
]


@pytest.mark.parametrize(
    ("level", "expected"),
    [(0.45, 0.2), (0.58, 0.6), (0.581, 1.0), (0.65, 1.0), (0.7, 1.2), (0.9, 1.8), (0.0, 0.2)],
)
def test_at_step_0_the_smallest_temperature_that_reaches_the_level(level: float, expected: float) -> None:
    choice = choose_temperature(CURVE[::-1], TemperatureRule(level=level))
    assert choice.temperature == expected
    assert f"reaches the level {level:g}" in choice.reason
    refused = [one.point.temperature for one in choice.assessments if one.reason is not None]
    assert refused == [point.temperature for point in CURVE if point.temperature < expected]


def test_what_is_refused_below_the_choice_is_in_the_reason() -> None:
    reason = choose_temperature(CURVE, TemperatureRule(level=0.6)).reason
    assert "not T=0.6: its diversity at step 0, 0.580, is below the level 0.6" in reason
    assert "not T=0: nothing is sampled at temperature 0" in reason


def test_no_temperature_where_none_reaches_the_level() -> None:
    choice = choose_temperature(CURVE, TemperatureRule(level=0.99))
    assert choice.temperature is None
    assert "no temperature fits" in choice.reason
    assert "T=1.8: its diversity at step 0, 0.970, is below" in choice.reason


def test_diversity_of_completions_that_make_no_sense_does_not_count() -> None:
    rule = TemperatureRule(level=0.9, max_accuracy_loss=0.1)
    choice = choose_temperature(CURVE, rule)
    assert choice.temperature is None
    assert "its accuracy is 0.270 below the best" in choice.reason
    assert choose_temperature(CURVE, replace(rule, level=0.7)).temperature == 1.2


@pytest.mark.parametrize("level", [None, 0.5])
def test_over_steps_the_one_that_neither_keeps_falling_nor_swings(level: float | None) -> None:
    choice = choose_temperature(WATCHED, TemperatureRule(level=level))
    assert choice.temperature == 1.2
    reasons = {one.point.temperature: one.reason or "" for one in choice.assessments}
    assert "keeps falling" in reasons[0.6]
    assert "swings by 0.37" in reasons[1.8]


def test_a_fall_that_ends_is_no_lasting_fall() -> None:
    settles = trajectory([0.66, 0.64, 0.62, 0.60, 0.60, 0.60, 0.60, 0.60, 0.60])
    choice = choose_temperature([TemperaturePoint(1.0, 0.66, settles)], TemperatureRule(level=None))
    assert choice.temperature == 1.0


def test_a_temperature_that_nobody_watched_is_no_candidate_among_watched_ones() -> None:
    points = [TemperaturePoint(1.0, 0.7), *WATCHED]
    choice = choose_temperature(points)
    assert choice.temperature == 1.2
    assert "it was not watched" in choice.reason


@pytest.mark.parametrize(
    ("curve", "rule", "message"),
    [
        pytest.param([], None, "one at least", id="empty"),
        pytest.param([CURVE[1], CURVE[1]], None, "every temperature must be there once", id="twice"),
        pytest.param([TemperaturePoint(-1, 0.5)], None, "must not be negative, and is -1", id="negative"),
        pytest.param([TemperaturePoint(1, 1.5)], None, "must be in \\[0, 1\\] at T=1", id="above 1"),
        pytest.param([TemperaturePoint(1, math.nan)], None, "must be in \\[0, 1\\]", id="NaN"),
        pytest.param([TemperaturePoint(1, 0.5, accuracy=2)], None, "accuracy must be in", id="accuracy"),
        pytest.param(
            [TemperaturePoint(1, 0.5, trajectory([0.5, 0.4]))], None, "three points", id="too short"
        ),
        pytest.param(
            [TemperaturePoint(1, 0.5, ((0, 0.5), (9, 0.5), (9, 0.5)))], None, "rising steps", id="same step"
        ),
        pytest.param(CURVE, TemperatureRule(level=None), "without a level", id="nothing to go by"),
        pytest.param(CURVE, TemperatureRule(level=2), "rule: level must be in", id="level"),
        pytest.param(CURVE, TemperatureRule(max_swing=-1), "rule: max_swing must be in", id="swing"),
    ],
)
def test_bad_input_is_refused(
    curve: list[TemperaturePoint], rule: TemperatureRule | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        choose_temperature(curve, rule)


@pytest.mark.parametrize("points", [CURVE, WATCHED], ids=["step 0", "over steps"])
@pytest.mark.parametrize("level", [0.6, 0.99])
def test_the_curve_is_drawn_with_what_was_chosen(
    points: list[TemperaturePoint], level: float, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="plots need it")
    path = tmp_path / "temperatures.svg"
    choice = choose_temperature(points, TemperatureRule(level=level))
    plot_temperatures(choice, path)
    drawn = path.read_text(encoding="utf-8")
    assert f"level {level:g}" in drawn
    assert ("chosen" in drawn) == (choice.temperature is not None)
