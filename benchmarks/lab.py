"""A whole installation on this machine: a Redis, an API process and pools of workers, each of which can be hurt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from benchmarks.redis_server import RedisServer, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

ROOT = Path(__file__).parents[1]
READY_S = 60.0
STOP_S = 60.0


class Lab:
    """Starts and ends the parts; their logs are files in ``folder``."""

    def __init__(self, folder: Path, *, pools: Sequence[int] = (2,), flags: Sequence[str] = ()) -> None:
        self.folder = folder
        self._flags = list(flags)
        self._started = 0
        (folder / "redis").mkdir()
        self.redis = RedisServer(folder / "redis")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.pools: list[subprocess.Popen[bytes]] = []
        self.api: subprocess.Popen[bytes]
        try:
            for workers in pools:
                self.start_pool(workers)
            self.start_api()
            self.wait_ready(sum(pools))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start_pool(self, workers: int) -> subprocess.Popen[bytes]:
        """Start ``microcoder worker``."""
        command = ["worker", "--queue", self.redis.url, "--processes", str(workers), *self._flags]
        pool = self._start("worker", command)
        self.pools.append(pool)
        return pool

    def start_api(self) -> None:
        """Start ``microcoder serve``."""
        command = ["serve", "--queue", self.redis.url, "--port", str(self.port), *self._flags]
        self.api = self._start("serve", command)

    def wait_ready(self, workers: int = 1) -> None:
        """Wait until so many workers judge for the API.

        Raises:
            TimeoutError: it takes too long.

        """
        until(lambda: self._ready(workers), READY_S, f"{workers} workers are not ready, see {self.folder}")

    def worker_pids(self, pool: int = 0) -> list[int]:
        """Return the process ids of a pool's workers, which talk to Redis."""
        return children(self.pools[pool].pid)

    def judge_pids(self, pool: int = 0) -> list[int]:
        """Return the process ids of a pool's sandboxed judges."""
        return [judge for worker in self.worker_pids(pool) for judge in children(worker)]

    def close(self) -> None:
        """End everything."""
        parts = [*self.pools, *([self.api] if hasattr(self, "api") else [])]
        for part in parts:
            for pid in children(part.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            part.terminate()
        for part in parts:
            part.wait(STOP_S)
        self.redis.stop(kill=True)

    def _ready(self, workers: int) -> bool:
        with suppress(httpx.HTTPError):
            answer = httpx.get(f"{self.url}/readyz")
            return answer.status_code == 200 and answer.json()["workers_alive"] >= workers  # noqa: PLR2004
        return False

    def _start(self, name: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        self._started += 1
        with (self.folder / f"{name}-{self._started}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "service.cli", *arguments],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def children(pid: int) -> list[int]:
    """Return the process ids of a process's children; none where it has ended."""
    with suppress(FileNotFoundError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    return []


def until(condition: Callable[[], bool], within_s: float, complaint: str) -> None:
    """Wait until ``condition`` holds.

    Raises:
        TimeoutError: it does not within ``within_s``.

    """
    deadline_s = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline_s:
            raise TimeoutError(complaint)
        time.sleep(0.05)
