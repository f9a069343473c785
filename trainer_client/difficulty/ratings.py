"""The ratings of a run as lines of its journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trainer_client.difficulty.errors import InputError
from trainer_client.difficulty.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from trainer_client.difficulty.judge_settings import JudgeSettings
    from trainer_client.difficulty.rows import Statement

SCHEMA_VERSION = 1


class Rating(BaseModel):
    """One line: a rating, or why there is none, in which case ``scores`` is null and it is tried again next time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["rating"] = "rating"
    problem: str
    statement: str
    """The digest of the text that was rated."""
    index: int = Field(ge=0)
    scores: dict[str, int] | None
    reason: str = ""
    usage: Usage


def header(settings: JudgeSettings) -> dict[str, Any]:
    """Return the first line of the journal of a run with ``settings``."""
    return {"kind": "ratings", "schema_version": SCHEMA_VERSION, **settings.model_dump(mode="json")}


class Ratings:
    """What is known of each problem so far."""

    def __init__(self, entries: Iterable[dict[str, Any]], path: Path) -> None:
        """Take over what a journal holds.

        Raises:
            InputError: a line is none of this version.

        """
        self._path = path
        self._scores: dict[str, dict[int, dict[str, int]]] = {}
        self._digests: dict[str, str] = {}
        self._reasons: dict[str, str] = {}
        self.usage = Usage()
        for number, entry in enumerate(entries, start=2):
            try:
                self.add(Rating.model_validate(entry))
            except ValidationError as error:
                raise InputError(f"{path}: line {number}: no rating: {error.errors()[0]['msg']}") from error

    def add(self, rating: Rating) -> None:
        """Note a rating, or its failure."""
        self.usage += rating.usage
        self._digests[rating.problem] = rating.statement
        if rating.scores is None:
            self._reasons[rating.problem] = rating.reason
        else:
            self._scores.setdefault(rating.problem, {})[rating.index] = rating.scores

    def missing(self, statement: Statement, wanted: int) -> list[int]:
        """Return the numbers of the ratings that a problem has not got.

        Raises:
            InputError: what was rated under this name is another text.

        """
        known = self._digests.get(statement.problem)
        if known is not None and known != statement.digest:
            raise InputError(
                f"problem {statement.problem!r}: its statement is not the one that {self._path} has ratings of; "
                "use another folder, or give the problem another name"
            )
        have = self._scores.get(statement.problem, {})
        return [index for index in range(wanted) if index not in have]

    def scores(self, problem: str) -> list[dict[str, int]]:
        """Return the scores by dimension of each rating, in order."""
        return [scores for _, scores in sorted(self._scores.get(problem, {}).items())]

    def reason(self, problem: str) -> str:
        """Return what was last in the way of a rating."""
        return self._reasons.get(problem, "not asked")
