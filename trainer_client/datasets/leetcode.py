"""LeetCodeDataset: see :mod:`service.datasets.leetcode` for its traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets import leetcode
from trainer_client.datasets.telling import problem_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem


def problem_of(row: Mapping[str, Any], *, cpu_time_s: float | None = None) -> Problem:
    """Return the problem of a row: its ``input_output`` pairs against the method of ``starter_code``.

    Raises:
        ProblemError: a field is missing, or is not what the set has there.

    """
    with problem_errors():
        return leetcode.problem_of(row, cpu_time_s=cpu_time_s)
