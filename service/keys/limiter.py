"""How much each key is used: requests a second, with bursts of about one second's worth, and requests at a time."""

from __future__ import annotations

import math
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from service.errors import RateLimitedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from service.keys.ring import ApiKey

BUSY_RETRY_AFTER_S = 1.0


class Limiter(Protocol):
    """Counts the requests of keys."""

    def request(self, key: ApiKey) -> AbstractAsyncContextManager[None]:
        """Let a request run within the context.

        Raises:
            RateLimitedError: its key is used too much now.
            NotReadyError: nobody can tell.

        """
        ...

    async def close(self) -> None:
        """End what works in the background."""
        ...


def burst(requests_per_s: float) -> float:
    """Return how many requests may come at once."""
    return max(1.0, math.ceil(requests_per_s))


def too_fast(key: ApiKey, retry_after_s: float) -> RateLimitedError:
    """Return the error of a key whose requests come too fast."""
    return RateLimitedError(
        f"key {key.name!r} may be used {key.requests_per_s:g} times a second", retry_after_s=retry_after_s
    )


def too_many(key: ApiKey) -> RateLimitedError:
    """Return the error of a key with too many requests at a time."""
    return RateLimitedError(
        f"key {key.name!r} may have {key.concurrent_requests} requests at a time",
        retry_after_s=BUSY_RETRY_AFTER_S,
    )


class MemoryLimiter:
    """Counts in this process."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[float, float]] = {}
        self._running: dict[str, int] = {}

    @asynccontextmanager
    async def request(self, key: ApiKey) -> AsyncIterator[None]:
        """Let a request run within the context."""
        running = self._running.get(key.name, 0)
        if key.concurrent_requests is not None and running >= key.concurrent_requests:
            raise too_many(key)
        if key.requests_per_s is not None:
            self._take(key, key.requests_per_s)
        self._running[key.name] = running + 1
        try:
            yield
        finally:
            self._running[key.name] -= 1

    async def close(self) -> None:
        """Nothing works in the background."""

    def _take(self, key: ApiKey, rate: float) -> None:
        now_s = time.monotonic()
        tokens, then_s = self._tokens.get(key.name, (burst(rate), now_s))
        tokens = min(burst(rate), tokens + (now_s - then_s) * rate)
        if tokens < 1:
            self._tokens[key.name] = tokens, now_s
            raise too_fast(key, (1 - tokens) / rate)
        self._tokens[key.name] = tokens - 1, now_s
