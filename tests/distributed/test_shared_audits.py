"""Audits where workers are elsewhere: judged by them, and known to every API process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from service.audit.archive.contract import HEARTBEAT_S
from service.audit.report import Report
from service.distributed.pool import COMMAND
from tests.service.worker_pool import pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]

PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "3\n", "expected": "0.333333333\n"}]}
DEADLINE_S = 120.0


def item(code: str, truth: str, **fields: Any) -> dict[str, Any]:
    return {"submission": {"code": code, **fields}, "truth": truth}


def ended(client: httpx.Client, location: str) -> dict[str, Any]:
    deadline_s = time.monotonic() + DEADLINE_S
    while True:
        answer: dict[str, Any] = client.get(location).raise_for_status().json()
        if answer["status"] not in {"queued", "running"}:
            return answer
        assert time.monotonic() < deadline_s, answer
        time.sleep(0.05)


def test_workers_judge_it_and_every_api_process_answers_for_it(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    with pool(own_redis.url, workers=2, command=COMMAND):
        first, second = (serve_hooked(queue=own_redis.url) for _ in range(2))
        assert first.put("/problems/third", json=PROBLEM).is_success
        items = [
            item("print(round(1 / int(input()), 7))", "accept", id="near", problem_id="third"),
            item("print(0.33)", "reject", id="far", problem=PROBLEM),
            item("print(1 / 0)", "RE", id="raises", problem_id="third"),
        ]
        headers = {"Idempotency-Key": "once"}
        answer, again = (
            client.post("/audit", json={"items": items, "repeats": 3}, headers=headers)
            for client in (first, second)
        )
        assert answer.json()["job_id"] == again.json()["job_id"]
        location = answer.headers["location"]
        assert ended(second, location)["finished"] == 9
        for client in (first, second):
            report = Report.model_validate(client.get(location).json()["report"])
            assert report.headline.startswith("microcoder is right on 3 of 3")
            assert {one.id: one.verdicts["livecodebench"] for one in report.outcomes} == {
                "near": "WA",
                "far": "WA",
                "raises": "RE",
            }
            assert report.environment.isolation == "none"
            page = client.get(location, headers={"Accept": "text/html"})
            assert "microcoder is right on 3 of 3" in page.text
        # Nothing of an audit is answered from a cache, nor kept in one.
        client_of_redis = own_redis.client()
        assert list(client_of_redis.scan_iter("microcoder:cached:*")) == []
        assert all(client_of_redis.ttl(key) > 0 for key in client_of_redis.scan_iter("microcoder:audit*"))


def test_another_api_process_may_cancel_it(own_redis: RedisServer, serve_hooked: Serve) -> None:
    slow = {**PROBLEM, "limits": {"wall_time_s": 120}}
    with pool(own_redis.url, command=COMMAND):
        first, second = (serve_hooked(queue=own_redis.url) for _ in range(2))
        body = {"items": [item("import time\ntime.sleep(600)", "reject", problem=slow)]}
        location = first.post("/audit", json=body).headers["location"]
        while second.get(location).json()["status"] != "running":
            time.sleep(0.05)
        assert second.delete(location).json()["status"] == "cancelled"
        assert ended(first, location)["status"] == "cancelled"
        # The worker is free for whoever comes next.
        answer = first.post("/evaluate", json={"code": "print(1)", "problem": PROBLEM}, timeout=60)
        assert answer.json()["verdict"] == "WA"
        time.sleep(2 * HEARTBEAT_S)
        assert second.get(location).json()["status"] == "cancelled"


def test_a_worker_that_knows_no_audits_leaves_them_unmeasured(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    """While an upgrade lasts, old workers may be there: their judgements say nothing about profiles."""
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        location = client.post("/audit", json={"items": [item("accept", "accept", problem=PROBLEM)]}).headers[
            "location"
        ]
        report = ended(client, location)["report"]
    assert report["headline"].startswith("Incomplete, 1 of 1 not measured")
    assert "of another version" in report["completeness"]["unscored"][0]["reason"]


@pytest.mark.parametrize("key", [None, "k"])
def test_without_workers_none_begins(own_redis: RedisServer, serve_hooked: Serve, key: str | None) -> None:
    client = serve_hooked(queue=own_redis.url, wait_ready=False)
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"items": [item("x", "reject", problem=PROBLEM)]}
    for _ in range(2):
        answer = client.post("/audit", json=body, headers=headers)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
