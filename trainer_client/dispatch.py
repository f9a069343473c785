"""A batch over several requests and services, within one deadline."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trainer_client.course import Course
from trainer_client.endpoints import Endpoints
from trainer_client.errors import ClosedError
from trainer_client.transport import Transport
from trainer_client.work import Board, Item, Unit, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainer_client.config import ClientConfig


class Dispatcher:
    """The client's work within one event loop."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._transport = Transport(config)
        self._endpoints = Endpoints(config.urls)
        self._slots = asyncio.Semaphore(config.concurrency)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def close(self) -> None:
        """End what is under way, which raises ClosedError there, and close the connections."""
        self._closed = True
        await self._ended(list(self._tasks))
        await self._transport.close()

    async def run(self, items: Sequence[Item], board: Board, deadline_s: float) -> None:
        """Judge ``items`` within ``deadline_s`` seconds; what is unfinished then is IE on the ``board``.

        Raises:
            RefusedError: the service refuses a request; the others are cancelled.
            ClosedError: the client was closed.

        """
        tasks = [asyncio.ensure_future(self._unit(unit, board)) for unit in units_of(items, self._config)]
        self._tasks.update(tasks)
        try:
            done, _ = await asyncio.wait(tasks, timeout=deadline_s, return_when=asyncio.FIRST_EXCEPTION)
            if self._closed:
                raise ClosedError("this client was closed during the call")
            for task in done:
                task.result()
        finally:
            await self._ended(tasks)
            self._tasks.difference_update(tasks)
        board.give_up_rest(f"not finished within {deadline_s:g} s")

    async def _ended(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.endings.done()

    async def _unit(self, unit: Unit, board: Board) -> None:
        async with self._slots:
            await Course(self._config, self._transport, self._endpoints, board).run(unit)
