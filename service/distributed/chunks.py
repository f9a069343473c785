"""Chunks: the few submissions that make one RQ job.

A job costs RQ about 2 ms, so that many submissions should share one; a chunk is judged by one worker, so that a
batch must be in several to be judged by all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from service.intake import Item

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_SUBMISSIONS = 16
MAX_BYTES = 1 << 20
# Of a worker's share, so that the last one to finish is not far behind.
PARTS = 4


class Group(BaseModel):
    """Equal submissions: the first is judged, and answers for the others where its judgement is certain."""

    # What cannot be read is a program's at worst, and goes into logs.
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    fingerprint: str
    items: list[Item]


class Chunk(BaseModel):
    """What a worker judges in one RQ job; certain judgements answer for equal submissions for ``reuse_s``."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    batch: str
    request_id: str
    reuse_s: float
    groups: list[Group]

    @property
    def items(self) -> list[Item]:
        """Return all submissions."""
        return [item for group in self.groups for item in group.items]


def chunk_size(submissions: int, workers: int) -> int:
    """Return how many submissions of a batch go into a chunk while ``workers`` are there to judge them."""
    return max(1, min(MAX_SUBMISSIONS, submissions // (PARTS * max(1, workers))))


def split(groups: Iterable[Group], size: int) -> Iterator[list[Group]]:
    """Yield the groups in chunks of about ``size`` submissions of one priority, none of them taken apart."""
    waiting: dict[str, list[Group]] = {}
    for group in groups:
        chunk = waiting.setdefault(group.items[0].priority, [])
        chunk.append(group)
        if _count(chunk) >= size or _bytes(chunk) >= MAX_BYTES:
            yield waiting.pop(group.items[0].priority)
    yield from waiting.values()


def longest_run_s(groups: Iterable[Group]) -> float:
    """Return how long the judging of any chunk of them can take, every submission's second try included."""
    runs = list(groups)
    if not runs:
        return 0.0
    most = max(MAX_SUBMISSIONS + len(group.items) for group in runs)
    return 2 * most * max(item.deadline_s for group in runs for item in group.items)


def _count(groups: list[Group]) -> int:
    return sum(len(group.items) for group in groups)


def _bytes(groups: list[Group]) -> int:
    return sum(len(item.submission) for group in groups for item in group.items)
