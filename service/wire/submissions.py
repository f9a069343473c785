"""What a trainer sends."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from service.wire.base import WireModel
from service.wire.problems import Problem

Detail = Literal["none", "summary", "full"]
Priority = Literal["high", "normal", "low"]
Isolation = Literal["reuse", "strict"]


class Options(WireModel):
    """How a submission is judged; none of these changes what is right."""

    stop_on_failure: bool = True
    detail: Detail = "summary"
    priority: Priority = "normal"
    isolation: Isolation = "reuse"


class Submission(WireModel):
    """One program (``code``) or one model completion to judge against one problem."""

    id: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    code: str | None = None
    completion: str | None = None
    language: str = "python"
    problem: Problem | None = None
    problem_id: str | None = None
    options: Options | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.code is None) == (self.completion is None):
            raise ValueError("give exactly one of `code` and `completion`")
        if (self.problem is None) == (self.problem_id is None):
            raise ValueError("give exactly one of `problem` and `problem_id`")
        return self


class Batch(WireModel):
    """Many submissions; ``options`` are the default for those that carry none."""

    submissions: Annotated[list[Submission], Field(min_length=1)]
    options: Options | None = None

    @model_validator(mode="after")
    def _distinct_ids(self) -> Self:
        seen: set[str] = set()
        for index, submission in enumerate(self.submissions):
            if submission.id is not None:
                if submission.id in seen:
                    raise ValueError(f"submissions.{index}.id: {submission.id!r} is used twice in this batch")
                seen.add(submission.id)
        return self
