"""What others write into Redis, by mistake, of another version, or by hand: it stops nothing and calls nobody."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

from rq.job import Job

from service.distributed import keys
from service.distributed.codec import JsonSerializer
from tests.distributed.test_shared_queue import judged, plant, submission, until
from tests.service.worker_pool import pool

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]

FOREIGN_EVENTS = (b"text", b"[]", b"{}", b'{"batch": 5}\n1', b"\xff\xfe", b'{"batch": "x"}\nfirst')
# Fields of RQ's jobs, with what RQ cannot read, or would do something with.
FOREIGN_FIELDS: dict[str, str | bytes] = {
    "timeout": "abc",
    "created_at": "yesterday",
    "status": "weird",
    "retries_left": "x",
    "retry_intervals": "x",
    "meta": b"\x80\x04N.",
    "ttl": "long",
    "dependency_ids": "nope",
    "origin": "elsewhere",
    "enqueue_at_front": "maybe",
}


def test_publications_of_others_end_nobodys_listening(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        for event in FOREIGN_EVENTS:
            own_redis.client().publish(keys.EVENTS, event)
        for _ in range(5):
            judged(client, "accept")
        # What is published is what is counted.
        until(lambda: 'verdict="AC"} 5.0' in client.get("/metrics").text)


def test_a_service_that_does_not_understand_redis_says_so_and_goes_on_looking(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    redis = own_redis.client()
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        redis.zadd(keys.ACTIVE, {"a": 1, "b": 1})
        redis.hset(keys.batch("a"), mapping={"created": "yesterday", "gives_up": 2})
        redis.set(keys.batch("b"), "no hash")
        redis.hset(keys.COUNTS, keys.SANDBOX_START_FAILURES, "many")
        until(lambda: "not understood" in client.get("/readyz").text)
        redis.delete(keys.COUNTS)
        until(lambda: client.get("/readyz").status_code == 200)
        # Batches that stand still have been looked at meanwhile.
        time.sleep(6)
        assert judged(client, "accept")[0]["verdict"] == "AC"
        own_redis.stop()
        until(lambda: client.get("/readyz").status_code == 503)
        own_redis.start()


def test_a_job_of_another_version_is_our_failure_within_a_minute(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    redis = own_redis.client()
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        busy = client.post("/jobs", json={"submissions": [submission("sleep 1")]}).json()["job_id"]
        until(lambda: client.get(f"/jobs/{busy}").json()["status"] == "running")
        body = {"submissions": [submission(), submission()]}
        job_id = client.post("/jobs", json=body).json()["job_id"]
        foreign = JsonSerializer.dumps(["judge", None, [{"batch": job_id, "parts": [1, 2]}], {}])
        for key in list(redis.scan_iter(f"rq:job:{job_id}*")):
            redis.hset(key, "data", foreign)
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "finished", within_s=60)
        judgements = client.get(f"/jobs/{job_id}").json()["judgements"]
        assert [(one["verdict"], one["reward"]) for one in judgements] == [("IE", None)] * 2
        assert judged(client, "accept")[0]["verdict"] == "AC"


def test_a_job_that_rq_cannot_read_is_passed_over(own_redis: RedisServer, serve_hooked: Serve) -> None:
    redis = own_redis.client()
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        (before,) = judged(client, "accept")
        for field, value in FOREIGN_FIELDS.items():
            job_id = plant(redis, JsonSerializer.dumps(["judge", None, [{"batch": 1}], {}]), "judge")
            redis.hset(Job.key_for(job_id), field, value)
            assert (judged(client, "accept")[0]["verdict"], field) == ("AC", field)
        until(lambda: redis.llen("rq:queue:microcoder-normal") == 0)
        # By the same worker throughout.
        assert judged(client, "accept")[0]["worker"] == before["worker"]


def test_addresses_in_redis_are_not_called(own_redis: RedisServer, serve_hooked: Serve) -> None:
    calls: list[str] = []

    class Called(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            calls.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Called) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        with pool(own_redis.url):
            client = serve_hooked(queue=own_redis.url)
            hooks = [
                {"url": f"http://127.0.0.1:{server.server_port}/{status}", "job_status": status}
                for status in ("finished", "failed")
            ]
            job_id = plant(own_redis.client(), JsonSerializer.dumps(["judge", None, [1], {}]), "judge")
            own_redis.client().hset(Job.key_for(job_id), "webhooks", json.dumps(hooks))
            assert judged(client, "accept")[0]["verdict"] == "AC"
            until(lambda: own_redis.client().hget(Job.key_for(job_id), "status") == b"failed")
            time.sleep(0.5)
        server.shutdown()
        serving.join()
    assert calls == []


def test_names_of_jobs_reach_nothing_else_in_redis(own_redis: RedisServer, serve_hooked: Serve) -> None:
    with pool(own_redis.url):
        client = serve_hooked(queue=own_redis.url)
        job_id = client.post("/jobs", json={"submissions": [submission()]}).json()["job_id"]
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "finished")
        for name in (f"{job_id}:results", f"{job_id}:done", f"{job_id}%0A", "%00", "x" * 5000):
            for call in (client.get, client.delete):
                assert (call(f"/jobs/{name}").status_code, name) == (404, name)
        assert client.get(f"/jobs/{job_id}").json()["finished"] == 1
