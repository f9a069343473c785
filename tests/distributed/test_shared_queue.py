"""The queue in Redis from inside: who judges what, what stands, what is dropped, and what stays in memory."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from rq.job import Job
from rq.utils import as_text

from service.distributed.batches import Batches, Capacity, Measured, Outcome
from service.distributed.codec import JsonSerializer, MalformedDataError, pack, unpack
from service.distributed.connection import async_connection
from service.intake import Intake, Item
from service.wire import Options, Verdict
from tests.service.worker_pool import pool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]

PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}
# What RQ keeps of its queues and workers, which come and go with them.
RQ_INDEXES = (b"rq:queue", b"rq:workers", b"rq:wip:", b"rq:failed:")


def submission(code: str = "accept", **fields: Any) -> dict[str, Any]:
    return {"code": code, "problem": PROBLEM, **fields}


def judged(client: httpx.Client, *codes: str, **fields: Any) -> list[dict[str, Any]]:
    body = {"submissions": [submission(code, **fields) for code in codes]}
    answer = client.post("/evaluate/batch", json=body)
    assert answer.status_code == 200, answer.text
    judgements: list[dict[str, Any]] = answer.json()["judgements"]
    return judgements


def until(condition: Callable[[], bool], within_s: float = 30.0) -> None:
    deadline_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def test_a_submission_that_kills_worker_after_worker_is_our_failure_and_only_it(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    # One worker, so that the fatal one shares its chunk with others, which are judged before and after it.
    codes = ["accept", "accept", "die-together", *["accept"] * 13]
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        judgements = judged(client, *codes)
    assert [one["verdict"] for one in judgements] == [
        "IE" if code == "die-together" else "AC" for code in codes
    ]
    assert judgements[2]["reward"] is None


def test_a_worker_that_is_killed_is_replaced_and_its_job_judged_elsewhere(
    own_redis: RedisServer, serve_hooked: Serve, tmp_path: Path
) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        (before,) = judged(client, "accept")
        (after,) = judged(client, f"die-once {tmp_path / 'once'}")
        (then,) = judged(client, "accept")
    assert (before["verdict"], before["attempts"]) == ("AC", 1)
    assert (after["verdict"], after["attempts"]) == ("AC", 2)
    assert then["message"] == after["message"] != before["message"]


def test_a_judge_that_fails_is_our_failure_at_once(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        verdicts = [one["verdict"] for one in judged(client, "raise", "die", "accept")]
    assert verdicts == ["IE", "IE", "AC"]


def test_a_judging_that_rq_breaks_off_leaves_nothing_for_the_next_submission(
    own_redis: RedisServer, serve_hooked: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RQ's own time limit is for workers that went wrong; what such a one still answers is nobody's."""
    monkeypatch.setattr("service.distributed.chunk_job.MARGIN_S", -122)
    monkeypatch.setattr("service.deadline.RUNS_PER_TEST", 2)
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        (hanging,) = judged(client, "sleep 4", id="late")
        (then,) = judged(client, "accept", id="then")
    assert (hanging["id"], hanging["verdict"], hanging["reward"]) == ("late", "IE", None)
    assert (then["id"], then["verdict"]) == ("then", "AC")


