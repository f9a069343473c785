"""The audits of one service: one runs at a time, a few wait, and what they found is kept in a store."""

from __future__ import annotations

import asyncio
import tempfile
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from service.errors import NotReadyError, QueueFullError, WorkerLostError
from service.http.audits.job import JOB_COMMAND, Progress, Setup
from service.http.audits.store import HEARTBEAT_S, JobStatus, ReportStore
from service.http.reader import Outcome
from service.processes.process import ChildProcess

if TYPE_CHECKING:
    from service.intake import Rules
    from service.settings import Settings

# Each holds its items in a process of its own.
MAX_HELD = 4
RETRY_AFTER_S = 30.0
JUDGING = ("sandbox", "docker_image", "python", "workers", "isolation", "log_level", "log_format")


class Audits:
    """Starts audits and tells about them. Close it before the event loop ends."""

    def __init__(self, settings: Settings, rules: Rules) -> None:
        self._stack = ExitStack()
        self._folder = settings.audit_dir
        self._kept = settings.audit_reports
        self._setup = Setup(settings=settings.model_dump(mode="json", include=_lent(settings)), rules=rules)
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = 0
        self._live: dict[str, _Live] = {}
        self._log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("service.audit")

    @property
    def store(self) -> ReportStore:
        """Return where reports are; a folder of its own is made when first needed."""
        if self._folder is None:
            made = tempfile.TemporaryDirectory(prefix="microcoder-audits-")
            self._folder = Path(self._stack.enter_context(made))
        return ReportStore(self._folder, self._kept)

    async def start(self, body: list[bytes]) -> JobStatus:
        """Validate a request and let it wait for its turn.

        Raises:
            ClientError: as :func:`~service.http.audits.request.read_request` does.
            QueueFullError: too many are held already.
            NotReadyError: the process that reads the request died.

        """
        if len(self._tasks) + self._starting >= MAX_HELD:
            raise QueueFullError(f"{MAX_HELD} audits run or wait", retry_after_s=RETRY_AFTER_S)
        self._starting += 1
        try:
            child = await ChildProcess.start(JOB_COMMAND)
            total = await self._read(child, body)
        finally:
            self._starting -= 1
        status = JobStatus(job_id=uuid.uuid4().hex, status="queued", total=total)
        self._keep(status)
        task = asyncio.create_task(self._follow(child, status))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return status

    async def close(self) -> None:
        """End all audits."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._stack.close()

    async def _read(self, child: ChildProcess, body: list[bytes]) -> int:
        try:
            setup = self._setup.model_dump_json().encode()
            outcome, total = await child.ask([setup, body], 2, None)
            Outcome.model_validate_json(outcome).intake([])
        except WorkerLostError as error:
            raise NotReadyError(f"the request's reader {error}", retry_after_s=RETRY_AFTER_S) from error
        except BaseException:
            await child.close()
            raise
        return int(total)

    async def _follow(self, child: ChildProcess, status: JobStatus) -> None:
        live = self._live[status.job_id] = _Live(status)
        heart = asyncio.create_task(self._beat(live))
        try:
            async with self._turn:
                live.change(status="running")
                await self._record(child, live)
        except WorkerLostError as error:
            live.change(status="failed", error=f"the audit's process {error}")
        except asyncio.CancelledError:
            live.change(status="failed", error="the service is stopping")
            raise
        except Exception:  # noqa: BLE001 -- nobody awaits this task: the log and the status are where it is seen
            self._log.exception("audit failed", job_id=status.job_id)
            live.change(status="failed", error="a fault of ours; the service's log tells it")
        finally:
            heart.cancel()
            self._keep(live.status)
            del self._live[status.job_id]
            await child.close()

    async def _record(self, child: ChildProcess, live: _Live) -> None:
        """Let the audit run, note its progress, and keep its report."""
        await child.tell([b""])
        while True:
            progress = Progress.model_validate_json(await child.read())
            if progress.error:
                live.change(status="failed", error=progress.error)
                return
            live.change(finished=progress.finished, total=progress.total)
            if progress.done:
                report, page = await child.read(), await child.read()
                await asyncio.to_thread(
                    self.store.write_report, live.status.job_id, bytes(report), bytes(page)
                )
                live.change(status="finished")
                return

    async def _beat(self, live: _Live) -> None:
        """Write the status down from time to time, for other services on the same folder."""
        while True:
            self._keep(live.status)
            await asyncio.sleep(HEARTBEAT_S)

    def _keep(self, status: JobStatus) -> None:
        try:
            self.store.write_status(status)
        except OSError:
            # A full disk must not end an audit that runs.
            self._log.exception("the status of an audit cannot be written", job_id=status.job_id)

    def status(self, job_id: str) -> JobStatus | None:
        """Return how far an audit is; None where there is no such."""
        live = self._live.get(job_id)
        return self.store.status(job_id) if live is None else live.status


def _lent(settings: Settings) -> set[str]:
    """Return the settings that judging needs: neither keys nor what concerns clients."""
    return {
        name
        for name in type(settings).model_fields
        if name in JUDGING or name.startswith(("default_", "max_"))
    }


class _Live:
    """An audit of this service that has not ended."""

    def __init__(self, status: JobStatus) -> None:
        self.status = status

    def change(self, **fields: Any) -> None:
        self.status = self.status.model_copy(update=fields)
