"""Hears of judgements as they are published: one connection of an API process for all its batches."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog
from redis.exceptions import RedisError

from service.distributed import keys
from service.distributed.batches import Measured
from service.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis.asyncio import Redis

    from service.metrics import Meters
    from service.queue.backlog import Backlog

RETRY_S = 0.5
OWN_TTL_S = 86400.0
# In batches, not in bytes: each of them counts for one.
OWN_BATCHES = 1 << 20


class Listener:
    """Wakes whoever waits for a batch, and counts the judgements of batches that this process admitted."""

    def __init__(self, redis: Redis, meters: Meters, backlog: Backlog) -> None:
        self._redis = redis
        self._meters = meters
        self._backlog = backlog
        self._waiting: dict[str, list[asyncio.Event]] = {}
        # How many judgements of batches that this process admitted are still to be counted. Publications can be
        # missed while a connection is renewed, so that not all of them come.
        self._own: Kept[int] = Kept(OWN_BATCHES, OWN_TTL_S)

    def own(self, batch_id: str, submissions: int) -> None:
        """Count the judgements of this batch."""
        self._own.put(batch_id, submissions, 1)

    def disown(self, batch_id: str) -> None:
        """Count no more judgements of this batch."""
        self._own.pop(batch_id)

    @contextmanager
    def awaited(self, batch_id: str) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever something has been published for a batch."""
        event = asyncio.Event()
        waiting = self._waiting.setdefault(batch_id, [])
        waiting.append(event)
        try:
            yield event
        finally:
            waiting.remove(event)
            if not waiting:
                self._waiting.pop(batch_id, None)

    def wake(self, batch_id: str) -> None:
        """Let whoever waits for a batch look again."""
        for waiting in self._waiting.get(batch_id, ()):
            waiting.set()

    async def run(self) -> None:
        """Listen until cancelled; what was missed while Redis was away is looked up by those who wait."""
        log = structlog.stdlib.get_logger("service.distributed")
        trouble = ""
        while True:
            try:
                async with self._redis.pubsub(ignore_subscribe_messages=True) as pubsub:
                    await pubsub.subscribe(keys.EVENTS)
                    self._wake_all()
                    trouble = ""
                    while True:
                        message = await pubsub.get_message(timeout=5.0)
                        if message is not None:
                            try:
                                self._heard(message["data"])
                            except (ValueError, KeyError, TypeError, AttributeError) as error:
                                # Nobody else's publication may end this: whoever waits looks by itself.
                                log.warning("event not understood", error=repr(error))
            except (RedisError, OSError) as error:
                # Once an outage; it may be long.
                if str(error) != trouble:
                    trouble = str(error)
                    log.warning("not listening to redis", error=trouble)
                await asyncio.sleep(RETRY_S)

    def _heard(self, data: bytes) -> None:
        text, _, accepted = data.partition(b"\n")
        event: dict[str, Any] = json.loads(text)
        batch_id = event["batch"]
        self.wake(batch_id)
        for index in accepted.decode().split():
            # Whoever admitted it: the rate is the whole queue's.
            self._backlog.judged()
            left = self._own.get(batch_id)
            if left is not None:
                self._count(Measured.model_validate(event["measured"][index]))
                self._own.pop(batch_id)
                if left > 1:
                    self._own.put(batch_id, left - 1, 1)

    def _count(self, measured: Measured) -> None:
        if measured.cached:
            self._meters.given_again(measured.verdict, measured.language)
        else:
            self._meters.judged(measured.verdict, measured.language, measured.judging_s, measured.queue_s)

    def _wake_all(self) -> None:
        for waiting in self._waiting.values():
            for event in waiting:
                event.set()
