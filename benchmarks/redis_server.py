"""A real redis-server with a port and a folder of its own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import redis

if TYPE_CHECKING:
    from collections.abc import Iterator

START_S = 20.0
STOP_S = 20.0


class NoRedisError(RuntimeError):
    """There is no redis-server on this machine."""


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


class RedisServer:
    """Appends what it does to a file, so that it comes back with what it had."""

    def __init__(self, folder: Path, *options: str) -> None:
        binary = shutil.which("redis-server")
        if binary is None:
            raise NoRedisError("redis-server is not installed")
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._command = [
            *(binary, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder)),
            *("--save", "", "--appendonly", "yes", "--logfile", str(folder / "log"), *options),
        ]
        self.process: subprocess.Popen[bytes]
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            TimeoutError: it does not.

        """
        self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)
        deadline_s = time.monotonic() + START_S
        with self.client() as client:
            while not _answers(client):
                if time.monotonic() > deadline_s:
                    raise TimeoutError("redis-server does not answer")
                time.sleep(0.02)

    def client(self) -> redis.Redis:
        """Return a client."""
        return redis.Redis(port=self.port)

    def stop(self, *, kill: bool = False) -> None:
        """End it, in good order or not."""
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.wait(STOP_S)

    def lose_everything(self) -> None:
        """Let it have nothing when it is started again."""
        shutil.rmtree(self._folder / "appendonlydir")


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


@contextmanager
def redis_server(folder: Path, *options: str) -> Iterator[RedisServer]:
    """Run a Redis until the context ends."""
    server = RedisServer(folder, *options)
    try:
        yield server
    finally:
        server.stop(kill=True)
