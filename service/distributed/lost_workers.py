"""What becomes of the jobs of workers that are lost, and which workers are alive. For threads."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from rq.executions import WORKER_EXECUTIONS_KEY_TEMPLATE
from rq.timeouts import TimerDeathPenalty
from rq.utils import as_text, utcparse
from rq.worker import BaseWorker

from service.distributed import keys
from service.distributed.chunk_job import ChunkJob
from service.distributed.codec import JsonSerializer
from service.distributed.running_jobs import RunningJobs

if TYPE_CHECKING:
    from redis import Redis


def give_back_jobs_of(redis: Redis, worker: str) -> None:
    """Let the jobs that a lost worker was judging be tried again now, not when its last heartbeat has aged.

    Raises:
        RedisError: Redis cannot be used.

    """
    index = WORKER_EXECUTIONS_KEY_TEMPLATE.format(worker)
    running = [as_text(one) for one in cast("set[bytes]", redis.smembers(index))]
    if not running:
        return
    for name in keys.QUEUES.values():
        registry = RunningJobs(
            name,
            connection=redis,
            job_class=ChunkJob,
            serializer=JsonSerializer,
            death_penalty_class=TimerDeathPenalty,
        )
        if redis.zadd(registry.key, dict.fromkeys(running, 1), xx=True, ch=True):
            registry.cleanup()
    redis.delete(index)


def heartbeat_age_s(redis: Redis, worker: str) -> float | None:
    """Return how long ago a worker was heard of, or None where it is not known.

    Raises:
        RedisError: Redis cannot be used.

    """
    beat = cast(
        "bytes | None", redis.hget(f"{BaseWorker.redis_worker_namespace_prefix}{worker}", "last_heartbeat")
    )
    if beat is None:
        return None
    return (datetime.now(UTC) - utcparse(as_text(beat))).total_seconds()
