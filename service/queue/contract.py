"""What the HTTP side needs of a queue, wherever its workers are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.intake import Intake
    from service.queue.backlog import Backlog
    from service.queue.health import Health
    from service.queue.ticket import Judged


class Listening(Protocol):
    """The judgements of one request, as they are ready."""

    def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement, once.

        Raises:
            NotReadyError: the rest will not be judged.

        """
        ...

    def cancel(self) -> None:
        """Listen no longer. Harmless when everything has been judged."""
        ...

    def give_up(self, message: str) -> list[Judged]:
        """Cancel the rest; return an IE for each, for an answer that has begun already."""
        ...


class Queue(Protocol):
    """Runs on one event loop. Start it, submit to it, drain it, close it."""

    @property
    def backlog(self) -> Backlog:
        """Return the count of what this process holds."""
        ...

    def start(self) -> None:
        """Start what works in the background."""
        ...

    async def wait_started(self) -> None:
        """Wait until it is known whether submissions can be judged; :meth:`health` tells."""
        ...

    def health(self) -> Health:
        """Return the state of the queue."""
        ...

    def ensure_ready(self) -> None:
        """Check that submissions can be judged now.

        Raises:
            NotReadyError: they cannot.

        """
        ...

    async def submit(self, intake: Intake, request_id: str) -> Listening:
        """Let a request's submissions wait for their turn.

        Raises:
            NotReadyError: nothing can be judged now.
            QueueFullError: too much is held already.

        """
        ...

    async def drain(self, timeout_s: float) -> bool:
        """Admit nothing more and wait for what is held; return whether all of it was finished in time."""
        ...

    async def close(self) -> None:
        """End it; requests that still wait are told so."""
        ...
