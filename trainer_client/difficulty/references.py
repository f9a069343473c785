"""Problems with everything that measuring needs: a score, tests, and completions of the reference model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainer_client.difficulty.documents import LeftOut
from trainer_client.difficulty.errors import InputError
from trainer_client.difficulty.formats import problem_of
from trainer_client.difficulty.rows import identity_of, read_rows, statement_of
from trainer_client.encoding import to_json
from trainer_client.errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from service.wire import Problem
    from trainer_client.difficulty.prediction import Predicted, Prediction
    from trainer_client.difficulty.rows import Row


@dataclass(frozen=True, slots=True)
class Reference:
    """A problem with the completions to be judged; ``tests`` is a digest that tells its tests from any other."""

    name: str
    problem: Problem
    tests: str
    completions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Fields:
    """Which fields of a row hold what; None: found out."""

    identity: str | None = None
    statement: str | None = None


def scored_rows(
    path: Path, fields: Fields, prediction: Prediction
) -> Iterator[tuple[str, Row, Predicted | LeftOut]]:
    """Give each row with its name, and its problem's score or why it has none.

    Raises:
        InputError: the file cannot be used, names a problem twice, or has another statement than was rated.

    """
    scored = {one.problem: one for one in prediction.problems}
    unscored = {one.problem: one for one in prediction.unscored}
    seen: set[str] = set()
    for row in read_rows(path):
        name = identity_of(row, fields.identity)
        if name in seen:
            raise InputError(f"{row.where}: id: {name!r} is there twice")
        seen.add(name)
        found = scored.get(name)
        if found is None:
            yield name, row, unscored.get(name) or LeftOut(problem=name, reason="never rated")
        elif found.statement != statement_of(row, name, fields.statement).digest:
            raise InputError(
                f"{row.where}: problem {name!r} has another statement than the one that was rated"
            )
        else:
            yield name, row, found


def references(
    path: Path,
    fields: Fields,
    form: str,
    prediction: Prediction,
    completions: Mapping[str, Sequence[str]],
    least: int,
) -> tuple[list[Reference], list[LeftOut]]:
    """Return the problems that can be measured, and those that have completions or a score and cannot.

    Raises:
        InputError: as :func:`scored_rows` does.

    """
    found: list[Reference] = []
    left_out: list[LeftOut] = []
    unseen = dict(completions)
    for name, row, score in scored_rows(path, fields, prediction):
        texts = unseen.pop(name, ())
        if isinstance(score, LeftOut):
            left_out.append(LeftOut(problem=name, reason=f"no score: {score.reason}"))
        elif len(texts) < least:
            left_out.append(
                LeftOut(problem=name, reason=f"{len(texts)} completions, at least {least} needed")
            )
        else:
            try:
                problem = problem_of(row.fields, form)
                digest = hashlib.sha256(to_json(problem).encode()).hexdigest()[:16]
            except ProblemError as error:
                left_out.append(LeftOut(problem=name, reason=f"its tests cannot be used: {error}"))
            else:
                found.append(Reference(name, problem, digest, texts))
    left_out += [LeftOut(problem=name, reason=f"not in {path.name}") for name in unseen]
    return found, left_out
