"""Connections to Redis, and its failures as errors of this service."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import OutOfMemoryError, RedisError
from redis.retry import Retry

from service.errors import NotReadyError

if TYPE_CHECKING:
    from collections.abc import Iterator

SOCKET_TIMEOUT_S = 10.0
CONNECT_TIMEOUT_S = 3.0
HEALTH_CHECK_S = 30
# One connection would do but for large values, behind which small ones would wait.
MAX_CONNECTIONS = 32
# Longer than a connection can be in vain.
TURN_TIMEOUT_S = 30.0
RETRY_AFTER_S = 2.0
FULL_RETRY_AFTER_S = 10.0
# One more try at once: a connection may have been closed while it was idle.
_RETRIES = 1


def async_connection(url: str) -> redis.asyncio.Redis:
    """Return a client for one event loop; it connects when it is first used.

    Any number of calls may use it at a time: they take turns at a few connections.
    """
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        url,
        max_connections=MAX_CONNECTIONS,
        timeout=TURN_TIMEOUT_S,
        socket_timeout=SOCKET_TIMEOUT_S,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        health_check_interval=HEALTH_CHECK_S,
        retry=AsyncRetry(ExponentialWithJitterBackoff(cap=0.2, base=0.02), _RETRIES),
    )
    return redis.asyncio.Redis.from_pool(pool)


def connection(url: str, *, socket_timeout_s: float = SOCKET_TIMEOUT_S) -> redis.Redis:
    """Return a client for threads; it connects when it is first used."""
    return redis.Redis.from_url(
        url,
        socket_timeout=socket_timeout_s,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        health_check_interval=HEALTH_CHECK_S,
        retry=Retry(NoBackoff(), _RETRIES),
    )


def address(url: str) -> str:
    """Return where a Redis is, without its password."""
    parts = urlsplit(url)
    return parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or 6379}"


def is_full(error: RedisError) -> bool:
    """Tell whether Redis refused a write for lack of memory."""
    return isinstance(error, OutOfMemoryError) or "OOM" in str(error)


@contextmanager
def reachable() -> Iterator[None]:
    """Let failures of Redis be the service's not being ready.

    Raises:
        NotReadyError: Redis cannot be reached, or is full.

    """
    try:
        yield
    except RedisError as error:
        if is_full(error):
            raise NotReadyError(
                "Redis is full and takes nothing new; judgements that are made come out all the same",
                retry_after_s=FULL_RETRY_AFTER_S,
            ) from error
        raise NotReadyError(f"Redis cannot be used: {error}", retry_after_s=RETRY_AFTER_S) from error
