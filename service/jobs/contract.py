"""What the HTTP side needs of jobs, wherever they are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.intake import Intake
    from service.queue.ticket import Judged
    from service.wire import JobStatus


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is; ``judged`` in the order of the request."""

    status: JobStatus
    total: int
    judged: list[Judged]
    message: str | None = None


class Following(Protocol):
    """The judgements of a job for one who listens; a service that stops waits for them until they :meth:`cancel`."""

    def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement, from the first, as it is ready.

        Raises:
            NotReadyError: the rest will not be judged.

        """
        ...

    def cancel(self) -> None:
        """Listen no longer; the job goes on."""
        ...


class Job(Protocol):
    """A request that is judged whether or not somebody listens."""

    @property
    def id(self) -> str:
        """Return its name."""
        ...

    @property
    def failed(self) -> bool:
        """Return whether nothing more will come of it, so that whoever repeats its call has to begin anew."""
        ...

    async def progress(self) -> Progress:
        """Return how far it is."""
        ...

    def follow(self) -> Following:
        """Begin to listen."""
        ...

    async def cancel(self) -> None:
        """End what runs and drop what waits; does nothing to a job that has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Claim:
    """Which job answers for an idempotency key, and the digest of the body that the job was made from."""

    job_id: str
    digest: str


class Jobs(Protocol):
    """All jobs, kept for a limited time after their last judgement."""

    async def begin(self, job_id: str, intake: Intake, request_id: str) -> Job:
        """Let a request's submissions wait for their turn, or return the job where it has begun already.

        Raises:
            NotReadyError: nothing can be judged now.
            QueueFullError: too much is held already.

        """
        ...

    async def find(self, job_id: str) -> Job | None:
        """Return the job, or None where there is none, or none any longer."""
        ...

    async def claim(self, key: str, claim: Claim) -> Claim:
        """Let ``claim`` hold for ``key``, unless another one does; return the one that holds."""
        ...

    async def disclaim(self, key: str) -> None:
        """Let nothing hold for ``key``."""
        ...
