"""Lets the runs of an audit be judged by the service's queue, a slice at a time, at low priority."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.errors import NotReadyError, QueueFullError
from service.http.audits.job import JUDGED, NEXT
from service.http.reader import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.intake import Intake
    from service.processes.process import ChildProcess
    from service.queue.contract import Listening, Queue

# While the last programs of one slice run, those of the next keep the other workers busy.
SLICES_AT_ONCE = 2
# How long a queue may be unable to judge before the audit ends without a report.
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class _Judged:
    run: int
    judgement: bytes


@dataclass(frozen=True, slots=True)
class _Ended:
    error: Exception | None = None


class Feeding:
    """The way of one audit's runs: from its process ``child`` to ``queue``, and their judgements back."""

    def __init__(self, child: ChildProcess, queue: Queue, job_id: str) -> None:
        self._child = child
        self._queue = queue
        self._job_id = job_id
        self._ready: asyncio.Queue[_Judged | _Ended] = asyncio.Queue()
        self._listeners: set[asyncio.Task[None]] = set()
        self._sent = 0

    async def all(self, on_progress: Callable[[int], None]) -> None:
        """Have everything judged; ``on_progress`` gets the number of runs that have ended.

        Raises:
            NotReadyError: the queue could not judge for too long.
            WorkerLostError: the child died.

        """
        try:
            open_slices = 0
            while True:
                while open_slices < SLICES_AT_ONCE and await self._begin_slice():
                    open_slices += 1
                if not open_slices:
                    return
                event = await self._ready.get()
                if isinstance(event, _Judged):
                    frames = [JUDGED, str(event.run).encode(), event.judgement]
                    (ended,) = await self._child.ask(frames, 1, None)
                    on_progress(int(ended))
                elif event.error is not None:
                    raise event.error
                else:
                    open_slices -= 1
        finally:
            for task in self._listeners:
                task.cancel()
            await asyncio.gather(*self._listeners, return_exceptions=True)

    async def _begin_slice(self) -> bool:
        (head,) = await self._child.ask([NEXT], 1, None)
        outcome = Outcome.model_validate_json(head)
        intake = outcome.intake([await self._child.read() for _ in outcome.problems])
        if not intake.items:
            return False
        task = asyncio.create_task(self._listen(intake, self._sent))
        self._listeners.add(task)
        task.add_done_callback(self._listeners.discard)
        self._sent += len(intake.items)
        return True

    async def _listen(self, intake: Intake, start: int) -> None:
        try:
            listening = await self._submitted(intake)
            try:
                async for judged in listening:
                    self._ready.put_nowait(_Judged(start + judged.index, judged.judgement))
            finally:
                listening.cancel()
        except Exception as error:  # noqa: BLE001 -- raised by whoever waits for the judgements
            self._ready.put_nowait(_Ended(error))
        else:
            self._ready.put_nowait(_Ended())

    async def _submitted(self, intake: Intake) -> Listening:
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                return await self._queue.submit(intake, self._job_id)
            except QueueFullError as error:
                # Trainers go first, for as long as it takes.
                await asyncio.sleep(error.retry_after_s)
                deadline_s = time.monotonic() + PATIENCE_S
            except NotReadyError as error:
                if time.monotonic() + error.retry_after_s > deadline_s:
                    raise
                await asyncio.sleep(error.retry_after_s)
