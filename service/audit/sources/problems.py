"""Problems of rows, with the programs that the rows hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.audit.items import Truth
from service.audit.sources.rows import Row, SourceError
from service.datasets.values import RowError, validated
from service.wire import Problem


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a row, or of a file beside it; exactly one of ``code`` and ``completion``."""

    name: str
    code: str | None
    completion: str | None
    truth: Truth


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row's problem, by the name that other files know it by, and its programs; ``left`` says which are left out."""

    name: str
    problem: Problem
    programs: Sequence[Program] = ()
    left: str | None = None


def contract_problem(row: Row, data: Any) -> Problem:
    """Return the problem of a row in whose field ``problem`` it is as the contract has it. Raises SourceError."""
    try:
        return validated(data)
    except RowError as error:
        raise SourceError(f"{row.where}: {error}") from error
