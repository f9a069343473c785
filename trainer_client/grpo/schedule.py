"""Stages of a run: temperature and maximum length by step, with one jump of the temperature at most."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainer_client.grpo.insights import Insight

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Stage:
    """What holds from a step on."""

    step: int
    """First step of the stage."""
    temperature: float
    max_completion_length: int | None = None
    """In tokens; None: the trainer's own setting."""


class StagedSchedule:
    """Stages in the order of their steps; a function of the step alone, so that a resumed run is in its stage.

    The published schedule is low first, then high, in one jump (0.6 for 140 steps, then 1.2 or 1.8). Several changes
    of the temperature, or a fall, are refused. The maximum length may grow in as many stages as wanted.
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        """Check and keep ``stages``.

        Raises:
            ValueError: there is none, the first does not begin at step 0, steps do not rise, a value is out of
                range, the temperature falls or changes more than once, or the maximum length shrinks.

        """
        if not stages or stages[0].step != 0:
            raise ValueError("stages: the first stage must begin at step 0")
        for stage in stages:
            if not (math.isfinite(stage.temperature) and stage.temperature > 0):
                raise ValueError(f"stages: temperature must be above 0, not {stage.temperature}")
            if stage.max_completion_length is not None and stage.max_completion_length < 1:
                raise ValueError(
                    f"stages: max_completion_length must be at least 1, not {stage.max_completion_length}"
                )
        self.stages = tuple(stages)
        for before, after in zip(self.stages, self.stages[1:], strict=False):
            _check_pair(before, after)
        temperatures = [stage.temperature for stage in self.stages]
        changes = sum(a != b for a, b in itertools.pairwise(temperatures))
        if changes > 1:
            raise ValueError(
                f"stages: the temperature changes {changes} times ({', '.join(map(str, temperatures))}), "
                f"which is a ramp: {Insight.RAMP}. Make it one jump."
            )

    def at(self, step: int) -> Stage:
        """Return the stage that step ``step`` (from 0) belongs to.

        Raises:
            ValueError: ``step`` is negative.

        """
        if step < 0:
            raise ValueError(f"step must not be negative, and is {step}")
        return next(stage for stage in reversed(self.stages) if stage.step <= step)


def _check_pair(before: Stage, after: Stage) -> None:
    if after.step <= before.step:
        raise ValueError(f"stages: steps must rise, and {after.step} follows {before.step}")
    if after.temperature < before.temperature:
        raise ValueError(
            f"stages: the temperature falls from {before.temperature} to {after.temperature} at step "
            f"{after.step}: {Insight.LOW_THEN_HIGH}."
        )
    lengths = (before.max_completion_length, after.max_completion_length)
    if (lengths[0] is None) != (lengths[1] is None):
        raise ValueError("stages: max_completion_length must be given in all stages or in none")
    if lengths[0] is not None and lengths[1] is not None and lengths[1] < lengths[0]:
        raise ValueError(
            f"stages: max_completion_length shrinks from {lengths[0]} to {lengths[1]} at step {after.step}: "
            f"{Insight.LONG_CONTEXT}."
        )
