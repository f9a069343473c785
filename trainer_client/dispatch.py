"""A batch over several requests and services: what is repeated, when, and what is given up.

Repeated is what cannot be judged twice by it: a request that never arrived, one that was turned away, one that
broke (under its Idempotency-Key where the service knows such keys; elsewhere only what is unanswered, whose first
run ends with its connection). A request that is merely slow is not. A submission over which the service itself
fails is tried apart from its neighbours and then given up, and so is everything at the deadline.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from trainer_client.endpoints import Endpoints
from trainer_client.transport import (
    AttemptError,
    BrokenError,
    FaultError,
    MissingError,
    StalledError,
    TooLargeError,
    Transport,
)
from trainer_client.work import Board, Item, Unit, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainer_client.config import ClientConfig
    from trainer_client.endpoints import Endpoint

# Tries of a request over which the service fails; each half of it then has as many.
MAX_FAULTS = 2
# Times that a service may lose the problems of one request before it counts as failing.
MAX_LOSSES = 5

_log = logging.getLogger(__name__)


class Dispatcher:
    """The client's work within one event loop."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._transport = Transport(config)
        self._endpoints = Endpoints(config.urls)
        self._slots = asyncio.Semaphore(config.concurrency)

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def run(self, items: Sequence[Item], board: Board, deadline_s: float) -> None:
        """Judge ``items`` within ``deadline_s`` seconds; what is unfinished then is IE on the ``board``.

        Raises:
            RefusedError: the service refuses a request; the others are cancelled.

        """
        tasks = [asyncio.ensure_future(self._unit(unit, board)) for unit in units_of(items, self._config)]
        try:
            done, _ = await asyncio.wait(tasks, timeout=deadline_s, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        board.give_up_rest(f"not finished within {deadline_s:.0f} s")

    async def _unit(self, unit: Unit, board: Board) -> None:
        async with self._slots:
            await self._judge(unit, board)

    async def _judge(self, unit: Unit, board: Board) -> None:
        faults = losses = 0
        while unit.items:
            endpoint = await self._endpoints.take()
            started_s = time.monotonic()
            try:
                with endpoint.used():
                    await self._attempt(endpoint, unit, board)
            except MissingError as error:
                losses += 1
                for identity in error.missing:
                    endpoint.problems.pop(identity, None)
                if losses >= MAX_LOSSES:
                    board.give_up(unit.items, str(error))
            except TooLargeError:
                await self._halve(unit, board)
                return
            except FaultError as error:
                faults += 1
                _note(unit, error)
                if faults >= MAX_FAULTS:
                    if len(unit.items) > 1:
                        await self._halve(unit, board)
                    else:
                        board.give_up(unit.items, str(error))
                    return
                await asyncio.sleep(self._config.first_backoff_s)
            except AttemptError as error:
                _note(unit, error)
                _log.info("%s; tried again", error)
                endpoint.failed(self._config, started_s, error.retry_after_s)
                if isinstance(error, BrokenError | StalledError) and not endpoint.keeps_problems:
                    unit = Unit(board.unanswered(unit))
                continue
            else:
                endpoint.succeeded()
            unit = Unit(board.unsettled(unit))

    async def _attempt(self, endpoint: Endpoint, unit: Unit, board: Board) -> None:
        try:
            await self._transport.judge(endpoint, unit, board.receive)
        except KeyError as error:
            raise FaultError(f"{endpoint.url} answered to {error}, which was not asked") from error
        missing = board.unanswered(unit)
        if missing:
            raise BrokenError(f"{endpoint.url} ended its answer with {len(missing)} judgements missing")

    async def _halve(self, unit: Unit, board: Board) -> None:
        for half in Unit(board.unsettled(unit)).halves():
            await self._judge(half, board)


def _note(unit: Unit, error: AttemptError) -> None:
    for item in unit.items:
        item.reason = str(error)
