"""An archive on disk, a folder for each audit: ``status.json``, at the end ``report.json`` and ``report.html``.

An empty file ``cancel`` beside them asks for the audit's end.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from service.audit.archive.contract import DEAD_AFTER_S, AuditStatus
from service.errors import NotReadyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from service.audit.archive.contract import Keeping, ReportKind

RETRY_AFTER_S = 30.0
_ID = re.compile(r"[0-9a-f]{32}")
_STATUS, _CANCEL = "status.json", "cancel"


class FolderArchive:
    """Audits below ``folder``; without one, in a folder of its own, from the first audit until it is closed."""

    def __init__(self, folder: Path | None, keeping: Keeping) -> None:
        self._is_own = folder is None
        self._folder = folder or Path(tempfile.gettempdir()) / f"microcoder-audits-{uuid.uuid4().hex}"
        self._keeping = keeping

    async def begin(self, status: AuditStatus) -> AuditStatus | None:
        """Keep the status of a new audit, or return the one that is there."""

        def begun() -> AuditStatus | None:
            self._make_own()
            try:
                (self._folder / status.job_id).mkdir(parents=True)
            except FileExistsError:
                # Whoever made the folder may not have come as far as its status.
                return self._status(status.job_id) or status
            self._write(status)
            self._forget(status.job_id)
            return None

        return await self._done(begun)

    async def write(self, status: AuditStatus) -> None:
        """Keep a status."""
        await self._done(lambda: self._write(status))

    async def finish(self, status: AuditStatus, report: bytes, page: bytes) -> None:
        """Keep a report and the last status, and drop what is beyond the bounds."""

        def finished() -> None:
            self._replace(status.job_id, "report.json", report)
            self._replace(status.job_id, "report.html", page)
            self._write(status)
            self._forget(status.job_id)

        await self._done(finished)

    async def status(self, job_id: str) -> AuditStatus | None:
        """Return the status of an audit."""
        return await self._done(lambda: self._status(job_id))

    async def report(self, job_id: str, kind: ReportKind) -> bytes | None:
        """Return a report."""

        def read() -> bytes | None:
            try:
                return (self._folder / job_id / f"report.{kind}").read_bytes()
            except FileNotFoundError:
                return None

        return await self._done(read) if _ID.fullmatch(job_id) else None

    async def ask_to_cancel(self, job_id: str) -> None:
        """Ask whichever service runs an audit to end it."""

        def ask() -> None:
            if (self._folder / job_id).is_dir():
                (self._folder / job_id / _CANCEL).touch()

        if _ID.fullmatch(job_id):
            await self._done(ask)

    async def asked_to_cancel(self, job_id: str) -> bool:
        """Return whether somebody asked for the end of an audit."""
        return await self._done((self._folder / job_id / _CANCEL).exists)

    async def close(self) -> None:
        """Drop a folder of its own."""
        if self._is_own:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _done[T](self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            raise NotReadyError(
                f"the folder of audits cannot be used: {error.strerror}", retry_after_s=RETRY_AFTER_S
            ) from error

    def _status(self, job_id: str) -> AuditStatus | None:
        if not _ID.fullmatch(job_id):
            return None
        file = self._folder / job_id / _STATUS
        try:
            status = AuditStatus.model_validate_json(file.read_bytes())
            age_s = time.time() - file.stat().st_mtime
        except (FileNotFoundError, ValidationError):
            return None
        if status.ended:
            return status if age_s <= self._keeping.ttl_s else None
        return status.orphaned() if age_s > DEAD_AFTER_S else status

    def _make_own(self) -> None:
        if self._is_own:
            # Nobody else on this machine is to read it.
            self._folder.mkdir(mode=0o700, exist_ok=True)

    def _write(self, status: AuditStatus) -> None:
        self._replace(status.job_id, _STATUS, status.model_dump_json().encode())

    def _replace(self, job_id: str, name: str, content: bytes) -> None:
        self._make_own()
        folder = self._folder / job_id
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f".{name}"
        fresh.write_bytes(content)
        fresh.replace(folder / name)

    def _forget(self, latest: str) -> None:
        """Drop the oldest audits that have ended, beyond the bounds; ``latest`` stays."""
        now_s = time.time()
        size_bytes = 0
        for kept, (ended_s, folder) in enumerate(sorted(self._ended(), reverse=True), start=1):
            size_bytes += _size_bytes(folder)
            within = kept <= self._keeping.audits and size_bytes <= self._keeping.size_bytes
            if folder.name != latest and not (within and now_s - ended_s <= self._keeping.ttl_s):
                shutil.rmtree(folder, ignore_errors=True)

    def _ended(self) -> Iterator[tuple[float, Path]]:
        """Yield when audits have ended, and their folders."""
        for file in self._folder.glob(f"*/{_STATUS}"):
            if not _ID.fullmatch(file.parent.name):
                continue
            # Another service may be dropping it at this moment.
            with suppress(FileNotFoundError):
                status = self._status(file.parent.name)
                # One without a status that is still good has expired.
                if status is None or status.ended:
                    yield file.stat().st_mtime, file.parent


def _size_bytes(folder: Path) -> int:
    size_bytes = 0
    with suppress(FileNotFoundError):
        for file in folder.iterdir():
            size_bytes += file.stat().st_size
    return size_bytes
