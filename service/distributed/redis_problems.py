"""The problem store in Redis: a name stands for a content's key, and contents are kept once, for all workers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from service.distributed import keys
from service.distributed.codec import pack, unpack
from service.distributed.connection import reachable
from service.errors import ProblemConflictError
from service.problems.store import Content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

    from service.intake import Known

# Contents outlive names by the longest wait and this, so that whatever was named can be judged.
CONTENT_MARGIN_S = 3600


class RedisProblems:
    """Problems that all API processes and workers share."""

    def __init__(self, redis: Redis, ttl_s: float, wait_s: float) -> None:
        self.ttl_s = ttl_s
        self._wait_s = wait_s
        self._redis = redis

    async def put(self, problem_id: str, content: Content) -> bool:
        """Store a problem; its content first, so that no name is without one."""
        about = {key: value for key, value in asdict(content).items() if key != "canonical"}
        data = await asyncio.to_thread(lambda: pack(bytes(content.canonical)))
        with reachable():
            await self._redis.set(keys.problem(content.key), data, ex=self._content_ttl_s)
            there = await self._redis.set(
                keys.problem_name(problem_id), json.dumps(about), nx=True, get=True, px=self._ttl_ms
            )
            if there is None:
                return True
            if json.loads(cast("bytes", there))["digest"] != content.digest:
                raise ProblemConflictError(problem_id)
            await self._redis.pexpire(keys.problem_name(problem_id), self._ttl_ms)
        return False

    async def get(self, problem_id: str) -> Content | None:
        """Return the problem."""
        with reachable():
            about = await self._redis.getex(keys.problem_name(problem_id), px=self._ttl_ms)
            if about is None:
                return None
            fields: dict[str, Any] = json.loads(cast("bytes", about))
            data = await self._redis.getex(keys.problem(fields["key"]), ex=self._content_ttl_s)
        if data is None:
            return None
        return Content(**fields, canonical=await asyncio.to_thread(unpack, cast("bytes", data)))

    async def delete(self, problem_id: str) -> bool:
        """Drop the name; the content goes when its time has come, as other names may stand for it."""
        with reachable():
            return bool(await self._redis.delete(keys.problem_name(problem_id)))

    async def known(self, problem_ids: Sequence[str]) -> dict[str, Known]:
        """Return those of the problems that are stored; workers fetch their contents themselves."""
        with reachable():
            async with self._redis.pipeline(transaction=False) as pipeline:
                for name in problem_ids:
                    pipeline.getex(keys.problem_name(name), px=self._ttl_ms)
                rows = await pipeline.execute()
                about = {
                    name: json.loads(row)
                    for name, row in zip(problem_ids, rows, strict=True)
                    if row is not None
                }
                for fields in about.values():
                    pipeline.expire(keys.problem(fields["key"]), self._content_ttl_s)
                there = await pipeline.execute()
        return {
            name: Content(**fields, canonical=b"").known(with_content=False)
            for (name, fields), kept in zip(about.items(), there, strict=True)
            if kept
        }

    @property
    def _ttl_ms(self) -> int:
        return max(1, round(1000 * self.ttl_s))

    @property
    def _content_ttl_s(self) -> int:
        return round(self.ttl_s + self._wait_s) + CONTENT_MARGIN_S
