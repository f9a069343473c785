"""The local queue: worker processes inside ``microcoder serve``, and the submissions that wait for them.

Each slot keeps one worker alive and gives it one submission at a time. A submission whose worker died or hung
is judged once more, by the worker that replaces it, and is then an IE. Requests come in through
:meth:`LocalQueue.submit` and their judgements go out through the returned :class:`~service.queue.ticket.Ticket`.
What waits is :class:`~service.queue.waiting.Waiting`'s.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from sandbox import SandboxUnavailableError
from service.errors import WorkerLostError
from service.metrics import Meters
from service.queue.health import Health, not_ready
from service.queue.tasks import WorkerConfig
from service.queue.waiting import Waiter, Waiting
from service.queue.worker_process import WORKER_COMMAND, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.intake import Intake
    from service.queue.backlog import Backlog
    from service.queue.ticket import Ticket
    from service.settings import Settings

MAX_ATTEMPTS = 2
RESTART_DELAY_S = 0.5
MAX_RESTART_DELAY_S = 30.0
# A cancelled submission that ends by itself within this time costs less than a new worker.
CANCEL_GRACE_S = 0.3


@dataclass(slots=True, eq=False)
class _Slot:
    config: WorkerConfig
    worker: WorkerProcess | None = None
    trouble: SandboxUnavailableError | None = None
    tried: bool = False
    # What its last worker was lost over; the next worker judges it first.
    again: Waiter | None = None
    running: Waiter | None = None


class LocalQueue:
    """Runs on one event loop. Start it, submit to it, drain it, close it."""

    def __init__(
        self, settings: Settings, command: Sequence[str] = WORKER_COMMAND, meters: Meters | None = None
    ) -> None:
        self._meters = meters or Meters()
        self._waiting = Waiting(settings, self._meters)
        self._command = command
        self._slots = [
            _Slot(WorkerConfig.of_settings(settings, f"local-{number}")) for number in range(settings.workers)
        ]
        self._all_tried = asyncio.Event()
        self._stopping = False
        self._start_failures = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._endings: set[asyncio.Task[None]] = set()
        self._log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("service.queue")

    @property
    def backlog(self) -> Backlog:
        """Return the count of what is held."""
        return self._waiting.backlog

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
            sandbox_start_failures=self._start_failures,
            trouble=troubles[0] if broken else None,
            waiting=self.backlog.submissions,
            oldest_age_s=self._waiting.oldest_age_s(),
        )

    def ensure_ready(self) -> None:
        """Check that submissions can be judged now.

        Raises:
            NotReadyError: they cannot.

        """
        health = self.health()
        if not health.ready:
            raise not_ready(health)

    async def submit(self, intake: Intake, request_id: str) -> Ticket:
        """Let a request's submissions wait for their turn.

        Raises:
            NotReadyError: nothing can be judged now.
            QueueFullError: too much is held already.

        """
        self.ensure_ready()
        return self._waiting.admit(intake, request_id, self._cancelled)

    async def drain(self, timeout_s: float) -> bool:
        """Admit nothing more and wait for what is held; return whether all of it was finished in time."""
        self._stopping = True
        try:
            async with asyncio.timeout(timeout_s):
                await self._waiting.idle.wait()
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
        if slot.trouble is not None:
            self._start_failures += 1
        slot.tried = True
        if all(one.tried for one in self._slots):
            self._all_tried.set()
        if slot.trouble is None:
            return True
        self._log.error("worker unavailable", worker=slot.config.name, error=str(slot.trouble))
        if slot.again is not None:
            waiter, slot.again = slot.again, None
            self._waiting.put_back(waiter)
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
            waiter, slot.again = slot.again or self._waiting.take(), None
            if waiter is None:
                await self._wait_for_work(worker)
            elif not waiter.ticket.open:
                self._waiting.release(waiter)
            else:
                slot.running = waiter
                await self._judge(slot, worker, waiter)
                slot.running = None
        self._log.warning("worker ended", worker=slot.config.name, status=worker.exited.result())

    async def _wait_for_work(self, worker: WorkerProcess) -> None:
        waiting = asyncio.ensure_future(self._waiting.work.wait())
        try:
            await asyncio.wait((waiting, worker.exited), return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()

    async def _judge(self, slot: _Slot, worker: WorkerProcess, waiter: Waiter) -> None:
        started_s = time.monotonic()
        ticket, item = waiter.ticket, waiter.item
        ticket.begun = True
        waiter.attempts += 1
        try:
            verdict, judgement = await worker.judge(
                item,
                ticket.problems[item.problem],
                ticket.request_id,
                queue_s=started_s - waiter.since_s,
                attempts=waiter.attempts,
            )
        except WorkerLostError as error:
            self._log.warning(
                "worker lost",
                worker=slot.config.name,
                reason=str(error),
                attempt=waiter.attempts,
                request_id=ticket.request_id,
                submission=item.id,
            )
            if waiter.attempts < MAX_ATTEMPTS and ticket.open:
                slot.again = waiter
                return
            message = f"two worker processes were lost over this submission; the last {error}"
            self._waiting.fail(waiter, message, time.monotonic() - started_s)
        else:
            self._waiting.settle(waiter, verdict, judgement, time.monotonic() - started_s)

    def _cancelled(self, ticket: Ticket) -> None:
        for slot in self._slots:
            if slot.running is not None and slot.running.ticket is ticket:
                asyncio.get_running_loop().call_later(CANCEL_GRACE_S, self._end, slot, slot.running)

    def _end(self, slot: _Slot, waiter: Waiter) -> None:
        """End what still runs although nobody wants it."""
        if slot.running is waiter and slot.worker is not None:
            task = asyncio.create_task(slot.worker.kill())
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)

    def _fail_waiting(self) -> None:
        self._waiting.fail_all(not_ready(self.health()))
