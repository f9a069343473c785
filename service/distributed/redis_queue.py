"""The queue in Redis, as an API process sees it: requests become RQ jobs, and judgements come as they are made."""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import structlog
from redis.exceptions import RedisError

from service.distributed import keys
from service.distributed.batches import Admission, Batches, Capacity, Measured, Outcome
from service.distributed.chunk_job import enqueue, stop
from service.distributed.chunks import Chunk, Group, chunk_size, longest_run_s, split
from service.distributed.codec import pack, unpack
from service.distributed.connection import async_connection, connection, reachable
from service.distributed.listener import Listener
from service.distributed.monitor import Monitor
from service.distributed.redis_ticket import RedisTicket
from service.distributed.waiting import WaitingRoom
from service.errors import QueueFullError
from service.queue.backlog import Backlog
from service.queue.health import not_ready
from service.queue.reuse import Fingerprints, Twins, given_again
from service.wire import Judgement

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from service.intake import Intake
    from service.metrics import Meters
    from service.processes.frames import Blob
    from service.queue.health import Health
    from service.settings import Settings

# How long RQ keeps a job in its queue after nobody may begin it any longer.
JOB_MARGIN_S = 5.0
PROBLEM_MARGIN_S = 600.0
LOOKED_UP_AT_ONCE = 512
# A batch whose problems are being brought is not given up; see `observing.STALLED_AFTER_S`.
TOUCH_S = 2.0
# When this process ends; a time to live ends batches as well.
GIVING_UP_S = 5.0


