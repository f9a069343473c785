"""Cancelling at every moment: while answers come, twice, after the end, and by hanging up before the first one."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.distributed.test_shared_queue import judged, submission, until
from tests.service.worker_pool import pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]

LINES = {"Accept": "application/x-ndjson"}


def hang_up(client: httpx.Client, body: dict[str, Any], after_s: float) -> None:
    """Send a call for lines, and leave."""
    data = json.dumps(body).encode()
    head = (
        "POST /evaluate/batch HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
        f"Accept: application/x-ndjson\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    port = client.base_url.port or 0
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head.encode() + data)
        time.sleep(after_s)


def test_a_job_can_be_cancelled_at_any_moment_and_its_worker_goes_on(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    body = {"submissions": [submission(id=str(number)) for number in range(24)]}
    with pool(own_redis.url, workers=2):
        client = serve_hooked(queue=own_redis.url)
        until(lambda: client.get("/readyz").json()["workers_alive"] == 2)
        workers = own_redis.client().smembers("rq:workers")
        for moment in range(60):
            job_id = client.post("/jobs", json=body).json()["job_id"]
            time.sleep(0.002 * (moment % 20))
            cancelled = client.delete(f"/jobs/{job_id}")
            assert cancelled.status_code == 200, cancelled.text
            again = client.delete(f"/jobs/{job_id}").json()
            assert again["status"] == cancelled.json()["status"]
            assert again["status"] in {"cancelled", "finished"}
            # What was ready stays, and nothing comes after.
            assert again["judgements"] == client.get(f"/jobs/{job_id}").json()["judgements"]
        assert judged(client, "accept")[0]["attempts"] == 1
        until(lambda: client.get("/readyz").json()["waiting"] == 0)
        redis = own_redis.client()
        assert redis.smembers("rq:workers") == workers
        until(lambda: list(redis.scan_iter("rq:job:*")) == [])


def test_lines_of_a_job_end_in_good_order_when_it_is_cancelled(serve_any: Serve) -> None:
    client = serve_any()
    body = {"submissions": [submission(id="ready"), submission("hang", id="hangs")]}
    job_id = client.post("/jobs", json=body).json()["job_id"]
    until(lambda: client.get(f"/jobs/{job_id}").json()["finished"] == 1)
    texts: list[str] = []

    def follow() -> None:
        texts.append(httpx.get(f"{client.base_url}/jobs/{job_id}", headers=LINES, timeout=30).text)

    following = threading.Thread(target=follow)
    following.start()
    time.sleep(0.3)
    client.delete(f"/jobs/{job_id}")
    following.join()
    follow()
    assert [[json.loads(line)["id"] for line in text.splitlines()] for text in texts] == [["ready"]] * 2


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_whoever_hangs_up_before_the_first_line_leaves_nothing_behind(
    serve_any: Serve,
    large: bool,  # noqa: FBT001 -- a case
) -> None:
    """A body of some size is read in another process, so that a client can be gone when that is done."""
    client = serve_any()
    problem = {"mode": "stdio", "tests": [{"input": "1" * 300_000, "expected": "1"}]}
    hanging = {"code": "hang", "problem": problem} if large else submission("hang")
    for moment in range(40):
        hang_up(client, {"submissions": [hanging] * 2}, 0.0005 * moment)
    until(lambda: client.get("/readyz").json()["waiting"] == 0)
    assert judged(client, "accept")[0]["verdict"] == "AC"
