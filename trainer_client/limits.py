"""How long judging may take, from the limits that travel with a problem.

The service stops a test at its wall time, so that a submission that it holds longer than the sum over its tests
is lost. Its own defaults may be lower than those of the contract, never higher than a caller has to expect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.wire import DEFAULT_CPU_TIME_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from service.wire import Limits, Problem

# Start of a jail, compilation, extraction, and the way there and back.
MARGIN_S = 30.0


def suite_wall_time_s(problem: Problem) -> float:
    """Return the most seconds that the tests of ``problem`` may run, one after the other."""
    return sum(_wall_time_s(problem.limits, test.limits) for test in problem.tests)


def _wall_time_s(*levels: Limits | None) -> float:
    cpu_time_s, wall_time_s = DEFAULT_CPU_TIME_S, None
    for limits in levels:
        if limits is not None:
            cpu_time_s = limits.cpu_time_s or cpu_time_s
            wall_time_s = limits.wall_time_s or wall_time_s
    return wall_time_s or 2 * cpu_time_s + 2


def batch_deadline_s(problems: Iterable[Problem | None], queue_wait_s: float, max_deadline_s: float) -> float:
    """Return the seconds after which a batch is given up.

    That is the wait for its turn, its longest suite and a margin, at most ``max_deadline_s``. None among the
    problems stands for one whose tests only the service knows: its deadline is the maximum.
    """
    longest_s = 0.0
    for problem in problems:
        if problem is None:
            return max_deadline_s
        longest_s = max(longest_s, suite_wall_time_s(problem))
    return min(queue_wait_s + longest_s + MARGIN_S, max_deadline_s)
