"""The state of the queue as an API process sees it, renewed every second, so that no request has to ask."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog
from redis.exceptions import RedisError

from service.distributed.connection import address
from service.distributed.observing import Reconciler, look
from service.queue.health import Health

if TYPE_CHECKING:
    import redis
    from pydantic import JsonValue

    from service.distributed.batches import Batches
    from service.distributed.observing import Seen

LOOK_S = 1.0
RECONCILE_S = 5.0
LOST = "its workers were lost, or it waited too long for one"
# A look ends within the timeouts of its connection; nobody may believe one that does not.
STALE_AFTER_S = 10.0
OLDEST_REDIS = 7


class Monitor:
    """Runs on one event loop."""

    def __init__(self, connection: redis.Redis, batches: Batches, url: str) -> None:
        self._connection = connection
        self._batches = batches
        self._where = address(url)
        self._seen: Seen | None = None
        self._reason: str | None = "the queue is looked at for the first time"
        self._reconciler = Reconciler()
        self._looked_s = time.monotonic()
        self._log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("service.distributed")
        self.stopping = False
        self.looked = asyncio.Event()

    @property
    def workers(self) -> int:
        """Return how many workers were alive when this was last looked at."""
        return self._seen.workers_alive if self._seen else 0

    def health(self) -> Health:
        """Return the state of the queue."""
        seen, reason = self._seen, self._reason
        silent_s = time.monotonic() - self._looked_s
        if reason is None and silent_s > STALE_AFTER_S:
            reason = f"Redis at {self._where} has not answered for {silent_s:.0f} s"
        return Health(
            ready=reason is None and not self.stopping,
            stopping=self.stopping,
            workers_alive=seen.workers_alive if seen else 0,
            workers=seen.workers_alive if seen else 0,
            sandbox=_weakest(seen),
            trouble=None,
            waiting=seen.waiting if seen else 0,
            oldest_age_s=seen.oldest_age_s if seen else 0.0,
            sandbox_start_failures=seen.sandbox_start_failures if seen else 0,
            reason=reason,
            warnings=_warnings(seen),
        )

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        reconciled_s = 0.0
        while True:
            await self.look()
            if self._reason is None and time.monotonic() - reconciled_s > RECONCILE_S:
                await self._reconcile()
                reconciled_s = time.monotonic()
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Look once."""
        before = self._reason
        try:
            self._seen = await asyncio.to_thread(look, self._connection)
            self._reason = _amiss(self._seen)
        except (RedisError, OSError) as error:
            self._reason = f"Redis at {self._where} cannot be used: {error}"
        except Exception as error:  # noqa: BLE001 -- logged and told by `/readyz`
            # Whatever it is: a service that no longer looks would believe the last state for ever.
            self._log.exception("queue not understood")
            self._reason = f"what Redis at {self._where} holds is not understood: {error!r}"
        self._looked_s = time.monotonic()
        if self._reason != before:
            self._log.warning("queue", ready=self._reason is None, reason=self._reason)
        self.looked.set()

    async def _reconcile(self) -> None:
        try:
            for batch_id in await asyncio.to_thread(self._reconciler.reconcile, self._connection):
                await self._give_up(batch_id)
        except (RedisError, OSError) as error:
            self._log.warning("batches that stand still are looked at later", error=str(error))
        except Exception:  # noqa: BLE001 -- logged; the others are looked at again
            self._log.exception("batches that stand still are not understood")

    async def _give_up(self, batch_id: str) -> None:
        snapshot = await self._batches.snapshot(batch_id)
        if snapshot is None:
            return
        self._log.error("batch given up", batch=batch_id, left=snapshot.left, chunks=snapshot.chunks)
        if snapshot.chunks:
            await self._batches.fail_rest(batch_id, LOST)
        else:
            # Whoever admitted it died before anything of it could wait: who comes again begins it anew.
            await self._batches.drop(batch_id)


def _weakest(seen: Seen | None) -> dict[str, JsonValue]:
    """Return the sandbox of one worker, of one without isolation where there is such a one."""
    sandboxes = seen.sandboxes if seen else []
    return min(sandboxes, key=lambda one: one.get("isolation") != "none", default={})


def _amiss(seen: Seen) -> str | None:
    if int(seen.redis_version.partition(".")[0]) < OLDEST_REDIS:
        return f"Redis is of version {seen.redis_version}: {OLDEST_REDIS} or newer is needed"
    if seen.memory_full:
        return (
            "Redis is nearly full, and nothing new is taken; judgements that are made come out all the same"
        )
    if seen.workers_alive == 0:
        return "no worker takes work from the queue: start `microcoder worker` with the same --queue"
    return None


def _warnings(seen: Seen | None) -> tuple[str, ...]:
    if seen is None or seen.eviction_policy == "noeviction":
        return ()
    policy = f"Redis has maxmemory-policy {seen.eviction_policy}: when it is full, it silently drops"
    return (f"{policy} work and judgements; set it to noeviction",)
