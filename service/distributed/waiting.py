"""Who waits in this process for judgements out of Redis: a service that stops waits for them, or tells them."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from service.errors import NotReadyError


class Waiting(Protocol):
    """Somebody in this process who waits for judgements."""

    def fail(self, error: NotReadyError) -> None:
        """Tell them that they need not wait any longer."""
        ...


class WaitingRoom:
    """All of them."""

    def __init__(self) -> None:
        self._present: set[Waiting] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self._told: NotReadyError | None = None

    def enter(self, one: Waiting) -> None:
        """Be waited for, and told: at once, where all have been told already."""
        self._present.add(one)
        self._empty.clear()
        if self._told is not None:
            one.fail(self._told)

    def leave(self, one: Waiting) -> None:
        """Be waited for no longer. Harmless the second time."""
        self._present.discard(one)
        if not self._present:
            self._empty.set()

    @contextmanager
    def admitting(self) -> Iterator[None]:
        """Have what is done within waited for."""
        one = _Admitted()
        self.enter(one)
        try:
            yield
        finally:
            self.leave(one)

    async def emptied(self) -> None:
        """Wait until nobody is here."""
        # Whoever was admitted may have entered again, to listen, before this is awake.
        while self._present:
            await self._empty.wait()

    def tell(self, error: NotReadyError) -> list[Waiting]:
        """Tell all who are here, or enter later, that they need not wait any longer; return those who are here."""
        self._told = error
        told = list(self._present)
        for one in told:
            one.fail(error)
        return told


class _Admitted:
    """A request that is being admitted, to the end: its job may be asked for elsewhere."""

    def fail(self, error: NotReadyError) -> None:
        """Go on."""
