"""What an API process looks at in Redis: whether work is taken, how much waits, what stands still. For threads."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from rq.job import Job, JobStatus
from rq.utils import as_text, utcparse
from rq.worker_registration import get_keys

from service.distributed import keys
from service.distributed.chunk_job import job_id, queues
from service.distributed.warm_worker import DEAD_AFTER_S, HEARTBEAT_S

if TYPE_CHECKING:
    from pydantic import JsonValue
    from redis import Redis
    from rq import Queue

FULL_SHARE = 0.85
STALLED_AFTER_S = 10.0
MAX_STALLED = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of things at one moment."""

    workers_alive: int
    sandbox: dict[str, JsonValue]
    waiting: int
    oldest_age_s: float
    sandbox_start_failures: int
    memory_full: bool
    eviction_policy: str


def look(redis: Redis) -> Seen:
    """Return the state of things.

    Raises:
        RedisError: Redis cannot be used.

    """
    waiting = list(queues(redis).values())
    alive = _alive(redis, waiting)
    with redis.pipeline(transaction=False) as pipeline:
        pipeline.hget(keys.TOTALS, "submissions")
        pipeline.hget(keys.COUNTS, keys.SANDBOX_START_FAILURES)
        pipeline.info("memory")
        pipeline.mget([keys.worker(name) for name in alive] or [""])
        for queue in waiting:
            pipeline.lindex(queue.key, 0)
        held, failures, memory, sandboxes, *heads = pipeline.execute()
    sandbox: dict[str, JsonValue] = next((json.loads(one) for one in sandboxes if one is not None), {})
    used, most = int(memory["used_memory"]), int(memory.get("maxmemory", 0))
    return Seen(
        workers_alive=len(alive),
        sandbox=sandbox,
        waiting=max(0, int(held or 0)),
        oldest_age_s=_oldest_age_s(redis, [as_text(head) for head in heads if head is not None]),
        sandbox_start_failures=int(failures or 0),
        memory_full=most > 0 and used > FULL_SHARE * most,
        eviction_policy=memory.get("maxmemory_policy", "noeviction") if most > 0 else "noeviction",
    )


def _alive(redis: Redis, waiting: list[Queue]) -> list[str]:
    """Return the names of the workers that take work from all queues and have been heard of lately."""
    names = sorted(set.intersection(*(get_keys(queue) for queue in waiting)))
    with redis.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.hmget(name, ["last_heartbeat", "death"])
        rows = pipeline.execute()
    now = datetime.now(UTC)
    alive = []
    for name, (beat, death) in zip(names, rows, strict=True):
        if beat is not None and death is None:
            age_s = (now - utcparse(as_text(beat))).total_seconds()
            if age_s < DEAD_AFTER_S + HEARTBEAT_S:
                alive.append(name.rpartition(":")[2])
    return alive


def _oldest_age_s(redis: Redis, job_ids: list[str]) -> float:
    with redis.pipeline(transaction=False) as pipeline:
        for one in job_ids:
            pipeline.hget(Job.key_for(one), "created_at")
        times = pipeline.execute()
    now = datetime.now(UTC)
    return max(
        ((now - utcparse(as_text(one))).total_seconds() for one in times if one is not None), default=0.0
    )


@dataclass(slots=True)
class Reconciler:
    """Finds batches that stand still: jobs that were taken and never begun, and jobs that are no longer there.

    A worker that dies, or loses Redis, in the instant after it has taken a job leaves the job in no list. What looks
    lost is looked at twice before anything is done, because a job is in no list for a moment each time.
    """

    suspects: set[str] = field(default_factory=set)

    def reconcile(self, redis: Redis) -> list[str]:
        """Let lost jobs wait again; return the batches that nothing more will come of.

        Raises:
            RedisError: Redis cannot be used.

        """
        suspects: set[str] = set()
        hopeless = []
        for batch_id, batch in _stalled(redis):
            if batch["late"] or self._is_gone(redis, batch_id, batch["chunks"], suspects):
                hopeless.append(batch_id)
        self.suspects = suspects
        return hopeless

    def _is_gone(self, redis: Redis, batch_id: str, chunks: int, suspects: set[str]) -> bool:
        names = [job_id(batch_id, number) for number in range(chunks)]
        with redis.pipeline(transaction=False) as pipeline:
            for name in names:
                pipeline.hmget(Job.key_for(name), ["status", "origin"])
            rows = pipeline.execute()
        there = [
            (name, as_text(row[0]), as_text(row[1])) for name, row in zip(names, rows, strict=True) if row[0]
        ]
        by_name = {queue.name: queue for queue in queues(redis).values()}
        for name, status, origin in there:
            queue = by_name.get(origin)
            if status != JobStatus.QUEUED or queue is None or redis.lpos(queue.key, name) is not None:
                continue
            if name in self.suspects:
                queue.push_job_id(name, at_front=True)
            else:
                suspects.add(name)
        if there:
            return False
        suspects.add(batch_id)
        return batch_id in self.suspects


def _stalled(redis: Redis) -> list[tuple[str, dict[str, Any]]]:
    """Return unfinished batches of which nothing has been heard for a while, with what matters of them."""
    names = [as_text(one) for one in cast("list[bytes]", redis.zrange(keys.ACTIVE, 0, -1))]
    with redis.pipeline(transaction=False) as pipeline:
        pipeline.time()
        for name in names:
            pipeline.hmget(keys.batch(name), ["created", "progress", "gives_up", "chunks"])
        (now_s, _), *rows = pipeline.execute()
    stalled = []
    for name, (created, progress, gives_up, chunks) in zip(names, rows, strict=True):
        if created is None or gives_up is None:
            continue
        if now_s - max(float(created), float(progress or 0)) > STALLED_AFTER_S:
            stalled.append((name, {"late": now_s > float(gives_up), "chunks": int(chunks or 0)}))
    return stalled[:MAX_STALLED]
