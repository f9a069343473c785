"""A pool of workers on one machine: keeps each of them alive, and gives the jobs of a lost one back at once.

A worker that dies is noticed by its exit. One that hangs, by its heartbeat in Redis, and then it is killed. Either
way another is started in its place; its job is tried again by whoever is free.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog
from pydantic import SecretStr
from redis.exceptions import RedisError

from sandbox import SandboxUnavailableError
from service.distributed.connection import connection
from service.distributed.lost_workers import give_back_jobs_of, heartbeat_age_s
from service.distributed.worker_main import PoolWorker
from service.errors import WorkerLostError
from service.processes.process import ChildProcess
from service.queue.tasks import Readiness, WorkerConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.settings import Settings

COMMAND = (sys.executable, "-m", "service.distributed.worker_main")
START_DEADLINE_S = 150.0
RESTART_DELAY_S = 0.5
MAX_RESTART_DELAY_S = 30.0
# A worker that ran this long before it was lost is replaced without delay.
STABLE_S = 30.0
LOOK_S = 5.0
# A worker whose last heartbeat stays this old hangs; the first look after Redis was away finds all of them old.
SILENT_AFTER_S = 15.0
SILENT_LOOKS = 4
END_MARGIN_S = 10.0


class Pool:
    """Runs on one event loop: :meth:`run` it, :meth:`stop` it."""

    def __init__(self, settings: Settings, command: Sequence[str] = COMMAND) -> None:
        if settings.queue is None:
            raise ValueError("a pool needs a queue")
        self._settings = settings
        self._command = command
        self._redis = connection(settings.queue)
        self._children: dict[str, ChildProcess] = {}
        self._stopping = asyncio.Event()
        self._ready: asyncio.Queue[SandboxUnavailableError | None] = asyncio.Queue()
        self._log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("service.distributed.pool")

    async def run(self) -> None:
        """Keep the workers alive until :meth:`stop`.

        Raises:
            SandboxUnavailableError: not one of them could open its sandbox at first.

        """
        keeping = [asyncio.create_task(self._keep()) for _ in range(self._settings.workers)]
        try:
            troubles = [await self._ready.get() for _ in keeping]
            if all(troubles) and troubles[0] is not None and not self._stopping.is_set():
                raise troubles[0]
            await self._stopping.wait()
        finally:
            await self._end()
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)

    def stop(self) -> None:
        """Let the workers finish what they judge; they take nothing new."""
        self._stopping.set()

    async def _keep(self) -> None:
        delay_s = RESTART_DELAY_S
        told = False
        while not self._stopping.is_set():
            started_s = time.monotonic()
            name = f"{socket.gethostname()}-{uuid.uuid4().hex[:12]}"
            trouble = await self._start(name)
            if not told:
                self._ready.put_nowait(trouble)
                told = True
            if trouble is None:
                await self._watch(name)
            else:
                self._log.error("worker unavailable", worker=name, error=str(trouble))
            if time.monotonic() - started_s > STABLE_S:
                delay_s = RESTART_DELAY_S
            if not self._stopping.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), delay_s)
                delay_s = min(2 * delay_s, MAX_RESTART_DELAY_S)

    async def _start(self, name: str) -> SandboxUnavailableError | None:
        try:
            child = await ChildProcess.start(self._command)
            self._children[name] = child
            (answer,) = await child.ask([self._told(name)], 1, START_DEADLINE_S)
        except (WorkerLostError, OSError) as error:
            self._children.pop(name, None)
            return SandboxUnavailableError(
                f"A worker process could not be started: it {error}.", "Its log says more."
            )
        readiness = Readiness.model_validate_json(answer)
        if readiness.ready:
            self._log.info("worker ready", worker=name, pid=child.pid)
            return None
        await child.close()
        del self._children[name]
        return SandboxUnavailableError(readiness.cause, readiness.cure)

    async def _watch(self, name: str) -> None:
        """Wait until a worker has ended, and end it where it hangs."""
        child = self._children[name]
        silent = 0
        while not child.exited.done():
            await asyncio.wait((child.exited,), timeout=LOOK_S)
            silent = silent + 1 if not child.exited.done() and await self._is_silent(name) else 0
            if silent >= SILENT_LOOKS:
                self._log.warning("worker hangs and is killed", worker=name, pid=child.pid)
                await child.kill()
        status = child.exited.result()
        await child.kill()
        del self._children[name]
        if not self._stopping.is_set() or status != 0:
            self._log.warning("worker ended", worker=name, status=status)
        await self._give_back(name)

    async def _is_silent(self, name: str) -> bool:
        try:
            age_s = await asyncio.to_thread(heartbeat_age_s, self._redis, name)
        except RedisError:
            # Nobody can tell while Redis is away.
            return False
        return age_s is not None and age_s > SILENT_AFTER_S

    async def _give_back(self, name: str) -> None:
        try:
            await asyncio.to_thread(give_back_jobs_of, self._redis, name)
        except RedisError as error:
            # Other workers do the same when its last heartbeat is old enough.
            self._log.warning("jobs of a lost worker are not given back at once", error=str(error))

    async def _end(self) -> None:
        children = list(self._children.values())
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGTERM)
        if children:
            await asyncio.wait(
                [child.exited for child in children], timeout=self._settings.drain_s + END_MARGIN_S
            )
        for name, child in list(self._children.items()):
            if not child.exited.done():
                self._log.warning("worker did not stop in time and is killed", worker=name)
            await child.kill()
            await self._give_back(name)

    def _told(self, name: str) -> bytes:
        settings = self._settings
        told = PoolWorker(
            queue=SecretStr(settings.queue or ""),
            judge=WorkerConfig.of_settings(settings, name),
            drain_s=settings.drain_s,
        )
        return told.model_dump_json().encode()
