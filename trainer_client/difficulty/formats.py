"""Tests out of a row: the project's own form, or that of a public data set, told by fields that only it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets.forms import READERS, form_of
from trainer_client.datasets.telling import problem_errors
from trainer_client.difficulty.rows import holds_tests
from trainer_client.errors import ProblemError
from trainer_client.problems import parse_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem

AUTO = "auto"
CONTRACT = "problem"
FORMS = (CONTRACT, *READERS)


def problem_of(row: Mapping[str, Any], form: str = AUTO) -> Problem:
    """Return the problem of a row in the form named, one of :data:`FORMS`, or found out.

    Raises:
        ProblemError: the row is in no known form, or cannot be read in the one it is in.

    """
    if form == AUTO:
        form = CONTRACT if holds_tests(row.get(CONTRACT)) else form_of(row) or AUTO
    if form == CONTRACT:
        return _contract_problem(row)
    if form == AUTO:
        raise ProblemError("no field with tests that is known")
    with problem_errors():
        return READERS[form](row)


def _contract_problem(row: Mapping[str, Any]) -> Problem:
    """Return the problem in the column ``problem``: an object of the contract, or that as JSON text."""
    value = row.get(CONTRACT)
    if not isinstance(value, str | dict):
        raise ProblemError(f"{CONTRACT}: missing")
    return parse_problem(value)
