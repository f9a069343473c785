"""How long judging one submission can take at most, when the judge itself is not stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.checker import LIMITS as CHECKER_LIMITS
from service.languages import PYTHON
from service.limits import effective

if TYPE_CHECKING:
    from service.wire import Limits, Problem

MARGIN_S = 30.0
# A failure in a shared process is confirmed in a fresh one, a doubtful time limit once more, and where a program was
# found to carry state from test to test, all of it is done again (service/runs.py).
RUNS_PER_TEST = 5
# Starting a jail and comparing outputs, on a machine that is busy.
OVERHEAD_PER_RUN_S = 2.0
# More than any compiler's own wall limit (sandbox/languages).
COMPILING_S = 240.0


def deadline_s(problem: Problem, defaults: Limits, language: str = PYTHON) -> float:
    """Return the sum of all tests' wall limits, every run and the checker's counted, and a margin."""
    usual_wall_s = effective(defaults, problem.limits).wall_time_s
    total_s = MARGIN_S + compiling_s(language)
    for test in problem.tests:
        wall_s = usual_wall_s
        if test.limits is not None:
            wall_s = effective(defaults, problem.limits, test.limits).wall_time_s
        total_s += RUNS_PER_TEST * (wall_s + OVERHEAD_PER_RUN_S)
        if problem.comparison.checker is not None:
            total_s += CHECKER_LIMITS.wall_time_s + OVERHEAD_PER_RUN_S
    return total_s


def compiling_s(language: str) -> float:
    """Return how long a program's compiler can take at most."""
    return 0.0 if language == PYTHON else COMPILING_S
