"""The local queue: worker processes inside ``microcoder serve``, and the submissions that wait for them.

Each slot keeps one worker alive and gives it one submission at a time. A submission whose worker died or hung
is judged once more, by the worker that replaces it, and is then an IE. Requests come in through
:meth:`LocalQueue.submit` and their judgements go out through the returned :class:`~service.queue.ticket.Ticket`.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from sandbox import SandboxUnavailableError
from service.errors import NotReadyError, WorkerLostError
from service.queue.backlog import Backlog
from service.queue.schedule import FairSchedule
from service.queue.tasks import WorkerConfig
from service.queue.ticket import Ticket, failure
from service.queue.worker_process import WORKER_COMMAND, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from service.intake import Intake, Item
    from service.settings import Settings

MAX_ATTEMPTS = 2
RESTART_DELAY_S = 0.5
MAX_RESTART_DELAY_S = 30.0
STARTING_RETRY_AFTER_S = 2.0


@dataclass(slots=True, eq=False)
class _Job:
    ticket: Ticket
    item: Item
    size_bytes: int
    attempts: int = 0


@dataclass(slots=True, eq=False)
class _Slot:
    config: WorkerConfig
    worker: WorkerProcess | None = None
    trouble: SandboxUnavailableError | None = None
    tried: bool = False
    # What its last worker was lost over; the next worker judges it first.
    again: _Job | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether submissions can be judged now; ``trouble`` is why not, where no worker could be started."""

    ready: bool
    stopping: bool
    workers_alive: int
    workers: int
    sandbox: dict[str, JsonValue]
    trouble: SandboxUnavailableError | None
    waiting: int


