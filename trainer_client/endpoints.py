"""The services that a client may use: which one is next, and how long a failing one rests."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainer_client.config import ClientConfig

# Added to what a service asks for, so that its clients do not all come back at once.
RETRY_AFTER_JITTER = 0.25


@dataclass(slots=True)
class StoredProblem:
    """A problem's place in a service's store; whoever holds the lock uploads it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    done: bool = False


@dataclass(slots=True)
class Endpoint:
    """One service, as this process and event loop have come to know it."""

    url: str
    keeps_problems: bool | None = None
    """Whether it has ``/problems``; None: not asked yet. Services without are older than Idempotency-Key too."""
    problems: dict[str, StoredProblem] = field(default_factory=dict)
    first_upload: asyncio.Lock = field(default_factory=asyncio.Lock)
    in_flight: int = 0
    failures: int = 0
    rests_until_s: float = 0.0
    silent: bool = False
    """Whether the last request got no answer: then the next one is a short question whether anybody is there."""
    _failed_s: float = 0.0

    @contextmanager
    def used(self) -> Iterator[None]:
        """Count a request while it is under way."""
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    def succeeded(self) -> None:
        """Note that it answers again."""
        self.failures = 0

    def failed(self, config: ClientConfig, started_s: float, retry_after_s: float | None) -> None:
        """Let it rest: as long as it asked for, else twice as long as the last time.

        Requests that were under way together fail together, which is one failure: those that ``started_s`` before
        the latest one do not add to it.
        """
        now_s = time.monotonic()
        if started_s >= self._failed_s:
            self.failures += 1
            self._failed_s = now_s
        if retry_after_s is None:
            ceiling_s = min(config.first_backoff_s * 2.0 ** min(self.failures - 1, 30), config.max_backoff_s)
            rest_s = random.uniform(0.5, 1.0) * ceiling_s  # noqa: S311 -- spreads load, guards nothing
        else:
            rest_s = retry_after_s * random.uniform(1.0, 1.0 + RETRY_AFTER_JITTER)  # noqa: S311 -- the same
        self.rests_until_s = max(self.rests_until_s, now_s + rest_s)


class Endpoints:
    """Chooses among the services."""

    def __init__(self, urls: tuple[str, ...]) -> None:
        self._all = [Endpoint(url) for url in urls]

    async def take(self) -> Endpoint:
        """Return the least used service that does not rest; waits while all do."""
        while True:
            now_s = time.monotonic()
            awake = [one for one in self._all if one.rests_until_s <= now_s]
            if awake:
                return min(awake, key=lambda one: (one.in_flight, random.random()))  # noqa: S311 -- breaks ties
            await asyncio.sleep(min(one.rests_until_s for one in self._all) - now_s)
