"""Judgements on their way into Redis: together where that saves time, and not lost while Redis is away."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog
from redis.exceptions import RedisError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from service.distributed.batches import Batches, Outcome

# A judgement waits this long for others at most: nobody notices it, and 50 publications a second cost little.
GATHER_S = 0.02
RETRY_S = 0.5
# How long a worker keeps what it cannot publish. Then RQ has given its job to another, or has no job any longer.
PATIENCE_S = 600.0


class Outbox:
    """The judgements of one chunk. Publish with :meth:`put`, and end with :meth:`flush`."""

    def __init__(self, batches: Batches, batch_id: str) -> None:
        self._batches = batches
        self._batch_id = batch_id
        self._waiting: list[Outcome] = []
        self._since_s = 0.0
        self.wanted = True

    def put(self, outcome: Outcome) -> None:
        """Let a judgement be published soon."""
        if not self._waiting:
            self._since_s = time.monotonic()
        self._waiting.append(outcome)

    @property
    def due_in_s(self) -> float | None:
        """Return after how long something has to be published; None where nothing waits."""
        return max(0.0, self._since_s + GATHER_S - time.monotonic()) if self._waiting else None

    async def flush(self) -> None:
        """Publish what waits, when Redis is back where it is away.

        Raises:
            RedisError: it is away for too long.

        """
        if self._waiting:
            outcomes, self._waiting = self._waiting, []
            self.wanted = await patiently(lambda: self._batches.publish(self._batch_id, outcomes))


async def patiently[T](ask: Callable[[], Awaitable[T]]) -> T:
    """Return the answer of Redis, when it is back where it is away.

    Raises:
        RedisError: it is away for longer than ``PATIENCE_S``.

    """
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            return await ask()
        except RedisError as error:
            if time.monotonic() > deadline_s:
                raise
            structlog.stdlib.get_logger("service.distributed").warning("waiting for redis", error=str(error))
            await asyncio.sleep(RETRY_S)
