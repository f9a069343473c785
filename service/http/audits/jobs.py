"""The audits of one service: one runs at a time, a few wait, and what they found is kept in an archive."""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from service.audit.archive.contract import HEARTBEAT_S, AuditStatus
from service.errors import NotReadyError, QueueFullError, ServiceError, UnknownProblemError, WorkerLostError
from service.http import idempotency
from service.http.audits.feeding import Feeding
from service.http.audits.job import JOB_COMMAND, REPORT, Setup
from service.http.reader import Outcome
from service.processes.process import ChildProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from service.audit.archive.contract import Archive
    from service.intake import Rules
    from service.jobs.contract import Jobs
    from service.problems.store import ProblemStore
    from service.queue.contract import Queue
    from service.settings import Settings

# Each holds its items in a process of its own.
MAX_HELD = 4
RETRY_AFTER_S = 30.0


class Audits:
    """Starts audits and tells about them. Close it before the event loop ends, and before its queue."""

    def __init__(
        self,
        settings: Settings,
        rules: Rules,
        *,
        queue: Queue,
        jobs: Jobs,
        problems: ProblemStore,
        archive: Archive,
    ) -> None:
        self.archive = archive
        self._setup = Setup(rules=rules, log_level=settings.log_level, log_format=settings.log_format)
        self._queue = queue
        self._jobs = jobs
        self._problems = problems
        self._turn = asyncio.Lock()
        self._starting = 0
        self._live: dict[str, _Live] = {}
        self._log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("service.audit")

    async def start(self, body: Sequence[bytes], key: str | None) -> AuditStatus:
        """Validate a request and let it wait for its turn; with ``key``, an equal call begins no other audit.

        Raises:
            ClientError: the request is invalid.
            QueueFullError: too many are held already.
            NotReadyError: nothing can be judged now, the archive cannot be used, or the request's reader died.

        """
        if key is None:
            return await self._begun(body, uuid.uuid4().hex)
        held, is_new, there = await idempotency.claimed(self._jobs, key, body, self._find)
        if there is not None:
            return there
        # The first call, or one whose first call did not come as far: an audit begins once, whoever begins it.
        try:
            return await self._begun(body, held.job_id)
        except ServiceError:
            if is_new:
                await self._jobs.disclaim(key)
            raise

    async def status(self, job_id: str) -> AuditStatus | None:
        """Return how far an audit is; None where there is no such. Raises NotReadyError."""
        live = self._live.get(job_id)
        return await self.archive.status(job_id) if live is None else live.status

    async def cancel(self, job_id: str) -> AuditStatus | None:
        """End an audit; return what then holds of it, None where there is no such. Raises NotReadyError.

        One that runs in another service ends within seconds. One that has ended stays as it is.
        """
        live = self._live.get(job_id)
        if live is not None:
            await live.cancelled()
        status = await self.status(job_id)
        if status is None or status.ended:
            return status
        await self.archive.ask_to_cancel(job_id)
        return status.model_copy(update={"status": "cancelled"})

    async def end_all(self) -> None:
        """End all audits; what was kept can still be asked for."""
        tasks = [live.task for live in self._live.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """End all audits and the archive."""
        await self.end_all()
        await self.archive.close()

    async def _find(self, job_id: str) -> tuple[AuditStatus, bool] | None:
        status = await self.status(job_id)
        return None if status is None else (status, status.status == "failed")

    async def _begun(self, body: Sequence[bytes], job_id: str) -> AuditStatus:
        self._queue.ensure_ready()
        if len(self._live) + self._starting >= MAX_HELD:
            raise QueueFullError(f"{MAX_HELD} audits run or wait", retry_after_s=RETRY_AFTER_S)
        self._starting += 1
        try:
            child = await ChildProcess.start(JOB_COMMAND)
            try:
                total = await self._read(child, body)
                status = AuditStatus(job_id=job_id, status="queued", total=total)
                there = await self.archive.begin(status)
            except BaseException:  # also where the call is cancelled: the process would outlive it
                await child.close()
                raise
            if there is not None:
                await child.close()
                return there
            self._live[job_id] = _Live(status, lambda live: self._follow(child, live))
        finally:
            self._starting -= 1
        # A task that is cancelled before its first step would never come to its end.
        await asyncio.sleep(0)
        return status

    async def _read(self, child: ChildProcess, body: Sequence[bytes]) -> int:
        """Return the number of runs that the request asks for."""
        try:
            setup = self._setup.model_dump_json().encode()
            outcome, names = await child.ask([setup, list(body)], 2, None)
            Outcome.model_validate_json(outcome).intake([])
            contents = await self._contents(json.loads(names))
            outcome, total = await child.ask(contents, 2, None)
            Outcome.model_validate_json(outcome).intake([])
        except WorkerLostError as error:
            raise NotReadyError(f"the request's reader {error}", retry_after_s=RETRY_AFTER_S) from error
        return int(total)

    async def _contents(self, names: list[str]) -> list[bytes]:
        found = {name: await self._problems.get(name) for name in names}
        missing = [name for name, content in found.items() if content is None]
        if missing:
            raise UnknownProblemError(missing)
        return [bytes(content.canonical) for content in found.values() if content is not None]

    async def _follow(self, child: ChildProcess, live: _Live) -> None:
        heart = asyncio.create_task(self._beat(live))
        try:
            async with self._turn:
                live.change(status="running")
                report, page = await self._carried_out(child, live)
            await self.archive.finish(live.as_finished(), report, page)
            live.change(status="finished")
        except WorkerLostError as error:
            live.change(status="failed", error=f"the audit's process {error}")
        except NotReadyError as error:
            live.change(status="failed", error=str(error))
        except asyncio.CancelledError:
            if live.is_cancelled:
                live.change(status="cancelled")
            else:
                live.change(status="failed", error="the service is stopping")
                raise
        except Exception:  # noqa: BLE001 -- nobody awaits this task: the log and the status are where it is seen
            self._log.exception("audit failed", job_id=live.job_id)
            live.change(status="failed", error="a fault of ours; the service's log tells it")
        finally:
            heart.cancel()
            await self._keep(live)
            del self._live[live.job_id]
            # Whatever it is at, nobody waits for it.
            await child.kill()

    async def _carried_out(self, child: ChildProcess, live: _Live) -> tuple[bytes, bytes]:
        """Let all programs be judged; return the report and its page."""
        feeding = Feeding(child, self._queue, live.job_id)
        await feeding.all(lambda finished: live.change(finished=finished))
        sandbox = json.dumps(self._queue.health().sandbox).encode()
        report, page = await child.ask([REPORT, sandbox], 2, None)
        return bytes(report), bytes(page)

    async def _beat(self, live: _Live) -> None:
        """Write the status down from time to time, and see whether another service was asked to end the audit."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self._keep(live)
            with suppress(NotReadyError):
                if await self.archive.asked_to_cancel(live.job_id):
                    live.cancel()

    async def _keep(self, live: _Live) -> None:
        try:
            await self.archive.write(live.status)
        except NotReadyError:
            # A full disk, or a Redis that is away, must not end an audit that runs.
            self._log.exception("the status of an audit cannot be written", job_id=live.job_id)


class _Live:
    """An audit of this service that has not ended."""

    def __init__(self, status: AuditStatus, follow: Callable[[_Live], Coroutine[Any, Any, None]]) -> None:
        self.status = status
        self.is_cancelled = False
        self.task: asyncio.Task[None] = asyncio.create_task(follow(self), name=f"audit {status.job_id}")

    @property
    def job_id(self) -> str:
        return self.status.job_id

    def change(self, **fields: Any) -> None:
        self.status = self.status.model_copy(update=fields)

    def as_finished(self) -> AuditStatus:
        return self.status.model_copy(update={"status": "finished"})

    def cancel(self) -> None:
        if not self.status.ended:
            self.is_cancelled = True
            self.task.cancel()

    async def cancelled(self) -> None:
        self.cancel()
        await asyncio.wait([self.task])
