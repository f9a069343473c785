"""Faults of rows as errors of the client."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from service.datasets.values import RowError
from trainer_client.errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def problem_errors() -> Iterator[None]:
    """Raise ProblemError where a reader raises RowError."""
    try:
        yield
    except RowError as error:
        raise ProblemError(str(error)) from error
