"""Rows that verl trains on: tests of any make in ``reward_model.ground_truth``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets import verl
from trainer_client.datasets.telling import problem_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.datasets.apps import Wrapping
    from service.wire import Problem


def problem_of(
    row: Mapping[str, Any], *, cpu_time_s: float | None = None, wrapping: Wrapping = "auto"
) -> Problem:
    """Return the problem of a row; ``wrapping`` is that of :mod:`trainer_client.datasets.apps`.

    Raises:
        ProblemError: a field is missing or cannot be decoded.

    """
    with problem_errors():
        return verl.problem_of(row, cpu_time_s=cpu_time_s, wrapping=wrapping)
