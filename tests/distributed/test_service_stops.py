"""SIGTERM to ``microcoder serve`` while callers wait: all of them are answered, or told so."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from benchmarks.lab import Lab, until
from benchmarks.redis_server import NoRedisError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROBLEM = {"mode": "stdio", "tests": [{"input": "1 2\n", "expected": "3\n"}]}
LINES = {"Accept": "application/x-ndjson"}
KINDS: dict[str, dict[str, str]] = {
    "plain": {},
    "lines": LINES,
    "keyed": {"Idempotency-Key": "one"},
    "keyed lines": {**LINES, "Idempotency-Key": "two"},
}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    try:
        lab = Lab(tmp_path, pools=(2,), flags=("--sandbox", "unsafe-process"))
    except NoRedisError as error:
        pytest.skip(str(error))
    with lab:
        yield lab


def body(kind: str, seconds: float) -> dict[str, Any]:
    code = f"import time; time.sleep({seconds}); print(sum(map(int, input().split())))"
    return {"submissions": [{"code": f"{code}  # {kind} {n}", "problem": PROBLEM} for n in range(2)]}


def waiting(lab: Lab, seconds: float, answers: dict[str, httpx.Response]) -> list[threading.Thread]:
    """Start a call of each kind, and return their threads when all of them are held."""

    def call(kind: str) -> None:
        url = f"{lab.url}/evaluate/batch"
        # Lines that have begun cannot say that the call is to be repeated: their stream breaks off.
        with suppress(httpx.RemoteProtocolError):
            answers[kind] = httpx.post(url, json=body(kind, seconds), headers=KINDS[kind], timeout=100)

    threads = [threading.Thread(target=call, args=(kind,)) for kind in KINDS]
    for thread in threads:
        thread.start()
    redis = lab.redis.client()
    until(lambda: redis.zcard("microcoder:active") == len(KINDS), 30, "calls are not held")
    return threads


def test_after_sigterm_every_call_that_waits_is_answered(lab: Lab) -> None:
    answers: dict[str, httpx.Response] = {}
    threads = waiting(lab, 1.5, answers)
    lab.api.send_signal(signal.SIGTERM)
    until(lambda: httpx.get(f"{lab.url}/readyz").status_code == 503, 10, "it does not drain")
    for thread in threads:
        thread.join()
    assert lab.api.wait(30) == 0
    assert {kind: answer.text.count('"verdict":"AC"') for kind, answer in answers.items()} == dict.fromkeys(
        KINDS, 2
    )


@pytest.mark.parametrize("kind", ["lines", "keyed lines"])
def test_who_has_left_before_the_first_line_is_not_waited_for(lab: Lab, kind: str) -> None:
    content = json.dumps(body(kind, 10.0)).encode()
    head = {
        "Host": "x",
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
        **KINDS[kind],
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", lab.port)) as left:
            left.sendall(f"POST /evaluate/batch HTTP/1.1\r\n{lines}\r\n".encode() + content)
    time.sleep(1.0)  # they are being read and admitted
    redis = lab.redis.client()
    until(lambda: redis.zcard("microcoder:active") == (kind == "keyed lines"), 30, "calls are not dropped")
    lab.api.send_signal(signal.SIGTERM)
    assert lab.api.wait(15) == 0


def test_at_a_second_signal_everyone_is_told_and_only_what_can_be_asked_for_again_goes_on(lab: Lab) -> None:
    answers: dict[str, httpx.Response] = {}
    threads = waiting(lab, 6.0, answers)
    for _ in range(2):
        os.kill(lab.api.pid, signal.SIGTERM)
        until(lambda: status(lab) != 200, 10, "it does not drain")
    for thread in threads:
        thread.join()
    assert lab.api.wait(30) == 0
    assert (answers["plain"].status_code, answers["plain"].json()["type"]) == (503, "not-ready")
    assert "keyed lines" not in answers or answers["keyed lines"].status_code >= 500
    assert (answers["keyed"].status_code, answers["keyed"].json()["type"]) == (503, "not-ready")
    assert answers["lines"].text.count('"verdict":"IE"') == 2
    assert lab.redis.client().zcard("microcoder:active") == 2
    lab.start_api()
    lab.wait_ready()
    again = httpx.post(
        f"{lab.url}/evaluate/batch", json=body("keyed", 6.0), headers=KINDS["keyed"], timeout=100
    )
    assert [one["verdict"] for one in again.json()["judgements"]] == ["AC", "AC"]


def status(lab: Lab) -> int:
    try:
        return httpx.get(f"{lab.url}/readyz").status_code
    except httpx.TransportError:
        return 0
