"""APPS and its descendants (TACO, PRIME's Eurus rows): see :mod:`service.datasets.apps` for their traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets import apps
from trainer_client.datasets.telling import problem_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem


def problem_of(
    row: Mapping[str, Any], *, cpu_time_s: float | None = None, wrapping: apps.Wrapping = "auto"
) -> Problem:
    """Return the problem of a row: ``input_output``, ``tests``, ``ground_truth`` or ``reward_model.ground_truth``.

    ``wrapping`` says whether expected results of calls are lists of one; ``auto`` looks at the suite.

    Raises:
        ProblemError: a field is missing or cannot be decoded, or inputs and outputs differ in number.

    """
    with problem_errors():
        return apps.problem_of(row, cpu_time_s=cpu_time_s, wrapping=wrapping)


def problem_of_suite(
    suite: Mapping[str, Any], *, cpu_time_s: float | None = None, wrapping: apps.Wrapping = "auto"
) -> Problem:
    """Return the problem of ``{"inputs": [...], "outputs": [...], "fn_name": ...}``; raises as :func:`problem_of`."""
    with problem_errors():
        return apps.problem_of_suite(suite, cpu_time_s=cpu_time_s, wrapping=wrapping)
