"""``POST /audit`` and ``GET /audit/{id}`` of a served application, with real audits in child processes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn

from service.audit.report import Report
from service.http.app import create_app
from service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBLEM = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}
PAGE = {"Accept": "text/html"}
DEADLINE_S = 120.0


def item(code: str = "print(1)", truth: str = "accept", **fields: Any) -> dict[str, Any]:
    return {"submission": {"code": code, "problem": PROBLEM, **fields}, "truth": truth}


SLEEPING = item("import time\ntime.sleep(600)", problem={**PROBLEM, "limits": {"wall_time_s": 60}})


@contextmanager
def served(folder: Path) -> Iterator[httpx.Client]:
    """Serve an application whose programs are trusted."""
    settings = Settings(
        sandbox="unsafe-process",
        python=sys.executable,
        workers=1,
        audit_dir=folder,
        audit_reports=4,
        log_level="error",
    )
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(settings), host="127.0.0.1", port=0, loop="asyncio", log_config=None, ws="none"
        )
    )
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            while client.get("/readyz").status_code != 200:
                time.sleep(0.02)
            yield client
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Give a client of a service for tests that leave it as they found it."""
    with served(tmp_path_factory.mktemp("reports")) as one:
        yield one


def ended(client: httpx.Client, location: str) -> dict[str, Any]:
    deadline_s = time.monotonic() + DEADLINE_S
    while True:
        answer: dict[str, Any] = client.get(location).raise_for_status().json()
        if answer["status"] not in {"queued", "running"}:
            return answer
        assert time.monotonic() < deadline_s, answer
        time.sleep(0.05)


@pytest.fixture(scope="module")
def finished(client: httpx.Client) -> tuple[str, dict[str, Any]]:
    """Give the place and the answer of an audit that has ended."""
    items = [
        item(id="one"),
        item("print('<b>1</b>')", "WA", id="<two>"),
        {**item("print(1.0)"), "source": "mine"},
    ]
    answer = client.post("/audit", json={"items": items, "repeats": 2})
    assert answer.status_code == 202
    job = answer.json()
    assert answer.headers["location"] == f"/audit/{job['job_id']}"
    assert (job["status"], job["total"]) == ("queued", 6)
    return answer.headers["location"], ended(client, answer.headers["location"])


def test_a_report_is_answered_as_json(finished: tuple[str, dict[str, Any]]) -> None:
    _, answer = finished
    assert (answer["status"], answer["finished"], answer["total"]) == ("finished", 6, 6)
    report = Report.model_validate(answer["report"])
    assert report.headline.startswith("microcoder is right on 3 of 3")
    assert [one.id for one in report.outcomes] == ["one", "<two>", "items[2]"]
    assert {group.name for group in report.profiles[0].groups} >= {"request", "mine"}


def test_a_report_is_answered_as_a_page_to_who_asks_for_it(
    client: httpx.Client, finished: tuple[str, dict[str, Any]]
) -> None:
    answer = client.get(finished[0], headers=PAGE)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "microcoder is right on 3 of 3" in answer.text
    assert client.get(finished[0]).headers["content-type"] == "application/json"


def test_audits_wait_for_their_turn_and_end_with_the_service(tmp_path: Path) -> None:
    body = {"items": [SLEEPING]}
    with served(tmp_path) as client:
        answers = [client.post("/audit", json=body) for _ in range(6)]
        assert [one.status_code for one in answers] == [202] * 4 + [429] * 2
        assert all(int(one.headers["retry-after"]) > 0 for one in answers[4:])
        locations = [one.headers["location"] for one in answers[:4]]
        page = client.get(locations[0], headers=PAGE).text
        assert 'http-equiv="refresh"' in page
        assert "0 of 1 runs" in page
        states = [client.get(one).json() for one in locations]
        assert [one["status"] for one in states] == ["running", "queued", "queued", "queued"]
        assert all("report" not in one for one in states)
    left = [kept_status(tmp_path, one) for one in locations]
    assert [one["error"] for one in left] == ["the service is stopping"] * 4


