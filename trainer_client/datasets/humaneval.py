"""HumanEval and MBPP: see :mod:`service.datasets.humaneval` for their traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets import humaneval
from trainer_client.datasets.telling import problem_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem


def problem_of(row: Mapping[str, Any], *, cpu_time_s: float | None = None) -> Problem:
    """Return the problem of a row of either.

    Raises:
        ProblemError: a field is missing or of the wrong shape.

    """
    with problem_errors():
        return humaneval.problem_of(row, cpu_time_s=cpu_time_s)
