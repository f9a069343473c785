"""``microcoder worker`` as a process: how it starts, refuses to start, drains, and what it does not show."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from benchmarks.lab import children, until
from service.distributed.keys import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]

COMMAND = (sys.executable, "-m", "service.cli", "worker", "--processes", "1")
UNSAFE = ("--sandbox", "unsafe-process", "--python", sys.executable)
PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1 2\n", "expected": "3\n"}]}
SUM = "print(sum(map(int, input().split())))"


@contextmanager
def working(url: str, *flags: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*COMMAND, *UNSAFE, *flags],
        env={**os.environ, "MICROCODER_QUEUE": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=20)


def ran(*arguments: str, url: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({} if url is None else {"MICROCODER_QUEUE": url})}
    return subprocess.run(
        [*COMMAND, *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_worker_without_a_sandbox_says_what_is_missing_and_fails(own_redis: RedisServer) -> None:
    result = ran("--sandbox", "unsafe-process", "--python", "/nowhere/python", url=own_redis.url)
    assert result.returncode == 1
    assert "/nowhere/python" in result.stderr
    assert "Cure: " in result.stderr
    assert "Traceback" not in result.stderr
    redis = own_redis.client()
    assert int(redis.hget(COUNTS, "sandbox_start_failures") or 0) == 1
    assert redis.ttl(COUNTS) > 0


def test_a_worker_needs_a_queue() -> None:
    result = ran()
    assert result.returncode == 2
    assert "--queue / MICROCODER_QUEUE" in result.stderr


def test_bad_flags_are_named(own_redis: RedisServer) -> None:
    assert "--queue / MICROCODER_QUEUE" in ran("--queue", "http://x").stderr
    assert "MICROCODER_WORKERS" in ran("--processes", "none", url=own_redis.url).stderr


def test_after_sigterm_it_finishes_what_it_judges_hands_the_rest_back_and_ends_with_status_0(
    own_redis: RedisServer, serve_hooked: Serve
) -> None:
    client = serve_hooked(queue=own_redis.url, wait_ready=False)
    with working(own_redis.url) as first:
        until(lambda: client.get("/readyz").status_code == 200, 30, "not ready")
        slow = f"import time; time.sleep(1.5); {SUM}"
        codes = [f"{slow}  # {number}" for number in range(16)]
        body = {"submissions": [{"code": code, "problem": PROBLEM} for code in codes]}
        job_id = client.post("/jobs", json=body).json()["job_id"]
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "running", 30, "not running")
        first.terminate()
        # The submission that runs, not the chunk of four that it belongs to.
        assert first.wait(15) == 0
        finished = client.get(f"/jobs/{job_id}").json()["finished"]
        assert 1 <= finished <= 2
    with working(own_redis.url):
        client.delete(f"/jobs/{job_id}")
        short = {"submissions": [{"code": SUM, "problem": PROBLEM}]}
        until(lambda: client.get("/readyz").status_code == 200, 30, "not ready")
        assert client.post("/evaluate/batch", json=short).json()["judgements"][0]["verdict"] == "AC"


def test_what_is_not_finished_within_the_drain_time_is_judged_by_another(
    own_redis: RedisServer, serve_hooked: Serve, tmp_path: Path
) -> None:
    client = serve_hooked(queue=own_redis.url, wait_ready=False)
    mark = tmp_path / "mark"
    code = f"""
import pathlib, time
mark = pathlib.Path({str(mark)!r})
if not mark.exists():
    mark.touch()
    time.sleep(60)
{SUM}
"""
    with working(own_redis.url, "--drain-s", "1") as first:
        until(lambda: client.get("/readyz").status_code == 200, 30, "not ready")
        problem = {**PROBLEM, "limits": {"wall_time_s": 90}}
        body = {"submissions": [{"code": code, "problem": problem}]}
        job_id = client.post("/jobs", json=body).json()["job_id"]
        until(mark.exists, 30, "not begun")
        first.terminate()
        assert first.wait(15) == 0
    with working(own_redis.url):
        until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "finished", 30, "not finished")
    (judgement,) = client.get(f"/jobs/{job_id}").json()["judgements"]
    assert judgement["verdict"] == "AC"


def test_a_pool_that_is_killed_takes_its_workers_along(own_redis: RedisServer) -> None:
    with working(own_redis.url) as process:
        redis = own_redis.client()
        until(lambda: redis.scard("rq:workers") == 1, 30, "not ready")
        workers = children(process.pid)
        everything = [*workers, *(judge for worker in workers for judge in children(worker))]
        assert len(everything) >= 2
        process.kill()
        until(lambda: not any(map(running, everything)), 20, "still running")


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_password_is_shown_nowhere(own_redis: RedisServer) -> None:
    own_redis.client().config_set("requirepass", "s3cret")
    url = own_redis.url.replace("redis://", "redis://:s3cret@")
    with working(url) as process:
        assert process.stdout is not None
        assert "s3cret" not in process.stdout.readline()
        deadline_s = time.monotonic() + 30
        while not children(process.pid):
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        for pid in (process.pid, *children(process.pid)):
            assert b"s3cret" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert "s3cret" not in errors


def refusals(redis: Any) -> int:
    """Return how often somebody gave a wrong password."""
    return sum(entry["count"] for entry in redis.acl_log() if entry["reason"] == "auth")


def test_a_pool_that_may_not_use_redis_says_so_once_and_judges_as_soon_as_it_may(
    own_redis: RedisServer,
) -> None:
    redis = own_redis.client()
    redis.ping()
    # Whoever is connected by now stays so.
    redis.config_set("requirepass", "another")
    url = own_redis.url.replace("redis://", "redis://:wrong@")
    with working(url) as process:
        until(lambda: refusals(redis) > 2, 60, "has not tried again")
        redis.config_set("requirepass", "wrong")
        until(lambda: redis.scard("rq:workers") == 1, 30, "not ready")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors.count("invalid username-password pair") == 1