BAD: list[tuple[str, dict[str, Any], int, str]] = [
    ("nothing", {}, 422, "body"),
    ("both", {"dataset": "builtin", "items": [item()]}, 422, "body"),
    ("no items", {"items": []}, 422, "items"),
    ("unknown data set", {"dataset": "other"}, 422, "dataset"),
    ("unknown profile", {"dataset": "builtin", "profiles": ["lax"]}, 422, "profiles.0"),
    ("unknown field", {"dataset": "builtin", "repeat": 2}, 422, "repeat"),
    ("repeats", {"dataset": "builtin", "repeats": 0}, 422, "repeats"),
    ("no object", {"items": [1]}, 422, "items.0"),
    ("truth", {"items": [item(), item(truth="maybe")]}, 422, "items.1.truth"),
    ("two programs", {"items": [item(completion="x")]}, 422, "items.0.submission"),
    ("test", {"items": [item(problem={"mode": "stdio", "tests": []})]}, 422, "items.0.submission.problem.tests"),
    ("language", {"items": [item(language="latin")]}, 422, "items.0.submission.language"),
    ("options", {"items": [item(options={"detail": "full"})]}, 422, "items.0.submission.options"),
    ("id twice", {"items": [item(id="a"), item(id="a")]}, 422, "items.1.submission.id"),
    ("limit", {"items": [item(problem={**PROBLEM, "limits": {"cpu_time_s": 1e6}})]}, 422,
     "items.0.submission.problem.limits.cpu_time_s"),
    ("both problems", {"items": [item(problem_id="p")]}, 422, "items.0.submission"),
    ("no problem", {"items": [item(problem=None)]}, 422, "items.0.submission"),
    ("no text", {"items": [item(problem=None, problem_id=7)]}, 422, "items.0.submission.problem_id"),
    ("too many runs", {"items": [item(id=str(n)) for n in range(1001)], "repeats": 100}, 422, "items"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "field"), [pytest.param(*one[1:], id=one[0]) for one in BAD])
def test_bad_requests_are_refused_by_field(
    client: httpx.Client, body: dict[str, Any], status: int, field: str
) -> None:
    answer = client.post("/audit", json=body)
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert [one["field"] for one in problem["errors"]] == [field]