class LocalQueue:
    """Runs on one event loop. Start it, submit to it, drain it, close it."""

    def __init__(self, settings: Settings, command: Sequence[str] = WORKER_COMMAND) -> None:
        self.backlog = Backlog(settings.backlog_submissions, settings.backlog_bytes)
        self._command = command
        self._slots = [_Slot(_config(settings, f"local-{number}")) for number in range(settings.workers)]
        self._schedule: FairSchedule[Ticket, _Job] = FairSchedule()
        self._tickets: set[Ticket] = set()
        self._work = asyncio.Event()
        self._all_tried = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("service.queue")

    def start(self) -> None:
        """Start the workers without waiting for them."""
        self._tasks = [asyncio.create_task(self._keep(slot), name=slot.config.name) for slot in self._slots]

    async def wait_started(self) -> None:
        """Wait until every worker has been started, or could not be; :meth:`health` tells which."""
        await self._all_tried.wait()

    def health(self) -> Health:
        """Return the state of the queue."""
        alive = [slot.worker for slot in self._slots if slot.worker is not None]
        troubles = [slot.trouble for slot in self._slots if slot.trouble is not None]
        broken = len(troubles) == len(self._slots)
        return Health(
            ready=self._all_tried.is_set() and not broken and not self._stopping,
            stopping=self._stopping,
            workers_alive=len(alive),
            workers=len(self._slots),
            sandbox=alive[0].sandbox if alive else {},
            trouble=troubles[0] if broken else None,
            waiting=self.backlog.submissions,
        )

    def ensure_ready(self) -> None:
        """Check that submissions can be judged now.

        Raises:
            NotReadyError: they cannot.

        """
        health = self.health()
        if not health.ready:
            raise _not_ready(health)

    def submit(self, intake: Intake, request_id: str) -> Ticket:
        """Let a request's submissions wait for their turn.

        Raises:
            NotReadyError: nothing can be judged now.
            QueueFullError: too much is held already.

        """
        self.ensure_ready()
        self.backlog.ensure_room()
        ticket = Ticket(intake, request_id, self._drop)
        # Problems are shared: each submission counts for its part of them.
        shared_bytes = sum(map(len, intake.problems.values())) // len(intake.items)
        for item in intake.items:
            job = _Job(ticket, item, len(item.submission) + shared_bytes)
            self.backlog.hold(1, job.size_bytes)
            self._schedule.put(ticket, item.priority, job)
        self._tickets.add(ticket)
        self._idle.clear()
        self._work.set()
        return ticket

    async def drain(self, timeout_s: float) -> bool:
        """Admit nothing more and wait for what is held; return whether all of it was finished in time."""
        self._stopping = True
        try:
            async with asyncio.timeout(timeout_s):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """End the workers; requests that still wait are told so."""
        self._stopping = True
        self._fail_waiting()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep(self, slot: _Slot) -> None:
        delay_s = RESTART_DELAY_S
        while True:
            if await self._start(slot):
                delay_s = RESTART_DELAY_S
                try:
                    await self._feed(slot)
                finally:
                    await self._retire(slot)
            else:
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, MAX_RESTART_DELAY_S)

    async def _start(self, slot: _Slot) -> bool:
        try:
            slot.worker = await WorkerProcess.start(slot.config, self._command)
            slot.trouble = None
            self._log.info("worker ready", worker=slot.config.name, pid=slot.worker.pid)
        except SandboxUnavailableError as error:
            slot.trouble = error
        except (WorkerLostError, OSError) as error:
            slot.trouble = SandboxUnavailableError(
                f"A worker process could not be started: it {error}.",
                "The service's log has its error output.",
            )
        slot.tried = True
        if all(one.tried for one in self._slots):
            self._all_tried.set()
        if slot.trouble is None:
            return True
        self._log.error("worker unavailable", worker=slot.config.name, error=str(slot.trouble))
        if slot.again is not None:
            job, slot.again = slot.again, None
            self._schedule.put_first(job.ticket, job.item.priority, job)
            self._work.set()
        if self.health().trouble is not None:
            self._fail_waiting()
        return False

    async def _retire(self, slot: _Slot) -> None:
        worker, slot.worker = slot.worker, None
        if worker is not None:
            await worker.close()

    async def _feed(self, slot: _Slot) -> None:
        worker = slot.worker
        assert worker is not None  # noqa: S101 -- it has just been started
        while not worker.exited.done():
            job, slot.again = slot.again or self._schedule.take(), None
            if job is None:
                self._work.clear()
                await self._wait_for_work(worker)
            elif job.ticket.open:
                await self._judge(slot, worker, job)
            else:
                self._release(job)
        self._log.warning("worker ended", worker=slot.config.name, status=worker.exited.result())

    async def _wait_for_work(self, worker: WorkerProcess) -> None:
        waiting = asyncio.ensure_future(self._work.wait())
        try:
            await asyncio.wait((waiting, worker.exited), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()

    async def _judge(self, slot: _Slot, worker: WorkerProcess, job: _Job) -> None:
        started_s = time.monotonic()
        ticket, item = job.ticket, job.item
        try:
            _, judgement = await worker.judge(item, ticket.problems[item.problem], ticket.request_id)
        except WorkerLostError as error:
            job.attempts += 1
            self._log.warning(
                "worker lost",
                worker=slot.config.name,
                reason=str(error),
                attempt=job.attempts,
                request_id=ticket.request_id,
                submission=item.id,
            )
            if job.attempts < MAX_ATTEMPTS:
                slot.again = job
                return
            judgement = failure(
                item,
                ticket.request_id,
                f"two worker processes were lost over this submission; the last {error}",
                time.monotonic() - started_s,
            )
        self.backlog.judged()
        ticket.finish(item, judgement)
        self._release(job)

    def _release(self, job: _Job) -> None:
        self.backlog.release(1, job.size_bytes)
        if not job.ticket.open:
            self._tickets.discard(job.ticket)
        if self.backlog.submissions == 0:
            self._idle.set()

    def _drop(self, ticket: Ticket) -> None:
        for job in self._schedule.drop(ticket):
            self._release(job)
        self._tickets.discard(ticket)

    def _fail_waiting(self) -> None:
        for ticket in list(self._tickets):
            ticket.fail(_not_ready(self.health()))


def _config(settings: Settings, name: str) -> WorkerConfig:
    return WorkerConfig(
        name=name,
        sandbox=settings.sandbox,
        docker_image=settings.docker_image,
        python=settings.python,
        defaults=settings.defaults,
        failing_first=settings.failing_first,
        log_level=settings.log_level,
        log_format=settings.log_format,
    )


def _not_ready(health: Health) -> NotReadyError:
    if health.stopping:
        return NotReadyError("the service is stopping", retry_after_s=STARTING_RETRY_AFTER_S)
    if health.trouble is not None:
        return NotReadyError(
            f"{health.trouble.cause} Cure: {health.trouble.cure}", retry_after_s=MAX_RESTART_DELAY_S
        )
    return NotReadyError("the workers are starting", retry_after_s=STARTING_RETRY_AFTER_S)
