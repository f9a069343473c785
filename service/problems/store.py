"""The contract of a problem store, and the one in this process's memory.

A problem is stored under an id of the caller's choice, or under ``sha256:`` and the digest of its canonical
JSON. Contents never change under an id: whoever has put a problem may rely on it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from service.errors import InvalidFieldsError, ProblemConflictError
from service.intake import Known
from service.kept import Kept
from service.wire import ErrorDetail, StoredProblem, digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.intake import Intake
    from service.processes.frames import Blob

Mode = Literal["stdio", "call", "assert"]

MAX_ID_CHARS = 256
CONTENT_ADDRESS = "sha256:"


@dataclass(frozen=True, slots=True)
class Content:
    """A validated problem: its canonical JSON and what submissions need to know of it."""

    key: str
    digest: str
    mode: Mode
    prelude: bool
    tests: int
    deadline_s: float
    canonical: Blob

    @classmethod
    def of(cls, intake: Intake) -> Content:
        """Return the problem that a body of shape ``problem`` held."""
        (item,) = intake.items
        return cls(
            key=item.problem,
            digest=item.id,
            **json.loads(item.submission),
            tests=item.tests,
            deadline_s=item.deadline_s,
            canonical=intake.problems[item.problem],
        )

    def known(self, *, with_content: bool) -> Known:
        """Return what submissions need of it."""
        content = self.canonical if with_content else None
        return Known(self.key, self.mode, self.prelude, self.tests, self.deadline_s, content)

    def receipt(self, problem_id: str, ttl_s: float) -> StoredProblem:
        """Return what a caller is told of it."""
        return StoredProblem(
            problem_id=problem_id,
            digest=self.digest,
            mode=self.mode,
            tests=self.tests,
            size_bytes=len(self.canonical),
            expires_in_s=ttl_s,
        )


class ProblemStore(Protocol):
    """Where problems are kept until nobody has used them for ``ttl_s``."""

    ttl_s: float

    async def put(self, problem_id: str, content: Content) -> bool:
        """Store a problem; return whether it is new.

        Raises:
            ProblemConflictError: another content has the id.
            NotReadyError: the store cannot be reached or is full.

        """
        ...

    async def get(self, problem_id: str) -> Content | None:
        """Return the problem, which is thereby used."""
        ...

    async def delete(self, problem_id: str) -> bool:
        """Drop the problem; return whether there was one."""
        ...

    async def known(self, problem_ids: Sequence[str]) -> dict[str, Known]:
        """Return those of the problems that are stored, which are thereby used."""
        ...


def check_id(problem_id: str, content: Content) -> None:
    """Check that a problem may have an id; of a large one that takes a while.

    Raises:
        InvalidFieldsError: the id is too long, or is the digest of something else.

    """
    complaint = None
    if len(problem_id) > MAX_ID_CHARS:
        complaint = f"has {len(problem_id)} characters; at most {MAX_ID_CHARS} are allowed"
    elif problem_id.startswith(CONTENT_ADDRESS) and not _addresses(problem_id, content):
        complaint = f"is not the digest of this problem's canonical JSON, which is {content.digest}"
    if complaint is not None:
        raise InvalidFieldsError([ErrorDetail(field="problem_id", message=complaint)], 1)


def _addresses(problem_id: str, content: Content) -> bool:
    if problem_id == content.digest:
        return True
    # With keys sorted everywhere, as libraries for canonical JSON sort them.
    text = json.dumps(
        json.loads(bytes(content.canonical)), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return problem_id == digest_of(text.encode())


class MemoryProblems:
    """Problems in this process."""

    def __init__(self, max_bytes: int, ttl_s: float) -> None:
        self.ttl_s = ttl_s
        self._kept: Kept[Content] = Kept(max_bytes, ttl_s)

    async def put(self, problem_id: str, content: Content) -> bool:
        """Store a problem; the longest unused go where there is no room."""
        there = self._kept.get(problem_id)
        if there is not None and there.digest != content.digest:
            raise ProblemConflictError(problem_id)
        if there is None:
            self._kept.put(problem_id, content, len(content.canonical))
        return there is None

    async def get(self, problem_id: str) -> Content | None:
        """Return the problem."""
        return self._kept.get(problem_id)

    async def delete(self, problem_id: str) -> bool:
        """Drop the problem."""
        return self._kept.pop(problem_id) is not None

    async def known(self, problem_ids: Sequence[str]) -> dict[str, Known]:
        """Return those of the problems that are stored, with their contents."""
        found = {name: self._kept.get(name) for name in problem_ids}
        return {name: one.known(with_content=True) for name, one in found.items() if one is not None}
