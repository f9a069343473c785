"""Judges chunks: one sandboxed process that stays, its replacement when it is lost, and every judgement published."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import structlog
from redis.exceptions import RedisError

from sandbox import SandboxUnavailableError
from service.distributed import keys
from service.distributed.batches import Batches, Measured, Outcome, failure_of
from service.distributed.codec import pack, unpack
from service.distributed.outbox import Outbox, patiently
from service.errors import WorkerLostError
from service.queue.local_queue import MAX_ATTEMPTS
from service.queue.reuse import certain, given_again
from service.queue.worker_process import WorkerProcess
from service.wire import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

    from service.distributed.batches import Begun
    from service.distributed.chunks import Chunk, Group
    from service.intake import Item
    from service.queue.tasks import WorkerConfig

# A judge that has grown beyond this is replaced between two chunks.
MAX_RESIDENT_BYTES = 1 << 30
PAGE_BYTES = 4096


class Stopped(Exception):  # noqa: N818 -- it is no error
    """The chunk's batch was cancelled, or this worker is to end."""


class Judging:
    """Judges one chunk at a time. Runs on one event loop, which need not run between chunks."""

    def __init__(self, redis: Redis, config: WorkerConfig, command: Sequence[str]) -> None:
        self._redis = redis
        self.batches = Batches(redis)
        self._config = config
        self._command = command
        self._process: WorkerProcess | None = None
        self.log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("service.distributed").bind(
            worker=config.name
        )
        # Set from other threads by way of the loop: no more submissions; not even the one that runs.
        self.draining = asyncio.Event()
        self.stopping = asyncio.Event()

    async def open(self) -> WorkerProcess:
        """Return the sandboxed process, a new one where there is none.

        Raises:
            SandboxUnavailableError: no sandbox can be opened.

        """
        if self._process is None or self._process.exited.done():
            try:
                self._process = await WorkerProcess.start(self._config, self._command)
            except (WorkerLostError, OSError) as error:
                raise SandboxUnavailableError(
                    f"A worker process could not be started: it {error}.",
                    "The worker's log has its error output.",
                ) from error
        return self._process

    async def close(self) -> None:
        """End the sandboxed process."""
        if self._process is not None:
            await self._process.close()

    async def abandon(self) -> None:
        """End a judging that was broken off in the middle; what its process still answers is nobody's."""
        process, self._process = self._process, None
        if process is not None:
            await process.kill()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def judge(self, chunk: Chunk, *, careful: bool) -> bool:
        """Judge what of ``chunk`` has no judgement; return whether some is left, because this worker is to end.

        With ``careful``, which is for chunks whose worker was lost, each submission is noted before it is begun:
        a second loss is then its own.

        Raises:
            SandboxUnavailableError: no sandbox can be opened any longer.
            RedisError: Redis is away for too long.

        """
        begun = await patiently(lambda: self.batches.begin(chunk.batch))
        if not begun.wanted:
            return False
        run = _Run(self, chunk, begun, careful=careful)
        try:
            await run.all()
        except Stopped:
            await run.outbox.flush()
            return self.draining.is_set()
        except SandboxUnavailableError:
            await run.outbox.flush()
            raise
        finally:
            await self._replace_if_grown()
        return False

    async def attempt(
        self, item: Item, request_id: str, *, queue_s: float, attempts: int
    ) -> tuple[Verdict, bytes]:
        """Return verdict and judgement of one try.

        Raises:
            WorkerLostError: the sandboxed process was lost over it.
            SandboxUnavailableError: no sandbox can be opened.

        """
        process = await self.open()
        problem = b"" if process.keeps(item.problem) else await self._problem(item.problem)
        return await process.judge(item, problem, request_id, queue_s=queue_s, attempts=attempts)

    async def _problem(self, key: str) -> bytes:
        data = await patiently(lambda: self._redis.get(keys.problem(key)))
        if data is None:
            raise ProblemGoneError(key)
        return await asyncio.to_thread(unpack, cast("bytes", data))

    async def remember(self, group: Group, judgement: bytes, reuse_s: float) -> None:
        """Keep a judgement for equal submissions of other batches."""
        if group.fingerprint and reuse_s:
            ttl_ms = max(1, round(1000 * reuse_s))
            try:
                await self._redis.set(keys.cached(group.fingerprint), pack(judgement), px=ttl_ms)
            except RedisError as error:
                # Nothing is lost by it: an equal submission is judged another time.
                self.log.warning("a judgement is not remembered", error=str(error))

    async def lost_before(self, chunk: Chunk, item: Item) -> int:
        """Note that a submission is begun; return how often that was so before."""
        return await patiently(lambda: self.batches.lost(chunk.batch, item.index))

    async def _replace_if_grown(self) -> None:
        if self._process is None or self._process.exited.done():
            return
        resident_bytes = _resident_bytes(self._process.pid)
        if resident_bytes > MAX_RESIDENT_BYTES:
            self.log.warning("judge has grown and is replaced", resident_bytes=resident_bytes)
            await self._process.close()


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * PAGE_BYTES
    except OSError:
        # It has just ended, or there is no /proc.
        return 0


