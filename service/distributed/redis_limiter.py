"""Limits of API keys that all API processes share."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import structlog
from redis.exceptions import RedisError

from service.distributed import keys
from service.distributed.connection import reachable
from service.keys.limiter import burst, too_fast, too_many

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from redis.asyncio import Redis

    from service.keys.ring import ApiKey

# A process that dies holds its requests' places for this long.
LEASE_S = 60
RENEW_S = 20.0

# KEYS bucket, running; ARGV rate, burst, most at a time, request, lease_s (0: no limit of that kind). Answers ok,
# fast with the seconds to wait, or many.
TAKE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local rate, most = tonumber(ARGV[1]), tonumber(ARGV[3])
if most > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  if redis.call('ZCARD', KEYS[2]) >= most then return {'many', '0'} end
end
if rate > 0 then
  local capacity = tonumber(ARGV[2])
  local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
  local tokens = tonumber(bucket[1]) or capacity
  tokens = math.min(capacity, tokens + (now - (tonumber(bucket[2]) or now)) * rate)
  local enough = tokens >= 1
  redis.call('HSET', KEYS[1], 'tokens', tostring(enough and tokens - 1 or tokens), 'at', tostring(now))
  redis.call('EXPIRE', KEYS[1], math.ceil(capacity / rate) + 60)
  if not enough then return {'fast', tostring((1 - tokens) / rate)} end
end
if most > 0 then
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[5]), ARGV[4])
  redis.call('EXPIRE', KEYS[2], ARGV[5] * 2)
end
return {'ok', '0'}
"""


class RedisLimiter:
    """Counts in Redis, by its clock."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._take = redis.register_script(TAKE)
        self._running: dict[str, str] = {}
        self._renewing: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def request(self, key: ApiKey) -> AsyncIterator[None]:
        """Let a request run within the context."""
        if key.requests_per_s is None and key.concurrent_requests is None:
            yield
            return
        request = uuid.uuid4().hex
        await self._admit(key, request)
        if key.concurrent_requests is None:
            yield
            return
        self._running[request] = keys.running(key.name)
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            place = self._running.pop(request)
            # Where Redis is away, the lease ends it.
            with suppress(RedisError, OSError):
                await self._redis.zrem(place, request)

    async def close(self) -> None:
        """End what works in the background."""
        if self._renewing is not None:
            self._renewing.cancel()

    async def _admit(self, key: ApiKey, request: str) -> None:
        rate = key.requests_per_s or 0.0
        with reachable():
            state, wait_s = await self._take(
                keys=[keys.rate(key.name), keys.running(key.name)],
                args=[rate, burst(rate), key.concurrent_requests or 0, request, LEASE_S],
            )
        if state == b"fast":
            raise too_fast(key, float(wait_s))
        if state == b"many":
            raise too_many(key)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            try:
                seconds, _ = await self._redis.time()
                async with self._redis.pipeline(transaction=False) as pipeline:
                    for request, place in self._running.items():
                        pipeline.zadd(place, {request: seconds + LEASE_S}, xx=True)
                        pipeline.expire(place, 2 * LEASE_S)
                    await pipeline.execute()
            except (RedisError, OSError) as error:
                structlog.stdlib.get_logger("service.distributed").warning(
                    "places of running requests are not renewed", error=str(error)
                )
