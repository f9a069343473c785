"""Machines whose clocks differ share a queue: only the clock of Redis counts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.distributed.test_shared_queue import submission, until
from tests.service.worker_pool import HOOKED_POOL, pool

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]

SKEWED = (sys.executable, str(Path(__file__).parents[1] / "service" / "skewed_pool_worker.py"))


@pytest.mark.parametrize(
    ("skew_s", "first", "second"),
    [
        pytest.param("-3600", SKEWED, HOOKED_POOL, id="behind"),
        pytest.param("3600", HOOKED_POOL, SKEWED, id="ahead"),
    ],
)
def test_a_worker_whose_clock_is_wrong_counts_as_alive_and_keeps_and_leaves_jobs(
    own_redis: RedisServer,
    serve_hooked: Serve,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    skew_s: str,
    first: tuple[str, ...],
    second: tuple[str, ...],
) -> None:
    monkeypatch.setenv("SKEW_S", skew_s)
    runs = tmp_path / "runs"
    client = serve_hooked(queue=own_redis.url, wait_ready=False)
    with pool(own_redis.url, command=first):
        until(lambda: client.get("/readyz").status_code == 200)
        body = {"submissions": [submission(f"sleep-count 14 {runs}")]}
        job_id = client.post("/jobs", json=body).json()["job_id"]
        until(runs.exists)
        # Who has nothing to do takes over what those have who seem lost.
        with pool(own_redis.url, command=second):
            until(lambda: client.get("/readyz").json()["workers_alive"] == 2)
            until(lambda: client.get(f"/jobs/{job_id}").json()["status"] == "finished")
            (judgement,) = client.get(f"/jobs/{job_id}").json()["judgements"]
    assert (judgement["verdict"], judgement["attempts"]) == ("AC", 1)
    assert len(runs.read_text("ascii").splitlines()) == 1
