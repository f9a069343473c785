"""DeepCoder, SYNTHETIC-1, open-r1's verifiable problems: see :mod:`service.datasets.test_lists` for their traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets import test_lists
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
        ProblemError: a field is missing or cannot be decoded, tests are of different kinds or for another language.

    """
    with problem_errors():
        return test_lists.problem_of(row, cpu_time_s=cpu_time_s, wrapping=wrapping)
