"""CodeContests: see :mod:`service.datasets.codecontests` for its traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets import codecontests
from trainer_client.datasets.telling import problem_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem


def problem_of(
    row: Mapping[str, Any],
    *,
    time_factor: float = codecontests.TIME_FACTOR,
    suites: tuple[str, ...] = codecontests.SUITES,
) -> Problem:
    """Return the problem of a row: its CPU time is ``time_factor`` times the contest's.

    Raises:
        ProblemError: a suite is broken, or there are no tests at all.

    """
    with problem_errors():
        return codecontests.problem_of(row, time_factor=time_factor, suites=suites)
