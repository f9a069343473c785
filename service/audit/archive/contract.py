"""What the HTTP side needs of an archive of audits, wherever it is.

Several services may share an archive: whoever is asked answers for all. A status is written anew while its audit
lives, so that one whose service died is told from one that runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel

AuditState = Literal["queued", "running", "finished", "failed", "cancelled"]
ReportKind = Literal["json", "html"]

ENDED: frozenset[AuditState] = frozenset({"finished", "failed", "cancelled"})
HEARTBEAT_S = 5.0
DEAD_AFTER_S = 60.0


class AuditStatus(BaseModel):
    """How far an audit is: ``finished`` of ``total`` runs; ``error`` is why it failed."""

    job_id: str
    status: AuditState
    total: int = 0
    finished: int = 0
    error: str | None = None

    @property
    def ended(self) -> bool:
        """Return whether nothing more will come of it."""
        return self.status in ENDED

    def orphaned(self) -> AuditStatus:
        """Return the status of an audit that has not ended, and whose service is no longer there."""
        return self.model_copy(update={"status": "failed", "error": "the service that ran it has ended"})


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much is kept: the latest ``audits``, ``size_bytes`` of them, none longer than ``ttl_s``.

    The audit that ended last stays, whatever its size, and so do those that run.
    """

    audits: int
    size_bytes: int
    ttl_s: float


class Archive(Protocol):
    """Audits by their ids. Every method but :meth:`close` may raise NotReadyError: the archive cannot be used."""

    async def begin(self, status: AuditStatus) -> AuditStatus | None:
        """Keep the status of a new audit; where there is one with its id already, return that instead."""
        ...

    async def write(self, status: AuditStatus) -> None:
        """Keep a status, in one step: readers see the old or the new one. It also says that the audit lives."""
        ...

    async def finish(self, status: AuditStatus, report: bytes, page: bytes) -> None:
        """Keep the report of an audit and its last status, and drop what is beyond the bounds."""
        ...

    async def status(self, job_id: str) -> AuditStatus | None:
        """Return the status of an audit, or None where there is no such, or none any longer."""
        ...

    async def report(self, job_id: str, kind: ReportKind) -> bytes | None:
        """Return a report, or None where there is none, or none any longer."""
        ...

    async def ask_to_cancel(self, job_id: str) -> None:
        """Ask whichever service runs an audit to end it."""
        ...

    async def asked_to_cancel(self, job_id: str) -> bool:
        """Return whether somebody asked for the end of an audit."""
        ...

    async def close(self) -> None:
        """End it."""
        ...
