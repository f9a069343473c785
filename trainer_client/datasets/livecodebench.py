"""LiveCodeBench: see :mod:`service.datasets.livecodebench` for its traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets import livecodebench
from trainer_client.datasets.telling import problem_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem


def problem_of(
    row: Mapping[str, Any],
    *,
    cpu_time_s: float | None = None,
    prelude: str | None = livecodebench.PRELUDE,
) -> Problem:
    """Return the problem of a row, public tests first; ``prelude`` stands before programs that read their input.

    Raises:
        ProblemError: a field is missing or cannot be decoded, or tests of both kinds are mixed.

    """
    with problem_errors():
        return livecodebench.problem_of(row, cpu_time_s=cpu_time_s, prelude=prelude)
