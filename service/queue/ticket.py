"""A request's place in the queue: its judgements come out of here as they are ready."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.queue.tasks import internal_error
from service.queue.worker_process import task_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from service.errors import NotReadyError
    from service.intake import Intake, Item


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement as JSON, and its place in the request."""

    index: int
    judgement: bytes


class Ticket:
    """The unfinished submissions of one request.

    Iterate it once. Cancel it when nobody listens any longer: what waits is dropped, what runs is ended.
    """

    def __init__(self, intake: Intake, request_id: str, on_cancel: Callable[[Ticket], None]) -> None:
        self.request_id = request_id
        # Whether a worker has taken up one of its submissions.
        self.begun = False
        self.problems = intake.problems
        self._on_cancel = on_cancel
        self._unfinished: dict[int, Item] = {item.index: item for item in intake.items}
        self._unread = len(intake.items)
        self._ready: asyncio.Queue[Judged | NotReadyError] = asyncio.Queue()

    @property
    def open(self) -> bool:
        """Return whether somebody still waits for something."""
        return bool(self._unfinished)

    async def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement as it is ready.

        Raises:
            NotReadyError: the rest will not be judged.

        """
        while self._unread:
            judged = await self._ready.get()
            if isinstance(judged, Exception):
                raise judged
            self._unread -= 1
            yield judged

    def finish(self, item: Item, judgement: bytes) -> None:
        """Hand out a judgement, where it is still wanted."""
        if self._unfinished.pop(item.index, None) is not None:
            self._ready.put_nowait(Judged(item.index, judgement))

    def fail(self, error: NotReadyError) -> None:
        """Tell the listener that the rest will not be judged."""
        self._ready.put_nowait(error)

    def cancel(self) -> None:
        """Drop what waits. Harmless when everything is finished."""
        if self._unfinished:
            self._unfinished.clear()
            self._on_cancel(self)

    def give_up(self, message: str) -> list[Judged]:
        """Cancel the rest; return an IE for each, for an answer that has begun already."""
        failures = [
            Judged(item.index, failure(item, self.request_id, message)) for item in self._unfinished.values()
        ]
        self.cancel()
        return failures


def failure(item: Item, request_id: str, message: str, duration_s: float = 0.0) -> bytes:
    """Return the judgement that says that we failed, as JSON."""
    judgement = internal_error(
        task_of(item, request_id), item.id, message, worker=None, duration_s=duration_s
    )
    return judgement.model_dump_json().encode()
