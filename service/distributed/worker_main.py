"""One worker of a pool: opens its sandbox, says so, then takes chunks until it is told to stop.

Started by :mod:`service.distributed.pool` as ``python -m service.distributed.worker_main DESCRIPTOR``. Frames in:
one :class:`PoolWorker`. Frames out: one :class:`~service.queue.tasks.Readiness`. Exit status 0 after SIGTERM, 1
where the sandbox could not be opened, or not any longer.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import structlog
from pydantic import BaseModel, ConfigDict, SecretStr, field_serializer
from redis.exceptions import RedisError

from sandbox import SandboxUnavailableError
from service.distributed import keys
from service.distributed.connection import async_connection, connection
from service.distributed.judging import Judging
from service.distributed.warm_worker import WarmWorker
from service.processes.child import leaving, run_child
from service.queue.tasks import Readiness, WorkerConfig
from service.queue.worker_process import WORKER_COMMAND
from service.telemetry import configure_logging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

    from service.processes.frames import Channel

REDIS_RETRY_S = 1.0


class PoolWorker(BaseModel):
    """What a worker of a pool is told once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queue: SecretStr
    judge: WorkerConfig
    drain_s: float

    @field_serializer("queue")
    def _shown_to_the_worker(self, value: SecretStr) -> str:
        return value.get_secret_value()


def serve(channel: Channel, command: Sequence[str] = WORKER_COMMAND) -> int:
    """Work for the pool at the other end of ``channel``; return the process's exit status."""
    hello = channel.read()
    if hello is None:
        return 0
    told = PoolWorker.model_validate_json(hello)
    configure_logging(told.judge.log_level, told.judge.log_format)
    # Its end cancels what is left, also where a signal breaks off the start.
    with asyncio.Runner() as runner:
        return _work(channel, told, command, runner.get_loop())


def _work(channel: Channel, told: PoolWorker, command: Sequence[str], loop: asyncio.AbstractEventLoop) -> int:
    url = told.queue.get_secret_value()
    judging = Judging(async_connection(url), told.judge, command)
    try:
        sandbox = loop.run_until_complete(judging.open()).sandbox
    except SandboxUnavailableError as error:
        _count_failure(connection(url))
        leaving()
        _say(channel, Readiness(ready=False, cause=error.cause, cure=error.cure))
        return 1
    try:
        # Before Redis is there: that may take longer than anybody waits for a process to start.
        _say(channel, Readiness(ready=True, sandbox=sandbox))
        worker = _worker(told, url, judging, loop, json.dumps(sandbox).encode())
        worker.work(logging_level="WARNING")
    finally:
        loop.run_until_complete(judging.close())
    if worker.trouble is not None:
        _count_failure(connection(url))
        structlog.stdlib.get_logger("service.distributed").error(
            "worker cannot judge any longer", error=str(worker.trouble)
        )
        return 1
    return 0


def _worker(
    told: PoolWorker, url: str, judging: Judging, loop: asyncio.AbstractEventLoop, sandbox_json: bytes
) -> WarmWorker:
    log = structlog.stdlib.get_logger("service.distributed")
    trouble = ""
    while True:
        try:
            return WarmWorker(
                told.judge.name,
                connection(url),
                judging,
                loop,
                drain_s=told.drain_s,
                sandbox_json=sandbox_json,
            )
        except RedisError as error:
            # Once an outage; it may be long.
            if str(error) != trouble:
                trouble = str(error)
                log.warning("waiting for redis", error=trouble)
            time.sleep(REDIS_RETRY_S)


def _count_failure(redis: Redis) -> None:
    try:
        with redis.pipeline() as pipeline:
            pipeline.hincrby(keys.COUNTS, keys.SANDBOX_START_FAILURES, 1)
            pipeline.expire(keys.COUNTS, keys.INDEX_TTL_S)
            pipeline.execute()
    except RedisError as error:
        structlog.stdlib.get_logger("service.distributed").warning(
            "a sandbox that did not start is not counted", error=str(error)
        )


def _say(channel: Channel, readiness: Readiness) -> None:
    channel.write([readiness.model_dump_json().encode()])


if __name__ == "__main__":
    run_child(serve)