class ProblemGoneError(Exception):
    """A problem is no longer in Redis."""


class _Run:
    """The judging of one chunk."""

    def __init__(self, judging: Judging, chunk: Chunk, begun: Begun, *, careful: bool) -> None:
        self._judging = judging
        self._chunk = chunk
        self._begun = begun
        self._careful = careful
        self._started_s = time.monotonic()
        self.outbox = Outbox(judging.batches, chunk.batch)
        self._log = judging.log

    @property
    def _queue_s(self) -> float:
        return self._begun.age_s + time.monotonic() - self._started_s

    async def all(self) -> None:
        for group in self._chunk.groups:
            items = [item for item in group.items if item.index not in self._begun.done]
            for position, item in enumerate(items, 1):
                answer = await self._one(item)
                if answer is not None and certain(answer[0]):
                    self._give_again(items[position:], *answer)
                    await self._judging.remember(group, answer[1], self._chunk.reuse_s)
                    break
        await self.outbox.flush()

    async def _one(self, item: Item) -> tuple[Verdict, bytes] | None:
        """Judge a submission; return None where it was not."""
        if self._judging.draining.is_set() or self._judging.stopping.is_set() or not self.outbox.wanted:
            raise Stopped
        waited_s = time.monotonic() - self._started_s
        if waited_s > self._begun.wait_left_s:
            self._fail(
                item, f"it waited {self._queue_s:.0f} s for a worker, longer than this server allows", 0
            )
            return None
        if self._careful and await self._judging.lost_before(self._chunk, item):
            self._fail(item, "two workers were lost over this submission", MAX_ATTEMPTS)
            return None
        return await self._tried(item)

    async def _tried(self, item: Item) -> tuple[Verdict, bytes] | None:
        queue_s = self._queue_s
        started_s = time.monotonic()
        before = 1 if self._careful else 0
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                verdict, judgement = await self._watched(item, queue_s, attempt + before)
            except WorkerLostError as error:
                self._log.warning("judge lost", reason=str(error), attempt=attempt, submission=item.id)
                lost = str(error)
                if attempt + before >= MAX_ATTEMPTS:
                    break
            except ProblemGoneError:
                self._fail(item, "its problem is no longer stored", attempt)
                return None
            else:
                judging_s = time.monotonic() - started_s
                measured = Measured(
                    verdict=verdict,
                    language=item.language,
                    judging_s=judging_s,
                    queue_s=queue_s,
                    cached=False,
                )
                self.outbox.put(Outcome(item.index, judgement, measured))
                return verdict, judgement
        self._fail(
            item, f"two worker processes were lost over this submission; the last {lost}", MAX_ATTEMPTS
        )
        return None

    async def _watched(self, item: Item, queue_s: float, attempts: int) -> tuple[Verdict, bytes]:
        """Judge, publish meanwhile what waits, and end it where nobody wants it any longer."""
        trying = asyncio.ensure_future(
            self._judging.attempt(item, self._chunk.request_id, queue_s=queue_s, attempts=attempts)
        )
        due_s = self.outbox.due_in_s
        try:
            if due_s is not None:
                await asyncio.wait((trying,), timeout=due_s)
                if not trying.done():
                    await self.outbox.flush()
            if not trying.done():
                await self._or_stopped(trying)
            return trying.result()
        finally:
            if not trying.done():
                # Cancelling kills the sandboxed process: half a conversation cannot be resumed.
                trying.cancel()
                with suppress(asyncio.CancelledError, WorkerLostError):
                    await trying

    async def _or_stopped(self, trying: asyncio.Future[tuple[Verdict, bytes]]) -> None:
        stopping = asyncio.ensure_future(self._judging.stopping.wait())
        try:
            await asyncio.wait((trying, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not trying.done():
                raise Stopped
        finally:
            stopping.cancel()

    def _give_again(self, items: list[Item], verdict: Verdict, judgement: bytes) -> None:
        for item in items:
            measured = Measured(
                verdict=verdict, language=item.language, judging_s=0.0, queue_s=0.0, cached=True
            )
            self.outbox.put(Outcome(item.index, given_again(judgement, item), measured))

    def _fail(self, item: Item, message: str, attempts: int) -> None:
        self.outbox.put(failure_of(item, message, queue_s=self._queue_s, attempts=attempts))
