"""API keys: several, by digest, with limits of their own."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner

from service.cli.key import key as key_command
from service.keys.ring import ApiKey, KeyLimits, KeyRing, new_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Serve = Callable[..., httpx.Client]

PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}


def evaluated(client: httpx.Client, key: str, code: str = "accept") -> httpx.Response:
    return client.post(
        "/evaluate",
        json={"code": code, "problem": PROBLEM},
        headers={"Authorization": f"Bearer {key}"},
    )


def listed(path: Path, *keys: dict[str, Any]) -> Path:
    rows = [{"sha256": hashlib.sha256(str(one.pop("key")).encode()).hexdigest(), **one} for one in keys]
    path.write_text(json.dumps({"keys": rows}))
    return path


def test_a_key_is_accepted_by_its_digest_and_nothing_else_is(serve_any: Serve, tmp_path: Path) -> None:
    made, entry = new_key("trainer")
    file = listed(tmp_path / "keys.json", {"name": "other", "key": "filed"})
    client = serve_any(api_keys=f"plain, {entry}", api_keys_file=file)
    assert [evaluated(client, one).status_code for one in ("plain", made, "filed")] == [200] * 3
    digest = entry.partition("=")[2]
    wrong = [entry, digest, digest.removeprefix("sha256:"), made[:-1], "key-1", "trainer"]
    assert [evaluated(client, one).status_code for one in wrong] == [401] * len(wrong)


def test_a_key_has_so_many_requests_at_a_time(serve_any: Serve, tmp_path: Path) -> None:
    file = listed(
        tmp_path / "keys.json",
        {"name": "narrow", "key": "narrow", "concurrent_requests": 1},
        {"name": "wide", "key": "wide"},
    )
    client = serve_any(api_keys_file=file)
    answers: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: answers.append(evaluated(client, "narrow", "sleep 1.5")))
    thread.start()
    wide = {"Authorization": "Bearer wide"}
    deadline_s = time.monotonic() + 10
    while client.get("/readyz").json()["waiting"] == 0:
        assert time.monotonic() < deadline_s
    refused = client.get("/version", headers={"Authorization": "Bearer narrow"})
    assert (refused.status_code, refused.json()["type"]) == (429, "rate-limited")
    assert int(refused.headers["retry-after"]) >= 1
    assert "'narrow'" in refused.json()["detail"]
    assert client.get("/version", headers=wide).status_code == 200
    thread.join()
    assert answers[0].json()["verdict"] == "AC"
    assert evaluated(client, "narrow").status_code == 200


def test_a_key_whose_answer_is_there_may_ask_at_once(serve_any: Serve, tmp_path: Path) -> None:
    file = listed(tmp_path / "keys.json", {"name": "narrow", "key": "narrow", "concurrent_requests": 1})
    client = serve_any(api_keys_file=file)
    headers = {"Authorization": "Bearer narrow"}
    assert {client.get("/version", headers=headers).status_code for _ in range(300)} == {200}


def test_a_key_has_so_many_requests_a_second(serve_any: Serve) -> None:
    client = serve_any(api_keys="slow", key_requests_per_s=2)
    headers = {"Authorization": "Bearer slow"}
    statuses = [client.get("/version", headers=headers).status_code for _ in range(12)]
    assert statuses[:2] == [200, 200]
    assert 429 in statuses
    assert statuses.count(200) <= 8
    time.sleep(1.1)
    assert client.get("/version", headers=headers).status_code == 200


def test_idempotency_keys_of_two_api_keys_are_two(serve_any: Serve) -> None:
    client = serve_any(api_keys="one, two")

    def worker_of(key: str) -> Any:
        headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "same"}
        return client.post("/evaluate", json={"code": "accept", "problem": PROBLEM}, headers=headers).json()[
            "id"
        ]

    assert worker_of("one") == worker_of("one")
    assert worker_of("one") != worker_of("two")


def test_a_key_is_looked_up_among_all() -> None:
    keys = [ApiKey(name=name, sha256=hashlib.sha256(name.encode()).hexdigest()) for name in ("a", "b", "c")]
    ring = KeyRing(keys)
    assert [ring.find(name) for name in (b"a", b"b", b"c")] == keys
    assert ring.find(b"d") is None
    assert not KeyRing([])
    limits = KeyLimits(requests_per_s=3, concurrent_requests=2)
    plain = KeyRing.of(["k=1", "name=sha256:short"], [], limits).find(b"k=1")
    assert plain is not None
    assert (plain.name, plain.requests_per_s, plain.concurrent_requests) == ("key-1", 3, 2)


def test_the_command_makes_a_key_that_its_entry_accepts() -> None:
    lines = CliRunner().invoke(key_command, ["trainer-1"]).output.splitlines()
    secret, entry = (line.rpartition(" ")[2] for line in lines)
    found = KeyRing.of([entry], [], KeyLimits()).find(secret.encode())
    assert found is not None
    assert found.name == "trainer-1"
    assert CliRunner().invoke(key_command, ["two words"]).exit_code == 2


@pytest.mark.parametrize(
    "content", ["", "{}", '{"keys": []}', '{"keys": [{"name": "a", "sha256": "short"}]}']
)
def test_a_bad_file_of_keys_is_refused_by_name(tmp_path: Path, content: str) -> None:
    from service.cli.serve import serve  # noqa: PLC0415 -- uvicorn, for this test only

    (tmp_path / "keys.json").write_text(content)
    result = CliRunner().invoke(serve, ["--api-keys-file", str(tmp_path / "keys.json")])
    assert result.exit_code == 2
    assert "api_keys_file cannot be read" in result.output
