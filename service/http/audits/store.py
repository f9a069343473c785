"""Reports on disk, one folder each: ``status.json``, and at the end ``report.json`` and ``report.html``.

Several services may share the folder: whoever is asked reads what is there. A status is written anew while its audit
lives, so that one whose service died is told from one that runs.
"""

from __future__ import annotations

import re
import shutil
import time
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from pathlib import Path

Status = Literal["queued", "running", "finished", "failed"]
HEARTBEAT_S = 5.0
DEAD_AFTER_S = 60.0
_ID = re.compile(r"[0-9a-f]{32}")
_ENDED = ("finished", "failed")


class JobStatus(BaseModel):
    """How far an audit is: ``finished`` of ``total`` runs; ``error`` is why it failed."""

    job_id: str
    status: Status
    total: int = 0
    finished: int = 0
    error: str | None = None


class ReportStore:
    """Keeps the latest ``kept`` reports below ``folder``."""

    def __init__(self, folder: Path, kept: int) -> None:
        self._folder = folder
        self._kept = kept

    def write_status(self, status: JobStatus) -> None:
        """Keep a status, in one step: readers see the old or the new one."""
        self._replace(status.job_id, "status.json", status.model_dump_json().encode())

    def write_report(self, job_id: str, report: bytes, page: bytes) -> None:
        """Keep a report, and drop the oldest beyond ``kept``."""
        self._replace(job_id, "report.json", report)
        self._replace(job_id, "report.html", page)
        self._forget_oldest()

    def status(self, job_id: str) -> JobStatus | None:
        """Return the status of an audit; None where there is no such."""
        if not _ID.fullmatch(job_id):
            return None
        file = self._folder / job_id / "status.json"
        try:
            status = JobStatus.model_validate_json(file.read_bytes())
            age_s = time.time() - file.stat().st_mtime
        except (OSError, ValidationError):
            return None
        if status.status not in _ENDED and age_s > DEAD_AFTER_S:
            return status.model_copy(
                update={"status": "failed", "error": "the service that ran it has ended"}
            )
        return status

    def report(self, job_id: str, kind: Literal["json", "html"]) -> bytes | None:
        """Return a report; None where there is none or it was dropped."""
        if not _ID.fullmatch(job_id):
            return None
        try:
            return (self._folder / job_id / f"report.{kind}").read_bytes()
        except OSError:
            return None

    def _replace(self, job_id: str, name: str, content: bytes) -> None:
        folder = self._folder / job_id
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f".{name}"
        fresh.write_bytes(content)
        fresh.replace(folder / name)

    def _forget_oldest(self) -> None:
        reports = [file for file in self._folder.glob("*/report.json") if _ID.fullmatch(file.parent.name)]
        reports.sort(key=lambda file: file.stat().st_mtime)
        for file in reports[: max(0, len(reports) - self._kept)]:
            shutil.rmtree(file.parent, ignore_errors=True)