class RedisQueue:
    """Runs on one event loop. Any number of them share one Redis."""

    def __init__(self, settings: Settings, meters: Meters) -> None:
        assert settings.queue is not None  # noqa: S101 -- chosen by it
        self.backlog = Backlog(settings.backlog_submissions, settings.backlog_bytes)
        self.redis = async_connection(settings.queue)
        self.threads = connection(settings.queue)
        self.batches = Batches(self.redis)
        self._capacity = Capacity(
            settings.backlog_submissions,
            settings.backlog_bytes,
            settings.max_wait_s,
            settings.result_ttl_s,
        )
        self._reuse_s = settings.cache_ttl_s
        self.listener = Listener(self.redis, meters, self.backlog)
        self._monitor = Monitor(self.threads, self.batches, settings.queue)
        self._fingerprints = Fingerprints.of_settings(settings)
        self.waiting = WaitingRoom()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start to listen and to look."""
        for work in (self.listener.run(), self._monitor.run()):
            self.soon(work)

    async def wait_started(self) -> None:
        """Wait until the queue has been looked at."""
        await self._monitor.looked.wait()

    def health(self) -> Health:
        """Return the state of the queue."""
        return self._monitor.health()

    def ensure_ready(self) -> None:
        """Check that submissions can be judged now.

        Raises:
            NotReadyError: they cannot.

        """
        health = self.health()
        if not health.ready:
            raise not_ready(health)

    async def submit(self, intake: Intake, request_id: str) -> RedisTicket:
        """Let a request's submissions wait for their turn.

        Raises:
            NotReadyError: nothing can be judged now.
            QueueFullError: too much is held already.

        """
        batch_id = uuid.uuid4().hex
        ticket = RedisTicket(self, batch_id, intake, request_id)
        # Before the batch begins: who stops meanwhile has to wait for it, or to drop it.
        self.waiting.enter(ticket)
        try:
            await self.begin(batch_id, intake, request_id)
        except BaseException:  # also where the call is cancelled: draining would wait for it in vain
            self.waiting.leave(ticket)
            raise
        return ticket

    async def begin(self, batch_id: str, intake: Intake, request_id: str) -> bool:
        """Let a batch wait for workers; return False where there is one with this id. Raises as :meth:`submit`."""
        self.ensure_ready()
        with self.waiting.admitting():
            return await self._begin(batch_id, intake, request_id)

    async def _begin(self, batch_id: str, intake: Intake, request_id: str) -> bool:
        groups = [
            Group(fingerprint=name, items=items)
            for name, items in Twins(intake.items, self._fingerprints).by_first.values()
        ]
        with reachable():
            if not await self._admit(batch_id, intake, groups):
                return False
            self.listener.own(batch_id, len(intake.items))
            try:
                waiting = await self._answer_known(batch_id, groups)
                if waiting:
                    await self._put_problems(batch_id, intake, waiting)
                    await self._enqueue(batch_id, waiting, request_id)
            except Exception:  # whatever it was, nobody will ask for what is in Redis by now
                await self.give_up(batch_id, drop=True)
                raise
            except asyncio.CancelledError:
                self.soon(self.give_up(batch_id, drop=True))
                raise
        return True

    async def give_up(self, batch_id: str, *, drop: bool) -> None:
        """End what runs of a batch and drop what waits; with ``drop`` also what is known of it."""
        try:
            snapshot = await self.batches.snapshot(batch_id)
            if snapshot is None:
                return
            left = await self.batches.cancel(batch_id)
            if left:
                await asyncio.to_thread(stop, self.threads, batch_id, snapshot.chunks)
                self.listener.disown(batch_id)
            if drop:
                await self.batches.drop(batch_id)
        except (RedisError, OSError) as error:
            # Its time to live ends it as well.
            structlog.stdlib.get_logger("service.distributed").warning(
                "batch not ended", batch=batch_id, error=str(error)
            )

    async def drain(self, timeout_s: float) -> bool:
        """Admit nothing more and wait for those who wait here; jobs go on without this process."""
        self._monitor.stopping = True
        try:
            async with asyncio.timeout(timeout_s):
                await self.waiting.emptied()
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """End it; requests that still wait are told so."""
        self._monitor.stopping = True
        waiting = self.waiting.tell(not_ready(self.health()))
        # What nobody can ask for any longer need not be judged; jobs go on.
        batches = [one.batch_id for one in waiting if isinstance(one, RedisTicket) and one.batch_id]
        with suppress(TimeoutError):
            async with asyncio.timeout(GIVING_UP_S):
                await asyncio.gather(*(self.give_up(batch_id, drop=True) for batch_id in batches))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.redis.aclose()
        self.threads.close()

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something be done in the background."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def longest_s(self, intake: Intake) -> float:
        """Return how long the judgements of a request are waited for at most."""
        group = Group.model_construct(fingerprint="", items=intake.items)
        return self._capacity.wait_s + longest_run_s([group])

    async def _admit(self, batch_id: str, intake: Intake, groups: list[Group]) -> bool:
        size_bytes = sum(len(item.submission) for item in intake.items) + sum(
            map(len, intake.problems.values())
        )
        admission = await self.batches.admit(
            batch_id,
            intake,
            self._capacity,
            size_bytes=size_bytes,
            run_s=longest_run_s(groups),
        )
        if admission.state == "full":
            raise self._full(admission)
        return admission.state == "admitted"

    def _full(self, held: Admission) -> QueueFullError:
        too_many = held.submissions - self._capacity.submissions + 1
        # Where it is the bytes, a part of the submissions has to go.
        share = 1 - self._capacity.bytes / (held.bytes + 1)
        return QueueFullError(
            f"{held.submissions} submissions and {held.bytes} bytes are held; from "
            f"{self._capacity.submissions} or {self._capacity.bytes} on none is admitted",
            retry_after_s=self.backlog.retry_after_s(max(too_many, share * held.submissions)),
        )

    async def _answer_known(self, batch_id: str, groups: list[Group]) -> list[Group]:
        """Publish the judgements of submissions that were judged before; return the others."""
        if self._fingerprints is None:
            return groups
        waiting, outcomes = [], []
        for start in range(0, len(groups), LOOKED_UP_AT_ONCE):
            part = groups[start : start + LOOKED_UP_AT_ONCE]
            # A submission without a fingerprint has none to be found by.
            found = await self.redis.mget([keys.cached(group.fingerprint) for group in part])
            for group, data in zip(part, found, strict=True):
                if data is None:
                    waiting.append(group)
                else:
                    outcomes += _given_again(group, unpack(cast("bytes", data)))
        if outcomes:
            await self.batches.publish(batch_id, outcomes)
        return waiting

    async def _put_problems(self, batch_id: str, intake: Intake, groups: list[Group]) -> None:
        """Bring the problems that are not there yet; the others get a new time to live."""
        wanted = {group.items[0].problem for group in groups}
        ttl_s = round(self._capacity.wait_s + longest_run_s(groups) + PROBLEM_MARGIN_S)
        inline = [key for key in intake.problems if key in wanted]
        async with self.redis.pipeline(transaction=False) as pipeline:
            for key in inline:
                pipeline.expire(keys.problem(key), ttl_s, gt=True)
                pipeline.exists(keys.problem(key))
            answers = await pipeline.execute() if inline else []
        touched_s = time.monotonic()
        for key, there in zip(inline, answers[1::2], strict=True):
            if time.monotonic() - touched_s > TOUCH_S:
                await self.batches.touch(batch_id)
                touched_s = time.monotonic()
            if not there:
                data = await asyncio.to_thread(_packed, intake.problems[key])
                await self.redis.set(keys.problem(key), data, ex=ttl_s)

    async def _enqueue(self, batch_id: str, groups: list[Group], request_id: str) -> None:
        size = chunk_size(sum(len(group.items) for group in groups), self._monitor.workers)
        chunks = [
            Chunk(batch=batch_id, request_id=request_id, reuse_s=self._reuse_s, groups=part)
            for part in split(groups, size)
        ]
        await asyncio.to_thread(enqueue, self.threads, chunks, self._capacity.wait_s + JOB_MARGIN_S)


def _packed(content: Blob) -> bytes:
    return pack(bytes(content))


def _given_again(group: Group, judgement: bytes) -> list[Outcome]:
    verdict = Judgement.model_validate_json(judgement).verdict
    return [
        Outcome(
            item.index,
            given_again(judgement, item),
            Measured(verdict=verdict, language=item.language, judging_s=0.0, queue_s=0.0, cached=True),
        )
        for item in group.items
    ]
