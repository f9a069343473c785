"""What the queue does when workers die, hang or cannot start, when clients leave, and when it is full."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Serve = Callable[..., httpx.Client]

PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}


def submission(code: str = "accept", **fields: Any) -> dict[str, Any]:
    return {"code": code, "problem": PROBLEM, **fields}


def judged(client: httpx.Client, code: str = "accept", **fields: Any) -> dict[str, Any]:
    answer = client.post("/evaluate", json=submission(code, **fields))
    assert answer.status_code == 200, answer.text
    judgement: dict[str, Any] = answer.json()
    return judgement


def worker_pid(judgement: dict[str, Any]) -> int:
    found = re.fullmatch(r"pid (\d+)", judgement["message"])
    assert found
    return int(found[1])


def until(condition: Callable[[], bool], within_s: float = 10.0) -> None:
    deadline_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("how", ["die-once", "broken-once"])
def test_a_submission_whose_worker_is_lost_is_judged_by_a_fresh_one(
    hooked: httpx.Client, tmp_path: Path, how: str
) -> None:
    before = worker_pid(judged(hooked))
    after = judged(hooked, f"{how} {tmp_path / 'done'}")
    assert after["verdict"] == "AC"
    assert worker_pid(after) != before


def test_a_submission_that_loses_two_workers_is_our_failure_without_a_reward(hooked: httpx.Client) -> None:
    judgement = judged(hooked, "die", id="poison")
    assert (judgement["id"], judgement["verdict"], judgement["reward"]) == ("poison", "IE", None)
    assert "SIGKILL" in judgement["message"]
    assert judged(hooked)["verdict"] == "AC"


def test_only_the_submission_that_loses_workers_suffers(hooked: httpx.Client) -> None:
    batch = {"submissions": [submission("die" if index == 3 else "accept") for index in range(8)]}
    verdicts = [one["verdict"] for one in hooked.post("/evaluate/batch", json=batch).json()["judgements"]]
    assert verdicts == ["AC"] * 3 + ["IE"] + ["AC"] * 4


def test_a_judge_that_raises_is_our_failure_and_its_worker_lives_on(
    serve_hooked: Serve,
) -> None:
    client = serve_hooked()
    before = worker_pid(judged(client))
    judgement = judged(client, "raise")
    assert (judgement["verdict"], judgement["reward"], judgement["total"]) == ("IE", None, 1)
    assert "RuntimeError" in judgement["message"]
    assert worker_pid(judged(client)) == before


def test_a_worker_that_hangs_is_killed_at_its_deadline(
    serve_hooked: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.deadline.MARGIN_S", -3.7)
    client = serve_hooked()
    pid = worker_pid(judged(client))
    limits = {"cpu_time_s": 0.01, "wall_time_s": 0.01}
    judgement = judged(client, "hang", problem={**PROBLEM, "limits": limits})
    assert (judgement["verdict"], judgement["reward"]) == ("IE", None)
    assert "did not answer within" in judgement["message"]
    assert not alive(pid)


def test_a_worker_killed_while_idle_is_replaced(serve_hooked: Serve) -> None:
    client = serve_hooked()
    pid = worker_pid(judged(client))
    os.kill(pid, signal.SIGKILL)
    assert worker_pid(judged(client)) != pid


@pytest.mark.parametrize(
    ("start", "says"), [("unavailable", "No jail here. Cure: Use another machine."), ("die", "exit status 3")]
)
def test_without_a_sandbox_the_service_says_why_and_gives_no_verdict(
    serve_hooked: Serve, monkeypatch: pytest.MonkeyPatch, start: str, says: str
) -> None:
    monkeypatch.setenv("HOOKED_START", start)
    client = serve_hooked(wait_ready=False)
    until(lambda: says in client.get("/readyz").text)
    for answer in (client.get("/readyz"), client.post("/evaluate", json=submission())):
        assert (answer.status_code, answer.json()["type"]) == (503, "not-ready")
        assert int(answer.headers["retry-after"]) >= 1
    assert client.get("/healthz").status_code == 200


def test_until_the_workers_are_ready_the_service_is_not(serve_hooked: Serve) -> None:
    client = serve_hooked(wait_ready=False)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["detail"]) == (503, "the workers are starting")
    until(lambda: client.get("/readyz").status_code == 200)


def test_a_full_queue_answers_429_and_when_to_come_back(serve_hooked: Serve) -> None:
    client = serve_hooked(backlog_submissions=3)
    for _ in range(3):
        judged(client, "sleep 0.3")
    # Larger than the whole backlog, and admitted all the same, because nothing else is held.
    batch = {"submissions": [submission("sleep 0.3")] * 6}
    answers: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: answers.append(client.post("/evaluate/batch", json=batch)))
    thread.start()
    until(lambda: client.get("/readyz").json()["waiting"] >= 5)
    refused = client.post("/evaluate", json=submission())
    assert (refused.status_code, refused.json()["type"]) == (429, "queue-full")
    # At about one in 0.3 s, three too many are gone in a moment; the margin is for a busy machine.
    assert 1 <= int(refused.headers["retry-after"]) <= 10
    thread.join()
    assert [one["verdict"] for one in answers[0].json()["judgements"]] == ["AC"] * 6
    assert judged(client)["verdict"] == "AC"


def test_a_queue_full_of_bytes_answers_429_before_it_takes_the_body(serve_hooked: Serve) -> None:
    client = serve_hooked(backlog_bytes=100_000)
    large = submission(
        "sleep 0.5", problem={"mode": "stdio", "tests": [{"input": "x" * 200_000, "expected": ""}]}
    )
    thread = threading.Thread(target=lambda: client.post("/evaluate", json=large))
    thread.start()
    until(lambda: client.get("/readyz").json()["waiting"] == 1)
    assert client.post("/evaluate", json=submission()).status_code == 429
    thread.join()
    assert judged(client)["verdict"] == "AC"


def test_a_single_call_does_not_wait_for_a_whole_batch(serve_hooked: Serve) -> None:
    client = serve_hooked()
    batch = {"submissions": [submission("sleep 0.1")] * 20}
    thread = threading.Thread(target=lambda: client.post("/evaluate/batch", json=batch))
    thread.start()
    until(lambda: client.get("/readyz").json()["waiting"] >= 15)
    judged(client)
    assert client.get("/readyz").json()["waiting"] >= 5
    thread.join()


def test_high_priority_is_judged_before_normal_and_low_after(serve_hooked: Serve) -> None:
    client = serve_hooked()
    levels = ["low", "normal", "high", "low", "normal", "high"]
    batch = {
        "submissions": [submission("sleep 0.2")]
        + [submission("sleep 0.02", options={"priority": level}) for level in levels]
    }
    answer = client.post("/evaluate/batch", json=batch, headers={"Accept": "application/x-ndjson"})
    order = [json.loads(line)["index"] for line in answer.text.splitlines()]
    assert [levels[index - 1] for index in order if index] == [
        "high",
        "high",
        "normal",
        "normal",
        "low",
        "low",
    ]


def leave_early(client: httpx.Client, batch: dict[str, Any], accept: str) -> None:
    """Hang up before the answer is complete, of a stream after its first line."""
    with client.stream(
        "POST", "/evaluate/batch", json=batch, headers={"Accept": accept}, timeout=0.5
    ) as answer:
        next(answer.iter_lines())
        raise httpx.ReadTimeout("left on purpose")


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_when_the_client_leaves_what_waits_is_dropped(serve_hooked: Serve, accept: str) -> None:
    client = serve_hooked()
    batch = {"submissions": [submission("sleep 0.2")] * 100}
    with pytest.raises(httpx.ReadTimeout):
        leave_early(client, batch, accept)
    until(lambda: client.get("/readyz").json()["waiting"] == 0, within_s=5)
    assert judged(client)["verdict"] == "AC"


def test_a_problem_is_sent_to_a_worker_once(serve_hooked: Serve) -> None:
    """Sixteen rollouts of a large problem cost about as much as one, and all are judged against it."""
    client = serve_hooked()
    problem = {"mode": "stdio", "tests": [{"input": "x" * 1000, "expected": "y"}] * 1000}
    batch = {"submissions": [submission(problem=problem)] * 16 + [submission()]}
    judgements = client.post("/evaluate/batch", json=batch).json()["judgements"]
    assert [one["total"] for one in judgements] == [1000] * 16 + [1]


def test_problems_that_a_worker_has_dropped_are_sent_again(
    serve_hooked: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.queue.worker_process.KEPT_PROBLEMS_BYTES", 1000)
    client = serve_hooked()
    problems = [
        {"mode": "stdio", "tests": [{"input": "x" * 300, "expected": str(kind)}] * kind} for kind in (1, 2, 3)
    ]
    batch = {"submissions": [submission(problem=problems[index % 3]) for index in range(12)]}
    judgements = client.post("/evaluate/batch", json=batch).json()["judgements"]
    assert [one["total"] for one in judgements] == [1, 2, 3] * 4
    assert {one["verdict"] for one in judgements} == {"AC"}
