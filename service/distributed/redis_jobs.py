"""Jobs in Redis: any API process can be asked for them, also when the one that began them is gone."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, cast

from service.distributed import keys
from service.distributed.connection import reachable
from service.distributed.redis_ticket import BatchGoneError, published
from service.errors import NotReadyError, UnknownJobError
from service.jobs.contract import Claim, Progress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.distributed.batches import Snapshot
    from service.distributed.redis_queue import RedisQueue
    from service.intake import Intake
    from service.queue.ticket import Judged
    from service.wire import JobStatus

SEPARATOR = " "
_ID = re.compile(r"[0-9a-f]{32}")
# A claim may be held before its job is there, and is looked at after the job has ended.
CLAIM_MARGIN_S = 120.0
FOLLOWED_S = 86400.0


class RedisJob:
    """A batch that is judged whether or not somebody listens."""

    def __init__(self, queue: RedisQueue, job_id: str) -> None:
        self.id = job_id
        self._queue = queue

    @property
    def failed(self) -> bool:
        """Return False: what cannot be judged becomes an IE, which is an answer."""
        return False

    async def progress(self) -> Progress:
        """Return how far it is.

        Raises:
            UnknownJobError: its judgements have expired.
            NotReadyError: Redis cannot be used.

        """
        with reachable():
            snapshot = await self._queue.batches.snapshot(self.id)
            judged = await self._queue.batches.read(self.id, 0)
        if snapshot is None:
            raise UnknownJobError(self.id)
        status = _status(snapshot)
        message = "the job was cancelled" if status == "cancelled" else None
        return Progress(status, snapshot.total, sorted(judged, key=lambda one: one.index), message)

    def follow(self) -> RedisFollowing:
        """Begin to listen."""
        return RedisFollowing(self._queue, self.id)

    async def cancel(self) -> None:
        """End what runs and drop what waits."""
        await self._queue.give_up(self.id, drop=False)


class RedisFollowing:
    """Somebody in this process who waits for a job."""

    def __init__(self, queue: RedisQueue, job_id: str) -> None:
        self._queue = queue
        self._job_id = job_id
        self._left = 1
        self._error: NotReadyError | None = None
        queue.waiting.enter(self)

    async def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement as it is ready.

        Raises:
            UnknownJobError: its judgements have expired.
            NotReadyError: the rest will not be judged.

        """
        with reachable():
            snapshot = await self._queue.batches.snapshot(self._job_id)
        if snapshot is None:
            raise UnknownJobError(self._job_id)
        self._left = snapshot.total
        deadline_s = time.monotonic() + FOLLOWED_S
        stream = published(self._queue.batches, self._queue.listener, self._job_id, deadline_s, self._ended)
        try:
            async for judged in stream:
                self._left -= 1
                yield judged
        except BatchGoneError:
            raise NotReadyError("Redis has lost the job", retry_after_s=1.0) from None
        if self._left and self._error is not None:
            raise self._error

    def cancel(self) -> None:
        """Listen no longer."""
        self._queue.waiting.leave(self)

    def fail(self, error: NotReadyError) -> None:
        """Tell the listener that the service ends."""
        self._error = error
        self._queue.listener.wake(self._job_id)

    def _ended(self) -> bool:
        return not self._left or self._error is not None


class RedisJobs:
    """All jobs of all API processes."""

    def __init__(self, queue: RedisQueue, claim_ttl_s: float) -> None:
        self._queue = queue
        self._claim_ttl_s = claim_ttl_s + CLAIM_MARGIN_S

    async def begin(self, job_id: str, intake: Intake, request_id: str) -> RedisJob:
        """Let a request's submissions wait for their turn."""
        await self._queue.begin(job_id, intake, request_id)
        return RedisJob(self._queue, job_id)

    async def find(self, job_id: str) -> RedisJob | None:
        """Return the job."""
        if not _ID.fullmatch(job_id):
            # Names in Redis are made from it.
            return None
        with reachable():
            snapshot = await self._queue.batches.snapshot(job_id)
        return None if snapshot is None else RedisJob(self._queue, job_id)

    async def claim(self, key: str, claim: Claim) -> Claim:
        """Let ``claim`` hold for ``key``, unless another one does."""
        text = f"{claim.job_id}{SEPARATOR}{claim.digest}"
        with reachable():
            holding = await self._queue.redis.set(
                keys.claim(key), text, nx=True, get=True, px=round(1000 * self._claim_ttl_s)
            )
        if holding is None:
            return claim
        job_id, _, digest = cast("bytes", holding).decode().partition(SEPARATOR)
        return Claim(job_id, digest)

    async def disclaim(self, key: str) -> None:
        """Let nothing hold for ``key``."""
        with reachable():
            await self._queue.redis.delete(keys.claim(key))


def _status(snapshot: Snapshot) -> JobStatus:
    if snapshot.cancelled:
        return "cancelled"
    if snapshot.left <= 0:
        return "finished"
    return "running" if snapshot.started or snapshot.left < snapshot.total else "queued"
