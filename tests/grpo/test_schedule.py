"""Stages: one jump upward, and refusals that say why."""

from __future__ import annotations

import re

import pytest

from trainer_client.grpo.insights import Insight
from trainer_client.grpo.schedule import Stage, StagedSchedule

PUBLISHED = [Stage(0, 0.6, 4096), Stage(140, 1.2, 8192)]


def test_a_stage_holds_from_its_step_to_the_next() -> None:
    schedule = StagedSchedule(PUBLISHED)
    assert [schedule.at(step).temperature for step in (0, 1, 139, 140, 141, 10_000)] == [
        0.6, 0.6, 0.6, 1.2, 1.2, 1.2,
    ]  # fmt: skip
    assert schedule.at(139).max_completion_length == 4096
    assert schedule.at(140) == PUBLISHED[1]


def test_the_stage_depends_on_the_step_alone() -> None:
    """A run that is resumed at any step goes on as one that was never interrupted."""
    uninterrupted = StagedSchedule(PUBLISHED)
    whole = [uninterrupted.at(step) for step in range(200)]
    for stop in (0, 100, 140, 199):
        resumed = StagedSchedule(PUBLISHED)
        assert [resumed.at(step) for step in range(stop, 200)] == whole[stop:]


@pytest.mark.parametrize(
    "stages",
    [
        pytest.param([Stage(0, 1.2)], id="one"),
        pytest.param([Stage(0, 0.6), Stage(140, 1.8)], id="low then high"),
        pytest.param(
            [Stage(0, 1.0, 4096), Stage(10, 1.0, 6144), Stage(20, 1.0, 8192)], id="longer and longer"
        ),
        pytest.param([Stage(0, 0.6, 4096), Stage(9, 0.6, 8192), Stage(20, 1.2, 8192)], id="each by itself"),
    ],
)
def test_published_shapes_are_taken(stages: list[Stage]) -> None:
    assert StagedSchedule(stages).at(1_000) == stages[-1]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        pytest.param([], "must begin at step 0", id="none"),
        pytest.param([Stage(1, 1.0)], "must begin at step 0", id="late"),
        pytest.param([Stage(0, 0.0)], "temperature must be above 0, not 0.0", id="greedy"),
        pytest.param([Stage(0, float("nan"))], "temperature must be above 0", id="NaN"),
        pytest.param([Stage(0, float("inf"))], "temperature must be above 0", id="infinite"),
        pytest.param([Stage(0, 1.0, 0)], "max_completion_length must be at least 1", id="no length"),
        pytest.param([Stage(0, 0.6), Stage(0, 1.2)], "steps must rise, and 0 follows 0", id="same step"),
        pytest.param([Stage(0, 1.2), Stage(9, 0.6)], str(Insight.LOW_THEN_HIGH), id="downward"),
        pytest.param([Stage(0, 1.0, 8192), Stage(9, 1.0, 4096)], str(Insight.LONG_CONTEXT), id="shorter"),
        pytest.param([Stage(0, 1.0), Stage(9, 1.0, 4096)], "in all stages or in none", id="half given"),
    ],
)
def test_other_shapes_are_refused_with_the_reason(stages: list[Stage], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        StagedSchedule(stages)


@pytest.mark.parametrize("steps", [2, 10])
def test_a_ramp_is_refused_even_a_short_one(steps: int) -> None:
    ramp = [Stage(step, 0.6 + 0.6 * step / steps) for step in range(steps + 1)]
    with pytest.raises(ValueError, match=f"the temperature changes {steps} times") as refused:
        StagedSchedule(ramp)
    assert str(Insight.RAMP) in str(refused.value)


def test_there_is_no_stage_before_the_first_step() -> None:
    with pytest.raises(ValueError, match="step must not be negative"):
        StagedSchedule(PUBLISHED).at(-1)