def test_a_client_that_leaves_frees_the_worker(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        with pytest.raises(httpx.ReadTimeout):
            client.post("/evaluate", json=submission("hang"), timeout=1.5)
        started_s = time.monotonic()
        assert judged(client, "accept")[0]["verdict"] == "AC"
        assert time.monotonic() - started_s < 10
        until(lambda: client.get("/readyz").json()["waiting"] == 0)


def test_low_priority_is_not_starved(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        judged(client, "accept")
        high = [
            client.post(
                "/jobs", json={"submissions": [submission("sleep 0.05", options={"priority": "high"})]}
            ).json()["job_id"]
            for _ in range(50)
        ]
        low = judged(client, "accept", options={"priority": "low"})
        waiting = client.get(f"/jobs/{high[-1]}").json()["status"]
        assert low[0]["verdict"] == "AC"
        assert waiting in {"queued", "running"}


def test_high_priority_overtakes(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        judged(client, "accept")
        low = [
            client.post(
                "/jobs", json={"submissions": [submission("sleep 0.1", options={"priority": "low"})]}
            ).json()["job_id"]
            for _ in range(30)
        ]
        assert judged(client, "accept", options={"priority": "high"})[0]["verdict"] == "AC"
        assert client.get(f"/jobs/{low[-1]}").json()["status"] == "queued"


def test_jobs_that_got_lost_on_their_way_are_found(own_redis: RedisServer, serve_hooked: Serve) -> None:
    """A worker can die between taking a job and saying so; Redis can lose what it held."""
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        client.post("/jobs", json={"submissions": [submission("sleep 2")]})
        redis = own_redis.client()
        until(lambda: redis.zcard("rq:wip:microcoder-normal") == 1)
        taken, gone = (
            client.post("/jobs", json={"submissions": [submission(id="one")]}).json()["job_id"]
            for _ in range(2)
        )
        assert redis.lrem("rq:queue:microcoder-normal", 1, f"{taken}-0") == 1
        redis.delete(Job.key_for(f"{gone}-0"))

        def statuses() -> set[str]:
            return {client.get(f"/jobs/{one}").json()["status"] for one in (taken, gone)}

        until(lambda: statuses() == {"finished"}, within_s=90)
        verdicts = [client.get(f"/jobs/{one}").json()["judgements"][0]["verdict"] for one in (taken, gone)]
    assert verdicts == ["AC", "IE"]


def test_a_job_is_found_by_another_api_process_and_goes_on_without_the_first(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    with pool(own_redis.url):
        first, second = (serve_hooked(queue=own_redis.url) for _ in range(2))
        body = {"submissions": [submission("sleep 0.5", id="a"), submission(id="b")]}
        job_id = first.post("/jobs", json=body).json()["job_id"]
        lines = second.get(f"/jobs/{job_id}", headers={"Accept": "application/x-ndjson"}).text
        assert len(lines.splitlines()) == 2
        assert second.get(f"/jobs/{job_id}").json()["status"] == "finished"
        assert second.delete(f"/jobs/{job_id}").json()["finished"] == 2


def test_an_empty_redis_after_a_restart_loses_nothing_of_those_who_wait(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        answers: list[list[dict[str, Any]]] = []
        codes = ["sleep 0.5"] * 8
        thread = threading.Thread(target=lambda: answers.append(judged(client, *codes)))
        thread.start()
        until(lambda: own_redis.client().exists("rq:wip:microcoder-normal") == 1)
        own_redis.stop(kill=True)
        own_redis.lose_everything()
        own_redis.start()
        thread.join(120)
    assert [(one["verdict"], one["reward"]) for one in answers[0]] == [("AC", 1.0)] * 8


def test_nothing_is_left_in_redis_without_a_time_to_live(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url, cache_ttl_s=60, api_keys="k", key_requests_per_s=1000)
        client.headers["Authorization"] = "Bearer k"
        client.put("/problems/p", json=PROBLEM)
        judged(client, "accept", "raise", "die", "accept")
        body = {"submissions": [submission("hang"), submission("hang"), submission("raise")]}
        job_id = client.post("/jobs", json=body, headers={"Idempotency-Key": "k"}).json()["job_id"]
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "running")
        client.delete(f"/jobs/{job_id}")
        redis = own_redis.client()
        plant(redis, b"\x80\x04N.", "judge")
        until(lambda: redis.exists("rq:queue:microcoder-normal") == 0)
        until(lambda: not redis.zcard("rq:wip:microcoder-normal"))

        def forever() -> list[bytes]:
            keys = [key for key in redis.scan_iter() if redis.ttl(key) == -1]
            return [key for key in keys if not key.startswith(RQ_INDEXES)]

        until(lambda: forever() == [])


def plant(redis: Any, data: bytes, name: str) -> str:
    """Write a job into the queue by hand."""
    job_id = f"planted-{os.urandom(4).hex()}"
    redis.hset(
        Job.key_for(job_id),
        mapping={
            "data": data,
            "func_name": name,
            "origin": "microcoder-normal",
            "status": "queued",
            "created_at": "2026-01-01T00:00:00.000000Z",
            "timeout": 5,
            "failure_ttl": 60,
            "failure_callback_name": "os.system",
            "success_callback_name": "os.system",
        },
    )
    redis.expire(Job.key_for(job_id), 600)
    redis.rpush("rq:queue:microcoder-normal", job_id)
    return job_id


class Exploit:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.path),))


def test_what_somebody_else_writes_into_redis_is_never_run(
    own_redis: RedisServer, serve_hooked: Serve, tmp_path: Path
) -> None:
    marks = [tmp_path / "pickled", tmp_path / "named"]
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        redis = own_redis.client()
        plant(redis, pickle.dumps(Exploit(marks[0])), "judge")
        plant(redis, JsonSerializer.dumps(["os.mkdir", None, [str(marks[1])], {}]), "os.mkdir")
        plant(redis, JsonSerializer.dumps(["judge", None, [{"batch": 1}], {}]), "judge")
        assert judged(client, "accept")[0]["verdict"] == "AC"
    assert not any(mark.exists() for mark in marks)


def test_without_workers_the_service_is_not_ready_and_says_so(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    client = serve_hooked(queue=own_redis.url, wait_ready=False)
    until(lambda: "microcoder worker" in client.get("/readyz").text)
    answer = client.post("/evaluate", json=submission())
    assert (answer.status_code, answer.json()["type"]) == (503, "not-ready")
    assert int(answer.headers["retry-after"]) >= 1
    with pool(own_redis.url):
        until(lambda: client.get("/readyz").status_code == 200)
        assert client.get("/readyz").json()["workers_alive"] == 1
    until(lambda: client.get("/readyz").status_code == 503)


def test_without_redis_the_service_is_not_ready_and_comes_back(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        own_redis.stop()
        until(lambda: "cannot be used" in client.get("/readyz").text)
        assert client.post("/evaluate", json=submission()).status_code == 503
        assert client.get("/healthz").status_code == 200
        own_redis.start()
        until(lambda: client.get("/readyz").status_code == 200)
        assert judged(client, "accept")[0]["verdict"] == "AC"


def test_a_redis_that_evicts_is_warned_of(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        own_redis.client().config_set("maxmemory", "500mb")
        own_redis.client().config_set("maxmemory-policy", "allkeys-lru")
        until(lambda: "noeviction" in "".join(client.get("/readyz").json().get("warnings", [])))


def test_a_full_redis_is_a_503_and_nothing_that_was_admitted_is_lost(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    redis = own_redis.client()
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        (warm,) = judged(client, "accept")
        assert warm["verdict"] == "AC"
        job_id = client.post("/jobs", json={"submissions": [submission("sleep 1")] * 2}).json()["job_id"]
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "running")
        redis.config_set("maxmemory", str(int(redis.info("memory")["used_memory"]) - 1))
        refused = client.post("/evaluate", json=submission())
        assert (refused.status_code, refused.json()["type"]) == (503, "not-ready")
        assert int(refused.headers["retry-after"]) >= 1
        until(lambda: "full" in client.get("/readyz").text)
        redis.config_set("maxmemory", "0")
        until(lambda: client.get("/readyz").status_code == 200)
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "finished", within_s=60)
        verdicts = [one["verdict"] for one in client.get(f"/jobs/{job_id}").json()["judgements"]]
        assert verdicts == ["AC", "AC"]
        assert judged(client, "accept")[0]["verdict"] == "AC"


def test_a_full_queue_is_a_429_for_every_api_process(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        first, second = (serve_hooked(queue=own_redis.url, backlog_submissions=3) for _ in range(2))
        job_id = first.post("/jobs", json={"submissions": [submission("hang")] * 3}).json()["job_id"]
        refused = second.post("/evaluate", json=submission())
        assert (refused.status_code, refused.json()["type"]) == (429, "queue-full")
        assert int(refused.headers["retry-after"]) >= 1
        first.delete(f"/jobs/{job_id}")
        assert judged(second, "accept")[0]["verdict"] == "AC"


def test_sixteen_rollouts_of_a_large_problem_bring_it_to_redis_once(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    noise = os.urandom(1_000_000).hex()
    problem = {"mode": "stdio", "tests": [{"input": noise, "expected": "y"}]}
    redis = own_redis.client()

    def received_bytes() -> int:
        return int(redis.info("stats")["total_net_input_bytes"])

    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        before = received_bytes()
        assert len(judged(client, *["accept"] * 16, problem=problem)) == 16
        once = received_bytes() - before
        judged(client, *["accept"] * 16, problem=problem)
        again = received_bytes() - before - once
    assert 1_000_000 < once < 2_500_000
    assert again < 100_000


def test_a_large_batch_takes_a_handful_of_connections(own_redis: RedisServer, serve_hooked: Serve) -> None:
    redis = own_redis.client()
    most = 0
    with pool(own_redis.url, 2):
        client = serve_hooked(queue=own_redis.url)
        judged(client, "accept")
        answers: list[list[dict[str, Any]]] = []
        thread = threading.Thread(target=lambda: answers.append(judged(client, *["accept"] * 1024)))
        thread.start()
        while thread.is_alive():
            most = max(most, int(redis.info("clients")["connected_clients"]))
            time.sleep(0.02)
        thread.join()
    assert [one["index"] for one in answers[0]] == list(range(1024))
    assert most < 20


def test_metrics_tell_what_was_judged_and_what_waits(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url, cache_ttl_s=60)
        judged(client, "accept", "accept", "raise")
        until(lambda: 'verdict="IE"' in client.get("/metrics").text)
        text = client.get("/metrics").text
    for line in (
        'microcoder_submissions_total{language="python",verdict="AC"} 2.0',
        'microcoder_submissions_total{language="python",verdict="IE"} 1.0',
        "microcoder_cache_hits_total 1.0",
        "microcoder_judging_seconds_count 2.0",
        "microcoder_queue_seconds_count 2.0",
        "microcoder_queue_submissions 0.0",
        "microcoder_workers_alive 1.0",
        "microcoder_sandbox_start_failures_total 0.0",
    ):
        assert line in text.splitlines()


def _one_item() -> Intake:
    item = Item(index=0, id="one", submission=b"{}", problem="p", tests=1, deadline_s=10.0, options=Options())
    return Intake([item], {})


def _outcome(verdict: Verdict) -> Outcome:
    measured = Measured(verdict=verdict, language="python", judging_s=0, queue_s=0, cached=False)
    return Outcome(0, f'{{"verdict":"{verdict}"}}'.encode(), measured)


def test_of_two_judgements_of_one_submission_the_first_stands(own_redis: RedisServer) -> None:
    """Two workers that have the same job by a fault cannot give two answers, and count as one."""

    async def both() -> tuple[list[bytes], int, int]:
        redis = async_connection(own_redis.url)
        batches = Batches(redis)
        capacity = Capacity(submissions=10, bytes=1000, wait_s=60, keep_s=60)
        states = [
            (await batches.admit("b", _one_item(), capacity, size_bytes=100, run_s=60)).state
            for _ in range(2)
        ]
        assert states == ["admitted", "there"]
        await asyncio.gather(
            *(batches.publish("b", [_outcome(verdict)]) for verdict in (Verdict.AC, Verdict.WA, Verdict.TLE))
        )
        snapshot = await batches.snapshot("b")
        assert snapshot is not None
        held = await redis.hget("microcoder:totals", "submissions")
        judgements = [one.judgement for one in await batches.read("b", 0)]
        await redis.aclose()
        return judgements, snapshot.left, int(held or 0)

    judgements, left, held = asyncio.run(both())
    assert len(judgements) == 1
    assert (left, held) == (0, 0)


@pytest.mark.parametrize("text", [b"", b"{}", b'{"a": "' + b"x" * 100_000 + b'"}'])
def test_what_is_packed_comes_out_again(text: bytes) -> None:
    packed = pack(text)
    assert unpack(packed) == text
    assert len(packed) <= len(text) + 1


@pytest.mark.parametrize("data", [b"", b"\x80\x04N.", b"znonsense", b"x{}", b'{"plain": "json"}'])
def test_what_was_not_packed_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedDataError):
        unpack(data)


def test_a_paused_worker_comes_back_and_changes_nothing(own_redis: RedisServer, serve_hooked: Serve) -> None:
    """Its job is answered by another; when it goes on, its own answer is ignored."""
    with pool(own_redis.url, 2):
        client = serve_hooked(queue=own_redis.url)
        judged(client, "accept")
        redis = own_redis.client()
        job_id = client.post("/jobs", json={"submissions": [submission("sleep 2", id="one")]}).json()[
            "job_id"
        ]
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "running")
        worker = as_text(redis.hget(Job.key_for(f"{job_id}-0"), "worker_name") or b"")
        pid = int(redis.hget(f"rq:worker:{worker}", "pid") or 0)
        os.kill(pid, signal.SIGSTOP)
        try:
            until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "finished", within_s=60)
            first = client.get(f"/jobs/{job_id}").json()["judgements"]
        finally:
            os.kill(pid, signal.SIGCONT)
        time.sleep(3)
        assert client.get(f"/jobs/{job_id}").json()["judgements"] == first
        assert first[0]["verdict"] == "AC"
        assert judged(client, "accept")[0]["verdict"] == "AC"
