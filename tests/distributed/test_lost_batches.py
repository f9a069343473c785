"""Redis loses what it held, or an API process dies between two steps: what becomes of those who wait."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from service.distributed import keys
from service.distributed.batches import Batches, Capacity
from service.distributed.chunk_job import enqueue
from service.distributed.chunks import Chunk, Group
from service.distributed.codec import pack
from service.distributed.connection import async_connection
from service.intake import Intake, Item
from service.wire import Options
from tests.distributed.test_shared_queue import PROBLEM, judged, submission, until
from tests.service.worker_pool import pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]


def emptied(server: RedisServer) -> None:
    server.client().flushall()


def failed_over(server: RedisServer) -> None:
    server.stop(kill=True)
    server.lose_everything()
    server.start()


def disconnected(server: RedisServer) -> None:
    for kind in ("pubsub", "normal"):
        server.client().client_kill_filter(_type=kind)


def without_scripts(server: RedisServer) -> None:
    server.client().script_flush()


@pytest.mark.parametrize("mishap", [emptied, failed_over, disconnected, without_scripts])
def test_whoever_waits_gets_every_judgement_although_redis_loses_something(
    own_redis: RedisServer, serve_hooked: Serve, mishap: Callable[[RedisServer], None]
) -> None:
    with pool(own_redis.url, workers=2):
        client = serve_hooked(queue=own_redis.url)
        until(lambda: client.get("/readyz").json()["workers_alive"] == 2)
        answers: list[list[dict[str, Any]]] = []
        thread = threading.Thread(target=lambda: answers.append(judged(client, *["sleep 0.4"] * 20)))
        thread.start()
        until(lambda: own_redis.client().exists("rq:wip:microcoder-normal") == 1)
        time.sleep(0.6)
        mishap(own_redis)
        thread.join(120)
        assert [(one["verdict"], one["reward"]) for one in answers[0]] == [("AC", 1.0)] * 20
        # And everything works as before, stopping of what runs too.
        job_id = client.post("/jobs", json={"submissions": [submission("hang")] * 2}).json()["job_id"]
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "running")
        client.delete(f"/jobs/{job_id}")
        assert judged(client, "accept")[0]["verdict"] == "AC"


def test_a_keyed_call_whose_service_died_before_anything_waited_is_judged_when_repeated(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    """Its batch has been admitted, and no job of it exists."""
    body = json.dumps({"submissions": [submission(id="one")]}).encode()
    job_id = "0123456789abcdef" * 2
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        name = hashlib.sha256(b"\n/evaluate/batch\nmine").hexdigest()
        digest = hashlib.sha256(body).hexdigest()
        own_redis.client().set(keys.claim(name), f"{job_id} {digest}", ex=600)
        asyncio.run(admit(own_redis.url, job_id))
        headers = {"Idempotency-Key": "mine", "Content-Type": "application/json"}
        statuses = []
        for _ in range(20):
            answer = client.post("/evaluate/batch", content=body, headers=headers)
            statuses.append(answer.status_code)
            if answer.status_code == 200:
                break
            time.sleep(0.5)
    assert set(statuses[:-1]) <= {503}
    (judgement,) = answer.json()["judgements"]
    assert (judgement["id"], judgement["verdict"]) == ("one", "AC")


async def admit(url: str, batch_id: str) -> None:
    item = Item(0, "one", b"{}", "key", 1, 40.0, Options())
    redis = async_connection(url)
    capacity = Capacity(10, 10_000, wait_s=600.0, keep_s=600.0)
    await Batches(redis).admit(batch_id, Intake([item], {}), capacity, size_bytes=2, run_s=60.0)
    await redis.aclose()


def test_a_problem_that_is_dropped_or_expires_while_its_submissions_wait_is_there_for_them(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url, problem_ttl_s=1.5)
        client.put("/problems/p", json=PROBLEM)
        busy = client.post("/jobs", json={"submissions": [submission("sleep 4")]}).json()["job_id"]
        until(lambda: client.get(f"/jobs/{busy}").json()["status"] == "running")
        named = {"submissions": [{"code": "accept", "problem_id": "p"}]}
        waiting = client.post("/jobs", json=named).json()["job_id"]
        # Nobody uses it for longer than it is kept.
        time.sleep(2.5)
        assert client.post("/jobs", json=named).status_code == 404
        until(lambda: client.get(f"/jobs/{waiting}").json()["status"] == "finished")
        assert client.get(f"/jobs/{waiting}").json()["judgements"][0]["verdict"] == "AC"


def test_a_batch_whose_problems_take_long_to_bring_is_not_given_up(
    own_redis: RedisServer, serve_hooked: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As large ones do on a busy machine; here everything is faster, and packing slow."""
    monkeypatch.setattr("service.distributed.observing.STALLED_AFTER_S", 1.5)
    monkeypatch.setattr("service.distributed.monitor.RECONCILE_S", 0.2)
    monkeypatch.setattr("service.distributed.redis_queue.TOUCH_S", 0.2)

    def slowly_packed(content: Any) -> bytes:
        time.sleep(0.7)
        return pack(bytes(content))

    monkeypatch.setattr("service.distributed.redis_queue._packed", slowly_packed)
    problems = [{"mode": "stdio", "tests": [{"input": str(number), "expected": "1"}]} for number in range(9)]
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        body = {"submissions": [submission(problem=problem) for problem in problems]}
        job_id = client.post("/jobs", json=body).json()["job_id"]
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "finished")
        judgements = client.get(f"/jobs/{job_id}").json()["judgements"]
    assert [(one["verdict"], one["attempts"]) for one in judgements] == [("AC", 1)] * 9


def test_what_is_enqueued_for_a_batch_that_was_dropped_meanwhile_is_nobodys(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    redis = own_redis.client()
    item = Item(0, "one", b"{}", "key", 1, 40.0, Options())
    chunk = Chunk(batch="f" * 32, request_id="r", reuse_s=0.0, groups=[Group(fingerprint="", items=[item])])
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        (before,) = judged(client, "accept")
        enqueue(redis, [chunk], 30.0)
        until(lambda: list(redis.scan_iter("rq:job:*")) == [])
        assert redis.exists(keys.results("f" * 32)) == 0
        assert redis.ttl(keys.batch("f" * 32)) > 0
        assert client.get(f"/jobs/{'f' * 32}").status_code == 404
        assert judged(client, "accept")[0]["worker"] == before["worker"]
