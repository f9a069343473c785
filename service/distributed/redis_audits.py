"""An archive of audits in Redis, beside the queue: every API process answers for the audits of all."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, cast

from service.audit.archive.contract import DEAD_AFTER_S, AuditStatus
from service.distributed import keys
from service.distributed.codec import pack, unpack
from service.distributed.connection import reachable

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from service.audit.archive.contract import Keeping, ReportKind

KINDS: tuple[ReportKind, ...] = ("json", "html")


class RedisArchive:
    """Audits in Redis. Reports are compressed; ``keeping`` bounds what they then take."""

    def __init__(self, redis: Redis, keeping: Keeping) -> None:
        self._redis = redis
        self._keeping = keeping

    async def begin(self, status: AuditStatus) -> AuditStatus | None:
        """Keep the status of a new audit, or return the one that is there."""
        with reachable():
            there = await self._redis.set(
                keys.audit(status.job_id), status.model_dump_json(), nx=True, get=True, px=self._ttl_ms
            )
            if there is not None:
                return AuditStatus.model_validate_json(cast("bytes", there))
            await self._redis.set(keys.audit_alive(status.job_id), b"", ex=round(DEAD_AFTER_S))
        return None

    async def write(self, status: AuditStatus) -> None:
        """Keep a status."""
        with reachable():
            async with self._redis.pipeline(transaction=True) as pipeline:
                pipeline.set(keys.audit(status.job_id), status.model_dump_json(), px=self._ttl_ms)
                pipeline.set(keys.audit_alive(status.job_id), b"", ex=round(DEAD_AFTER_S))
                await pipeline.execute()

    async def finish(self, status: AuditStatus, report: bytes, page: bytes) -> None:
        """Keep a report and the last status, and drop what is beyond the bounds."""
        packed = await asyncio.to_thread(lambda: [pack(report), pack(page)])
        with reachable():
            async with self._redis.pipeline(transaction=True) as pipeline:
                for kind, data in zip(KINDS, packed, strict=True):
                    pipeline.set(keys.audit_report(status.job_id, kind), data, px=self._ttl_ms)
                pipeline.set(keys.audit(status.job_id), status.model_dump_json(), px=self._ttl_ms)
                pipeline.zadd(keys.AUDITS, {f"{status.job_id} {sum(map(len, packed))}": time.time()})
                pipeline.pexpire(keys.AUDITS, self._ttl_ms)
                await pipeline.execute()
            await self._forget(status.job_id)

    async def status(self, job_id: str) -> AuditStatus | None:
        """Return the status of an audit."""
        with reachable():
            async with self._redis.pipeline(transaction=True) as pipeline:
                pipeline.get(keys.audit(job_id))
                pipeline.exists(keys.audit_alive(job_id))
                text, alive = await pipeline.execute()
        if text is None:
            return None
        status = AuditStatus.model_validate_json(text)
        return status if alive or status.ended else status.orphaned()

    async def report(self, job_id: str, kind: ReportKind) -> bytes | None:
        """Return a report."""
        with reachable():
            data = await self._redis.get(keys.audit_report(job_id, kind))
        return None if data is None else await asyncio.to_thread(unpack, cast("bytes", data))

    async def ask_to_cancel(self, job_id: str) -> None:
        """Ask whichever service runs an audit to end it."""
        with reachable():
            await self._redis.set(keys.audit_cancelled(job_id), b"", px=self._ttl_ms)

    async def asked_to_cancel(self, job_id: str) -> bool:
        """Return whether somebody asked for the end of an audit."""
        with reachable():
            return bool(await self._redis.exists(keys.audit_cancelled(job_id)))

    async def close(self) -> None:
        """Do nothing: the connection is the queue's."""

    async def _forget(self, latest: str) -> None:
        """Drop the oldest reports beyond the bounds; ``latest`` stays."""
        names = cast("list[bytes]", await self._redis.zrevrange(keys.AUDITS, 0, -1))
        size_bytes = 0
        for kept, name in enumerate(names, start=1):
            job_id, _, size = name.decode().partition(" ")
            size_bytes += int(size)
            within = kept <= self._keeping.audits and size_bytes <= self._keeping.size_bytes
            if not within and job_id != latest:
                reports = [keys.audit_report(job_id, kind) for kind in KINDS]
                await self._redis.delete(keys.audit(job_id), *reports)
                await self._redis.zrem(keys.AUDITS, name)

    @property
    def _ttl_ms(self) -> int:
        return max(1, round(1000 * self._keeping.ttl_s))
