"""Judgements of a batch as they are published, for whoever waits for them."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from service.distributed.batches import failure_of
from service.errors import NotReadyError, QueueFullError
from service.intake import Intake
from service.queue.ticket import Judged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from service.distributed.batches import Batches
    from service.distributed.listener import Listener
    from service.distributed.redis_queue import RedisQueue

# A message of Redis can be missed while a connection is renewed; then judgements are this late.
LOOK_ANYWAY_S = 2.0
MAX_RESUBMISSIONS = 3
RESUBMITTING_S = 60.0
RETRY_AFTER_S = 2.0


class BatchGoneError(Exception):
    """Nothing is known of a batch any longer: Redis has lost it, or it was dropped."""


async def published(
    batches: Batches, listener: Listener, batch_id: str, deadline_s: float, ended: Callable[[], bool]
) -> AsyncIterator[Judged]:
    """Yield the judgements of a batch from the first on, until the batch has no more to come.

    Raises:
        BatchGoneError: nothing is known of it.
        NotReadyError: it was cancelled, or its judgements have not come by ``deadline_s`` (monotonic).

    """
    read = 0
    with listener.awaited(batch_id) as changed:
        while not ended():
            changed.clear()
            rows: list[Judged] = []
            try:
                rows = await batches.read(batch_id, read)
                if not rows:
                    await _ensure_alive(batches, batch_id, read)
            except (RedisError, OSError):
                # Redis is away: its judgements wait with the workers.
                await asyncio.sleep(LOOK_ANYWAY_S / 4)
            for judged in rows:
                read += 1
                yield judged
            if time.monotonic() > deadline_s:
                raise NotReadyError("the judgements did not come in time", retry_after_s=RETRY_AFTER_S)
            if not rows and not ended():
                await _wait(changed)


async def _ensure_alive(batches: Batches, batch_id: str, read: int) -> None:
    snapshot = await batches.snapshot(batch_id)
    if snapshot is None or read > snapshot.total:
        raise BatchGoneError
    if snapshot.cancelled:
        raise NotReadyError("the job was cancelled", retry_after_s=RETRY_AFTER_S)


async def _wait(changed: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(LOOK_ANYWAY_S):
            await changed.wait()
    except TimeoutError:
        return


class RedisTicket:
    """The unfinished submissions of one request whose caller waits in this process.

    Where Redis has lost the batch, what has no judgement is submitted anew, as another batch: what it needs is still
    here. Under the old name, workers that still have parts of the lost one would answer for, and end, the new one's.
    """

    def __init__(self, queue: RedisQueue, batch_id: str, intake: Intake, request_id: str) -> None:
        self._queue = queue
        self._batch_id = batch_id
        self._request_id = request_id
        self._intake = intake
        self._unfinished = {item.index: item for item in intake.items}
        self._deadline_s = time.monotonic() + queue.longest_s(intake)
        self._failed: NotReadyError | None = None

    async def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement as it is ready.

        Raises:
            NotReadyError: the rest will not be judged.

        """
        for resubmissions in range(MAX_RESUBMISSIONS + 1):
            try:
                async for judged in self._published():
                    if self._unfinished.pop(judged.index, None) is not None:
                        yield judged
                break
            except BatchGoneError:
                if self._failed is not None:
                    break
                if resubmissions == MAX_RESUBMISSIONS:
                    raise NotReadyError("Redis lost the batch", retry_after_s=RETRY_AFTER_S) from None
                await self._resubmit()
        if self._failed is not None and self._unfinished:
            raise self._failed
        self.cancel()

    @property
    def batch_id(self) -> str:
        """Return the name of its batch; empty where nobody waits for it any longer."""
        return self._batch_id

    def fail(self, error: NotReadyError) -> None:
        """Tell the listener that the rest will not be judged."""
        self._failed = error
        self._queue.listener.wake(self._batch_id)

    def cancel(self) -> None:
        """End what runs and drop what waits. Harmless when everything is finished."""
        if self._batch_id:
            self._queue.soon(self._queue.give_up(self._batch_id, drop=True))
            self._queue.waiting.leave(self)
            self._batch_id = ""

    def give_up(self, message: str) -> list[Judged]:
        """Cancel the rest; return an IE for each, for an answer that has begun already."""
        failures = [failure_of(item, message, queue_s=0.0, attempts=0) for item in self._unfinished.values()]
        self.cancel()
        return [Judged(one.index, one.judgement) for one in failures]

    def _published(self) -> AsyncIterator[Judged]:
        return published(
            self._queue.batches,
            self._queue.listener,
            self._batch_id,
            self._deadline_s,
            lambda: not self._unfinished or self._failed is not None,
        )

    async def _resubmit(self) -> None:
        rest = Intake(list(self._unfinished.values()), self._intake.problems)
        deadline_s = time.monotonic() + RESUBMITTING_S
        self._batch_id = uuid.uuid4().hex
        while True:
            try:
                await self._queue.begin(self._batch_id, rest, self._request_id)
            except (NotReadyError, QueueFullError) as error:
                # Redis and the workers are only coming back.
                if time.monotonic() > deadline_s:
                    raise NotReadyError(str(error), retry_after_s=RETRY_AFTER_S) from error
                await asyncio.sleep(LOOK_ANYWAY_S / 2)
            else:
                return