def test_a_body_that_is_no_json_is_refused(client: httpx.Client) -> None:
    answer = client.post("/audit", content=b"{", headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


@pytest.mark.parametrize("job_id", ["0" * 32, "x", "..%2f..%2fetc"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_unknown_audits_are_not_found(client: httpx.Client, method: str, job_id: str) -> None:
    answer = client.request(method, f"/audit/{job_id}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_contract_is_described(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    assert {"/audit", "/audit/{job_id}"} <= set(described["paths"])
    assert "AuditRequest" in described["components"]["schemas"]


def test_items_may_name_stored_problems(client: httpx.Client) -> None:
    assert client.put("/problems/ones", json=PROBLEM).is_success
    stored: dict[str, Any] = {"problem": None, "problem_id": "ones"}
    items = [item(id="a", **stored), item("print(2)", "WA", id="b", **stored), item(id="c")]
    answer = client.post("/audit", json={"items": items, "controls": True})
    assert answer.status_code == 202, answer.text
    report = ended(client, answer.headers["location"])["report"]
    assert report["headline"].startswith("microcoder is right on 3 of 3")
    assert [one["id"] for one in report["outcomes"]] == ["a", "b", "c"]
    # A problem is one however many items name it: two problems have one test each.
    assert {one["tries"] for one in report["controls"]} == {2}


def test_problems_that_are_not_stored_are_listed(client: httpx.Client) -> None:
    items = [item(problem=None, problem_id=name) for name in ("nowhere", "neither", "nowhere")]
    answer = client.post("/audit", json={"items": items})
    assert (answer.status_code, answer.json()["type"]) == (404, "unknown-problem")
    assert answer.json()["missing"] == ["nowhere", "neither"]


def test_a_stored_problem_that_a_language_cannot_be_tested_in_is_refused_by_field(
    client: httpx.Client,
) -> None:
    call = {"mode": "call", "entry_point": "f", "tests": [{"args": [], "expected": 1}]}
    assert client.put("/problems/calls", json=call).is_success
    items = [item(), item("int f() { return 1; }", problem=None, problem_id="calls", language="cpp")]
    answer = client.post("/audit", json={"items": items})
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == ["items.1.submission.language"]


def test_a_repeated_call_with_an_idempotency_key_begins_no_other_audit(client: httpx.Client) -> None:
    body = {"items": [item()], "controls": False}
    first, again = (client.post("/audit", json=body, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["job_id"] == again.json()["job_id"]
    other = client.post("/audit", json=body, headers={"Idempotency-Key": "l"})
    without = client.post("/audit", json=body)
    assert len({one.json()["job_id"] for one in (first, other, without)}) == 3
    refused = client.post("/audit", json={**body, "repeats": 2}, headers={"Idempotency-Key": "k"})
    assert refused.status_code == 422
    assert [one["field"] for one in refused.json()["errors"]] == ["Idempotency-Key"]
    for one in (first, other, without):
        assert ended(client, one.headers["location"])["status"] == "finished"
    late = client.post("/audit", json=body, headers={"Idempotency-Key": "k"})
    assert (late.json()["job_id"], late.json()["status"]) == (first.json()["job_id"], "finished")


def test_calls_with_one_key_at_the_same_time_begin_one_audit(client: httpx.Client) -> None:
    answers: list[httpx.Response] = []

    def call() -> None:
        answers.append(client.post("/audit", json={"items": [item()]}, headers={"Idempotency-Key": "same"}))

    threads = [threading.Thread(target=call) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [one.status_code for one in answers] == [202] * 3
    assert len({one.json()["job_id"] for one in answers}) == 1
    assert ended(client, answers[0].headers["location"])["status"] == "finished"


def test_a_key_of_a_refused_call_may_be_used_again(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "mended"}
    assert client.post("/audit", json={"items": []}, headers=headers).status_code == 422
    answer = client.post("/audit", json={"items": [item()]}, headers=headers)
    assert answer.status_code == 202
    assert ended(client, answer.headers["location"])["status"] == "finished"


def test_a_cancelled_audit_ends_and_the_next_one_has_its_turn(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        running, queued, last = (
            client.post("/audit", json={"items": [one]}).headers["location"]
            for one in (SLEEPING, SLEEPING, item())
        )
        while client.get(running).json()["status"] != "running":
            time.sleep(0.02)
        for one in (queued, running):
            answer = client.delete(one)
            assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
            page = client.get(one, headers=PAGE).text
            assert "Cancelled" in page
            assert 'http-equiv="refresh"' not in page
        assert ended(client, last)["status"] == "finished"
        # What has ended stays as it is.
        assert client.delete(last).json()["status"] == "finished"
        assert "report" in client.get(last).json()
        assert client.get(running).json()["status"] == "cancelled"
    assert kept_status(tmp_path, running)["status"] == "cancelled"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'{"items":' + b"[" * 300 + b"]" * 300 + b"}", id="deep in a field"),
        pytest.param(b'{"dataset": "builtin", "dataset": "builtin"}', id="a key twice"),
        pytest.param(b'{"dataset": NaN}', id="not a number"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"\xff", id="no UTF-8"),
    ],
)
def test_hostile_bodies_are_refused_and_the_service_goes_on(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/audit", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert client.get("/readyz").status_code == 200


def test_names_of_any_kind_come_back_as_they_were(client: httpx.Client) -> None:
    names = ["</script><script>alert(1)</script>", "a\x00b", "é\ud800", "x" * 200]
    items = [{**item("print(2)", id=name), "source": name} for name in names]
    body = json.dumps({"items": items}).encode()
    answer = client.post("/audit", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 202, answer.text
    report = ended(client, answer.headers["location"])["report"]
    assert [one["id"] for one in report["outcomes"]] == [*names[:2], "é\uffff", names[3]]
    page = client.get(answer.headers["location"], headers=PAGE)
    assert "<script>alert" not in page.text
    assert page.headers["x-content-type-options"] == "nosniff"


def kept_status(folder: Path, location: str) -> dict[str, Any]:
    status: dict[str, Any] = json.loads((folder / location.rpartition("/")[2] / "status.json").read_bytes())
    return status


@pytest.mark.parametrize(
    ("ending", "error"),
    [
        (signal.SIGKILL, "the service that ran it has ended"),
        (signal.SIGTERM, "the service is stopping"),
    ],
    ids=["killed", "stopped"],
)
def test_an_audit_whose_service_ends_has_failed_and_can_be_ordered_anew(
    tmp_path: Path, ending: signal.Signals, error: str
) -> None:
    """Whoever asks another service on the same folder is told so, and not that it runs for ever."""
    env = {**os.environ, "MICROCODER_AUDIT_DIR": str(tmp_path), "MICROCODER_PORT": "0"}
    command = [sys.executable, "-m", "service.cli", "serve", "--sandbox", "unsafe-process", "--workers", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env, start_new_session=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[2]
        with httpx.Client(base_url=url, timeout=60) as client:
            location = client.post("/audit", json={"items": [SLEEPING]}).headers["location"]
            while client.get(location).json()["status"] != "running":
                time.sleep(0.02)
        if ending == signal.SIGKILL:
            os.killpg(process.pid, ending)
        else:
            # It does not wait for programs of audits, which may run for hours.
            process.terminate()
            assert process.wait(60) == 0
    with served(tmp_path) as client:
        if ending == signal.SIGKILL:
            before_s = time.time() - 3600
            os.utime(tmp_path / location.rpartition("/")[2] / "status.json", (before_s, before_s))
        answer = client.get(location).json()
        assert (answer["status"], answer["error"]) == ("failed", error)
        assert error in client.get(location, headers=PAGE).text
        assert ended(client, client.post("/audit", json={"items": [item()]}).headers["location"])["report"]


def test_whoever_waits_for_a_judgement_goes_before_an_audit(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        items = [item("import time\ntime.sleep(0.2)\nprint(1)", id=str(n)) for n in range(60)]
        location = client.post("/audit", json={"items": items, "controls": False}).headers["location"]
        while client.get(location).json()["status"] != "running":
            time.sleep(0.02)
        answers = [client.post("/evaluate", json=item()["submission"]) for _ in range(3)]
        assert [one.json()["verdict"] for one in answers] == ["AC"] * 3
        # The only worker did not finish the audit first, and goes on with it afterwards.
        status = client.get(location).json()
        assert (status["status"], status["finished"] < 60) == ("running", True)
        assert ended(client, location)["report"]["headline"].startswith("microcoder is right on 60 of 60")
