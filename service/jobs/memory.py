"""Jobs in this process: judged by its own queue, gone when it ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from service.errors import NotReadyError
from service.jobs.contract import Claim, Progress
from service.kept import Kept

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.intake import Intake
    from service.queue.local_queue import LocalQueue
    from service.queue.ticket import Judged, Ticket
    from service.wire import JobStatus

# What a finished job costs beside its judgements.
JOB_BYTES = 1 << 10
MAX_CLAIMS_BYTES = 64 << 20


class MemoryJob:
    """A request that a task of its own listens to."""

    def __init__(self, job_id: str, ticket: Ticket, total: int) -> None:
        self.id = job_id
        self.judged: list[Judged] = []
        self.size_bytes = JOB_BYTES
        self._ticket = ticket
        self._total = total
        self._changed = asyncio.Event()
        self._ended: JobStatus | None = None
        self._error: NotReadyError | None = None

    async def run(self) -> None:
        """Collect the judgements."""
        try:
            async for judged in self._ticket:
                self.judged.append(judged)
                self.size_bytes += len(judged.judgement)
                self._wake()
            self._end("finished")
        except NotReadyError as error:
            self._error = error
            self._end("failed")

    @property
    def failed(self) -> bool:
        """Return whether nothing more will come of it."""
        return self._ended == "failed"

    async def progress(self) -> Progress:
        """Return how far it is."""
        status: JobStatus = self._ended or ("running" if self.judged or self._ticket.begun else "queued")
        judged = sorted(self.judged, key=lambda one: one.index)
        return Progress(status, self._total, judged, None if self._error is None else str(self._error))

    def follow(self) -> MemoryFollowing:
        """Begin to listen."""
        return MemoryFollowing(self)

    async def listen(self) -> AsyncIterator[Judged]:
        """Yield every judgement as it is ready.

        Raises:
            NotReadyError: the rest will not be judged.

        """
        sent = 0
        while True:
            changed = self._changed
            for judged in self.judged[sent:]:
                sent += 1
                yield judged
            if self._ended and sent == len(self.judged):
                break
            if sent == len(self.judged):
                await changed.wait()
        if self._error is not None:
            raise self._error

    async def cancel(self) -> None:
        """End what runs and drop what waits."""
        if self._ended is None:
            self._error = NotReadyError("the job was cancelled", retry_after_s=1.0)
            self._end("cancelled")
            self._ticket.cancel()
            # Its listener, which is this job.
            self._ticket.fail(self._error)

    def _end(self, status: JobStatus) -> None:
        self._ended = self._ended or status
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class MemoryFollowing:
    """Listens to a job of this process, whose queue waits for the job itself when it stops."""

    def __init__(self, job: MemoryJob) -> None:
        self._job = job

    def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement as it is ready."""
        return self._job.listen()

    def cancel(self) -> None:
        """Do nothing."""


class MemoryJobs:
    """The jobs that run, and those that have ended, bounded in bytes and in time."""

    def __init__(self, queue: LocalQueue, max_bytes: int, ttl_s: float) -> None:
        self._queue = queue
        self._running: dict[str, MemoryJob] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: Kept[MemoryJob] = Kept(max_bytes, ttl_s)
        self._claims: Kept[Claim] = Kept(MAX_CLAIMS_BYTES, ttl_s)

    async def begin(self, job_id: str, intake: Intake, request_id: str) -> MemoryJob:
        """Let a request's submissions wait for their turn."""
        there = await self.find(job_id)
        if there is not None:
            return there
        job = MemoryJob(job_id, await self._queue.submit(intake, request_id), len(intake.items))
        self._running[job_id] = job
        task = asyncio.create_task(self._run(job), name=f"job {job_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def find(self, job_id: str) -> MemoryJob | None:
        """Return the job."""
        return self._running.get(job_id) or self._ended.get(job_id)

    async def claim(self, key: str, claim: Claim) -> Claim:
        """Let ``claim`` hold for ``key``, unless another one does."""
        holding = self._claims.get(key)
        if holding is None:
            holding = claim
            self._claims.put(key, claim, len(key) + JOB_BYTES)
        return holding

    async def disclaim(self, key: str) -> None:
        """Let nothing hold for ``key``."""
        self._claims.pop(key)

    async def _run(self, job: MemoryJob) -> None:
        try:
            await job.run()
        finally:
            del self._running[job.id]
            self._ended.put(job.id, job, job.size_bytes)
