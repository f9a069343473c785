"""``/readyz`` tells the truth: of workers without isolation elsewhere, and of a Redis that is too old or silent."""

from __future__ import annotations

import re
import signal
import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from service.distributed import keys
from tests.distributed.test_shared_queue import until
from tests.service.worker_pool import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]

VERSION = re.compile(rb"redis_version:\d+")


@contextmanager
def aged(port: int) -> Iterator[str]:
    """Give the URL of a Redis that says of itself that it is of version 6, and is else what it was."""

    def passed_on(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(VERSION.sub(b"redis_version:6", data))
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accepted() -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", port))
                ends.extend((near, far))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=passed_on, args=pair, daemon=True).start()

    ends: list[socket.socket] = []
    listener = socket.create_server(("127.0.0.1", 0))
    accepting = threading.Thread(target=accepted)
    accepting.start()
    try:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()
        for end in (listener, *ends):
            end.close()


def test_workers_without_isolation_elsewhere_are_warned_of(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    redis = own_redis.client()
    name = "another-machine-1"
    redis.set(keys.worker(name), '{"kind": "nsjail", "isolation": "nsjail"}', ex=600)
    for queue in keys.QUEUES.values():
        redis.sadd(f"rq:workers:{queue}", f"rq:worker:{name}")
    redis.hset(f"rq:worker:{name}", "queues", "all")
    client = serve_hooked(queue=own_redis.url, sandbox="nsjail")
    readiness = client.get("/readyz").json()
    assert (readiness["isolation"], readiness["warnings"]) == ("nsjail", [])
    # Those of this pool have none.
    with pool(own_redis.url):
        until(lambda: client.get("/readyz").json()["workers_alive"] == 2)
        readiness = client.get("/readyz").json()
    assert readiness["isolation"] == "none"
    assert "without isolation" in readiness["warnings"][0]


def test_a_redis_that_is_too_old_is_named(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with aged(own_redis.port) as url:
        client = serve_hooked(queue=url, wait_ready=False)
        until(lambda: "version 6" in client.get("/readyz").text)
        assert "7 or newer" in client.get("/readyz").json()["detail"]
        client.close()


def test_a_redis_that_is_silent_is_not_believed_to_be_well(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        own_redis.process.send_signal(signal.SIGSTOP)
        try:
            until(lambda: client.get("/readyz").status_code == 503, within_s=15)
        finally:
            own_redis.process.send_signal(signal.SIGCONT)
        until(lambda: client.get("/readyz").status_code == 200)
