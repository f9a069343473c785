"""A served application whose worker processes do what a program's text says (see ``hooked_worker``)."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import structlog
import uvicorn

from benchmarks.redis_server import NoRedisError, RedisServer, redis_server
from service.http.app import create_app
from service.settings import Settings
from tests.service.worker_pool import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOOKED = (sys.executable, str(Path(__file__).with_name("hooked_worker.py")))


@contextmanager
def _served(settings: Settings, *, wait_ready: bool) -> Iterator[httpx.Client]:
    config = uvicorn.Config(
        create_app(settings, HOOKED), host="127.0.0.1", port=0, loop="asyncio", log_config=None, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            while wait_ready and client.get("/readyz").status_code != 200:
                time.sleep(0.02)
            yield client
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@pytest.fixture(scope="session")
def hooked() -> Iterator[httpx.Client]:
    """Give a client of a service with two hooked workers, for tests that leave it as they found it."""
    with _served(_settings(workers=2), wait_ready=True) as client:
        yield client


@pytest.fixture
def serve_hooked() -> Iterator[Callable[..., httpx.Client]]:
    """Give a function that serves an application with settings of its own."""
    with ExitStack() as stack:

        def serve(*, wait_ready: bool = True, **settings: Any) -> httpx.Client:
            return stack.enter_context(_served(_settings(**settings), wait_ready=wait_ready))

        yield serve


@pytest.fixture(scope="session")
def shared_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Give a Redis with a pool of one hooked worker, for tests that leave both as they found them."""
    try:
        with redis_server(tmp_path_factory.mktemp("redis")) as server, pool(server.url):
            yield server
    except NoRedisError as error:
        pytest.skip(str(error))


@pytest.fixture(params=["local", "redis"])
def serve_any(
    request: pytest.FixtureRequest, serve_hooked: Callable[..., httpx.Client]
) -> Callable[..., httpx.Client]:
    """Give what ``serve_hooked`` gives, for every kind of queue."""
    if request.param == "local":
        return serve_hooked
    server: RedisServer = request.getfixturevalue("shared_redis")

    client = server.client()
    for key in client.scan_iter("microcoder:*"):
        if not key.startswith(b"microcoder:worker:"):
            client.delete(key)

    def serve(**settings: Any) -> httpx.Client:
        return serve_hooked(queue=server.url, **settings)

    return serve


def _settings(**values: Any) -> Settings:
    # Most tests look at what workers do, so that a repeated program is judged again.
    defaults = {"sandbox": "unsafe-process", "python": sys.executable, "workers": 1, "cache_ttl_s": 0}
    return Settings(**{**defaults, **values})
