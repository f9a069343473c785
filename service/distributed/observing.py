"""What an API process looks at in Redis: whether work is taken, how much waits, what stands still. For threads."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from rq.job import Job, JobStatus
from rq.utils import as_text
from rq.worker_registration import get_keys

from service.distributed import keys
from service.distributed.chunk_job import batch_of, job_id, queues

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
    sandboxes: list[dict[str, JsonValue]]
    waiting: int
    oldest_age_s: float
    sandbox_start_failures: int
    memory_full: bool
    redis_version: str
    eviction_policy: str


def look(redis: Redis) -> Seen:
    """Return the state of things.

    Raises:
        RedisError: Redis cannot be used.

    """
    waiting = list(queues(redis).values())
    sandboxes = _sandboxes(redis, waiting)
    with redis.pipeline(transaction=False) as pipeline:
        pipeline.hget(keys.TOTALS, "submissions")
        pipeline.hget(keys.COUNTS, keys.SANDBOX_START_FAILURES)
        pipeline.info("memory")
        pipeline.info("server")
        for queue in waiting:
            pipeline.lindex(queue.key, 0)
        held, failures, memory, server, *heads = pipeline.execute()
    used, most = int(memory["used_memory"]), int(memory.get("maxmemory", 0))
    return Seen(
        workers_alive=len(sandboxes),
        sandboxes=sandboxes,
        waiting=max(0, int(held or 0)),
        oldest_age_s=_oldest_age_s(redis, [as_text(head) for head in heads if head is not None]),
        sandbox_start_failures=int(failures or 0),
        memory_full=most > 0 and used > FULL_SHARE * most,
        redis_version=str(server["redis_version"]),
        eviction_policy=memory.get("maxmemory_policy", "noeviction") if most > 0 else "noeviction",
    )


def _sandboxes(redis: Redis, waiting: list[Queue]) -> list[dict[str, JsonValue]]:
    """Return what the workers tell of their sandboxes that take work from all queues and were heard of lately.

    What they tell has a time to live: only Redis's clock counts, as those of machines may differ.
    """
    names = sorted(set.intersection(*(get_keys(queue) for queue in waiting)))
    if not names:
        return []
    told = cast("list[bytes | None]", redis.mget([keys.worker(name.rpartition(":")[2]) for name in names]))
    return [json.loads(one) for one in told if one is not None]


def _oldest_age_s(redis: Redis, job_ids: list[str]) -> float:
    with redis.pipeline(transaction=False) as pipeline:
        pipeline.time()
        for one in job_ids:
            pipeline.hget(keys.batch(batch_of(one)), "created")
        (seconds, _), *times = pipeline.execute()
    return max((seconds - float(one) for one in times if one is not None), default=0.0)


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
        # What RQ keeps of a failed job is of no use: nobody takes it up again.
        there = [
            (name, as_text(status), as_text(origin or b""))
            for name, (status, origin) in zip(names, rows, strict=True)
            if status and as_text(status) != JobStatus.FAILED
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
