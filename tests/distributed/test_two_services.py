"""Two API processes at once: one key begins one job, and a key's limits are those of both together."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import httpx

from tests.distributed.test_shared_queue import submission, until
from tests.service.worker_pool import pool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.redis_server import RedisServer

    Serve = Callable[..., httpx.Client]


def at_once(clients: list[httpx.Client], calls: list[dict[str, Any]]) -> list[httpx.Response]:
    """Send every call to each of the services, all at the same time."""

    async def answers() -> list[httpx.Response]:
        async with httpx.AsyncClient(timeout=60, limits=httpx.Limits()) as client:
            return await asyncio.gather(
                *(client.post(f"{one.base_url}/evaluate/batch", **call) for call in calls for one in clients)
            )

    return asyncio.run(answers())


def test_one_idempotency_key_at_two_services_at_once_is_judged_once(
    own_redis: RedisServer, serve_hooked: Serve, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    with pool(own_redis.url):
        services = [serve_hooked(queue=own_redis.url) for _ in range(2)]
        calls = [
            {
                "json": {"submissions": [submission(f"count {runs}", id=f"{number}")]},
                "headers": {"Idempotency-Key": f"key {number}"},
            }
            for number in range(10)
        ]
        answers = at_once(services, calls * 3)
        assert {answer.status_code for answer in answers} == {200}
        # Six answers to each key, all the same.
        assert sorted(Counter(answer.text for answer in answers).values()) == [6] * 10
        assert len(runs.read_text("ascii").splitlines()) == 10
        until(lambda: all(one.get("/readyz").json()["waiting"] == 0 for one in services))


def test_a_keys_limits_hold_for_all_services_together(own_redis: RedisServer, serve_hooked: Serve) -> None:
    shared = {"queue": own_redis.url, "api_keys": "secret", "key_concurrent_requests": 3}
    call = {
        "json": {"submissions": [submission("sleep 6")]},
        "headers": {"Authorization": "Bearer secret"},
    }
    with pool(own_redis.url, workers=3):
        services = [serve_hooked(**shared) for _ in range(2)]
        until(lambda: services[0].get("/readyz").json()["workers_alive"] == 3)
        answers = at_once(services, [call] * 10)
        assert Counter(answer.status_code for answer in answers) == {200: 3, 429: 17}
        assert all(int(one.headers["retry-after"]) >= 1 for one in answers if one.status_code == 429)
        # Their places are free again.
        (again,) = at_once(services[:1], [call])
        assert again.status_code == 200
