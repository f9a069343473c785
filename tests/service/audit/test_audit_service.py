"""``POST /audit`` and ``GET /audit/{id}`` of a served application, with real audits in child processes."""

from __future__ import annotations

import asyncio
import os
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
from service.http.audits.store import DEAD_AFTER_S, JobStatus, ReportStore
from service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBLEM = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}
PAGE = {"Accept": "text/html"}
DEADLINE_S = 120.0


def item(code: str = "print(1)", truth: str = "accept", **fields: Any) -> dict[str, Any]:
    return {"submission": {"code": code, "problem": PROBLEM, **fields}, "truth": truth}


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
    body = {
        "items": [item("import time\ntime.sleep(600)", problem={**PROBLEM, "limits": {"wall_time_s": 60}})]
    }
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
    store = ReportStore(tmp_path, kept=1)
    left = [store.status(one.rpartition("/")[2]) for one in locations]
    assert [one.error for one in left if one is not None] == ["the service is stopping"] * 4


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
    ("stored problem", {"items": [item(problem=None, problem_id="p")]}, 422, "items.0.submission.problem_id"),
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
def test_unknown_audits_are_not_found(client: httpx.Client, job_id: str) -> None:
    answer = client.get(f"/audit/{job_id}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_contract_is_described(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    assert {"/audit", "/audit/{job_id}"} <= set(described["paths"])
    assert "AuditRequest" in described["components"]["schemas"]


def test_only_the_latest_reports_are_kept(tmp_path: Path) -> None:
    store = ReportStore(tmp_path, kept=2)
    for age, name in enumerate("abc"):
        store.write_report(name * 32, b"{}", b"")
        os.utime(tmp_path / (name * 32) / "report.json", (age, age))
    store.write_report("d" * 32, b"{}", b"")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["c" * 32, "d" * 32]


def test_reports_outlive_the_service_that_made_them(tmp_path: Path) -> None:
    store = ReportStore(tmp_path, kept=2)
    status = JobStatus(job_id="a" * 32, status="finished", total=1, finished=1)
    store.write_report(status.job_id, b"{}", b"<p>")
    store.write_status(status)
    other = ReportStore(tmp_path, kept=2)
    assert other.status(status.job_id) == status
    assert (other.report(status.job_id, "json"), other.report(status.job_id, "html")) == (b"{}", b"<p>")


def test_an_audit_whose_service_died_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ReportStore(tmp_path, kept=2)
    store.write_status(JobStatus(job_id="b" * 32, status="running", total=9, finished=3))
    alive = store.status("b" * 32)
    assert alive is not None
    assert alive.status == "running"
    now_s = time.time()
    monkeypatch.setattr("service.http.audits.store.time.time", lambda: now_s + DEAD_AFTER_S + 5)
    dead = store.status("b" * 32)
    assert dead is not None
    assert (dead.status, dead.error) == ("failed", "the service that ran it has ended")
