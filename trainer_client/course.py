"""The way of one request through the services: what is repeated, when, and what is given up.

Repeated is what cannot be judged twice by it: a request that never arrived, one that was turned away, one that
broke (under its Idempotency-Key where the service knows such keys; elsewhere only what is unsettled, whose first
run ends with its connection). A request that is merely slow is not. A submission over which the service itself
fails is tried apart from its neighbours and then given up; so is everything at the deadline, which cancels this.
A job that nobody will ask about any more is ended at its service.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from trainer_client.attempt_errors import (
    AttemptError,
    BrokenError,
    BusyError,
    FaultError,
    MissingError,
    StalledError,
    TooLargeError,
)
from trainer_client.work import Board, Unit

if TYPE_CHECKING:
    from trainer_client.config import ClientConfig
    from trainer_client.endpoints import Endpoint, Endpoints
    from trainer_client.transport import Transport

# Tries of a request over which the service fails; each half of it then has as many.
MAX_FAULTS = 2
# Tries under one Idempotency-Key without a new judgement: the job behind the key has failed for good.
MAX_REPEATS = 5
# Times that a service may lose the problems of one request before it counts as failing.
MAX_LOSSES = 5

_log = logging.getLogger(__name__)


class Course:
    """Gets one unit judged."""

    def __init__(
        self, config: ClientConfig, transport: Transport, endpoints: Endpoints, board: Board
    ) -> None:
        self._config = config
        self._transport = transport
        self._endpoints = endpoints
        self._board = board
        self._faults = 0
        self._repeats = 0
        self._losses = 0
        # Jobs that requests have become and whose answers have not come to their ends.
        self._jobs: set[str] = set()

    async def run(self, unit: Unit) -> None:
        """Return when every item of ``unit`` is settled.

        Raises:
            RefusedError: the service refuses it.

        """
        try:
            while unit.items:
                unit = await self._step(unit)
        finally:
            # Given up, or judged elsewhere: behind its key a job would go on.
            self._transport.endings.of(self._jobs)

    async def _step(self, unit: Unit) -> Unit:
        """Make one attempt and return what is left."""
        endpoint = await self._endpoints.take()
        started_s, unanswered = time.monotonic(), len(self._board.unanswered(unit))
        try:
            await self._attempt(endpoint, unit)
        except MissingError as error:
            return self._after_loss(endpoint, unit, error)
        except TooLargeError as error:
            return await self._apart(unit, error)
        except FaultError as error:
            return await self._after_fault(unit, error)
        except AttemptError as error:
            _log.info("%s; tried again", error)
            unit.note(str(error))
            endpoint.failed(self._config, started_s, error.retry_after_s)
            endpoint.silent = not isinstance(error, BusyError)
            if not isinstance(error, BrokenError | StalledError):
                return unit
            if endpoint.keeps_problems and not self._failed_for_good(unit, unanswered, error):
                return unit
        else:
            endpoint.succeeded()
        return Unit(self._board.unsettled(unit))

    def _failed_for_good(self, unit: Unit, unanswered: int, error: AttemptError) -> bool:
        """Tell whether the answer keeps breaking off where it did. Silence is no sign of that: its job goes on."""
        if isinstance(error, BrokenError):
            progress = len(self._board.unanswered(unit)) < unanswered
            self._repeats = 0 if progress else self._repeats + 1
        failed = self._repeats >= MAX_REPEATS
        if failed:
            self._repeats = 0
        return failed

    async def _attempt(self, endpoint: Endpoint, unit: Unit) -> None:
        with endpoint.used():
            if endpoint.silent:
                await self._transport.probe(endpoint)
            await self._transport.judge(endpoint, unit, self._board.receive, self._jobs)
        missing = len(self._board.unanswered(unit))
        if missing:
            raise BrokenError(f"{endpoint.url} ended its answer with {missing} judgements missing")

    def _after_loss(self, endpoint: Endpoint, unit: Unit, error: MissingError) -> Unit:
        for identity in error.missing:
            endpoint.problems.pop(identity, None)
        self._losses += 1
        if self._losses >= MAX_LOSSES:
            self._board.give_up(unit.items, str(error))
        return Unit(self._board.unsettled(unit))

    async def _after_fault(self, unit: Unit, error: FaultError) -> Unit:
        unit.note(str(error))
        self._faults += 1
        left = Unit(self._board.unsettled(unit))
        if self._faults < MAX_FAULTS:
            await asyncio.sleep(self._config.first_backoff_s)
            return left
        return await self._apart(left, error)

    async def _apart(self, unit: Unit, error: AttemptError) -> Unit:
        """Have each half judged by itself; what is the only one left is given up."""
        if len(unit.items) > 1:
            for half in Unit(self._board.unsettled(unit)).halves():
                await Course(self._config, self._transport, self._endpoints, self._board).run(half)
        else:
            self._board.give_up(unit.items, str(error))
        return Unit(())
