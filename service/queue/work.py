"""Submissions with their problems as a request to a queue, for callers that have no body of the HTTP contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from service.deadline import deadline_s
from service.intake import Intake, Item
from service.wire import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from service.limits import Defaults
    from service.wire import Options, Problem, Submission


class Judgeable(Protocol):
    """A submission beside its problem; the problem may be shared by many."""

    @property
    def submission(self) -> Submission:
        """What is judged."""
        ...

    @property
    def problem(self) -> Problem:
        """What it is judged against."""
        ...


def intake_of[W: Judgeable](
    work: Iterable[W], defaults: Defaults, options: Callable[[W], Options], *, observe: bool = False
) -> Intake:
    """Return ``work`` as one request, each at the index of its place; none of it is answered from a cache.

    Problems are known by their contents, as several requests share a queue's workers.
    """
    keys: dict[int, str] = {}
    problems: dict[str, bytes] = {}
    items = []
    for index, one in enumerate(work):
        if id(one.problem) not in keys:
            content = one.problem.model_dump_json(exclude_unset=True).encode()
            keys[id(one.problem)] = digest_of(content)
            problems[digest_of(content)] = content
        key = keys[id(one.problem)]
        name = one.submission.id or f"{index}"
        submission = one.submission.model_copy(
            update={"id": name, "problem": None, "problem_id": key, "options": None}
        )
        items.append(
            Item(
                index=index,
                id=name,
                submission=submission.model_dump_json(exclude_none=True).encode(),
                problem=key,
                tests=len(one.problem.tests),
                deadline_s=deadline_s(one.problem, defaults, submission.language),
                options=options(one),
                observe=observe,
            )
        )
    return Intake(items, problems)
