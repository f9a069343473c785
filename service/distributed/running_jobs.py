"""The RQ jobs that are being judged, each until its worker should have been heard of again: by Redis's clock.

RQ writes such times by the clock of the worker's machine and reads them by that of another. Between machines whose
clocks differ by more than a heartbeat's life, jobs would be taken from workers that are well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, override

from rq.registry import StartedJobRegistry

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline
    from rq.executions import Execution


class RunningJobs(StartedJobRegistry):
    """Those of one queue."""

    @override
    def add_execution(self, execution: Execution, pipeline: Pipeline, ttl: int = 0, xx: bool = False) -> Any:
        """Let a worker have a job for ``ttl`` seconds from now; with ``xx`` only where it has it already.

        Raises:
            RedisError: Redis cannot be used.

        """
        return pipeline.zadd(self.key, {execution.composite_key: _now_s(self.connection) + ttl}, xx=xx)

    @override
    def cleanup(self, timestamp: float | None = None, exception_handlers: list[Any] | None = None) -> None:
        """Take from their workers the jobs whose time was over at ``timestamp``, by default now.

        Raises:
            RedisError: Redis cannot be used.

        """
        super().cleanup(_now_s(self.connection) if timestamp is None else timestamp, exception_handlers)


def _now_s(redis: Redis) -> int:
    seconds, _ = redis.time()
    return int(seconds)
