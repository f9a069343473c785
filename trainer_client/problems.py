"""Problems as columns of data sets carry them.

The column type that survives Arrow, Ray and JSON Lines is text: Arrow unites the fields of all rows' objects and
has one type per column, which tests with arguments of several types do not have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from service.wire import Problem
from trainer_client.encoding import to_json
from trainer_client.errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Sequence

type ProblemLike = Problem | Mapping[str, Any] | str

_ADAPTER: TypeAdapter[Problem] = TypeAdapter(Problem)
MAX_FAULTS = 5


def problem_text(problem: Problem) -> str:
    """Return ``problem`` as the text to keep in a data set's column."""
    return to_json(problem)


def parse_problem(value: ProblemLike) -> Problem:
    """Return the problem that ``value`` is: the contract's type, its object, or that as JSON text.

    Raises:
        ProblemError: it is none of them; every invalid field is named.

    """
    if isinstance(value, BaseModel):
        return value
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ProblemError(f"problem: not JSON: {error}") from error
    try:
        return _ADAPTER.validate_python(value)
    except ValidationError as error:
        raise ProblemError(f"problem: {_worded(error)}") from error


def parse_problems(values: Sequence[ProblemLike]) -> list[Problem]:
    """Return the problems of a batch, each text parsed once: a group of rollouts repeats it.

    Raises:
        ProblemError: one of them is none; the message has its position.

    """
    known: dict[str, Problem] = {}
    parsed = []
    for index, value in enumerate(values):
        try:
            if isinstance(value, str):
                if value not in known:
                    known[value] = parse_problem(value)
                parsed.append(known[value])
            else:
                parsed.append(parse_problem(value))
        except ProblemError as error:
            raise ProblemError(f"problems.{index}: {error}") from error
    return parsed


def _worded(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    listed = [
        f"{'.'.join(map(str, fault['loc'])) or 'value'}: {fault['msg']}" for fault in faults[:MAX_FAULTS]
    ]
    more = [f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
    return "; ".join(listed + more)
