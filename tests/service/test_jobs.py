"""Jobs: begun by one call and looked at by others, cancelled, repeated under one idempotency key."""

from __future__ import annotations

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
NDJSON = {"Accept": "application/x-ndjson"}


def batch(*codes: str, **options: Any) -> dict[str, Any]:
    submissions = [
        {"id": f"s{index}", "code": code, "problem": PROBLEM, **options} for index, code in enumerate(codes)
    ]
    return {"submissions": submissions}


def begun(client: httpx.Client, *codes: str) -> str:
    answer = client.post("/jobs", json=batch(*codes))
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    assert (job["total"], job["judgements"]) == (len(codes), [])
    assert answer.headers["location"] == f"/jobs/{job['job_id']}"
    return str(job["job_id"])


def looked_at(client: httpx.Client, job_id: str) -> dict[str, Any]:
    answer = client.get(f"/jobs/{job_id}")
    assert answer.status_code == 200, answer.text
    job: dict[str, Any] = answer.json()
    return job


def until[T](look: Callable[[], T], right: Callable[[T], bool], within_s: float = 20.0) -> T:
    deadline_s = time.monotonic() + within_s
    while not right(seen := look()):
        assert time.monotonic() < deadline_s, seen
        time.sleep(0.02)
    return seen


def ended(client: httpx.Client, job_id: str) -> dict[str, Any]:
    return until(lambda: looked_at(client, job_id), lambda job: job["status"] not in {"queued", "running"})


def test_a_job_tells_how_far_it_is_and_ends_with_all_judgements_in_order(serve_any: Serve) -> None:
    client = serve_any()
    job_id = begun(client, "sleep 1.5", "accept", "accept")
    part = until(lambda: looked_at(client, job_id), lambda job: job["finished"] > 0)
    if part["status"] == "running":
        assert len(part["judgements"]) == part["finished"] < 3
    job = ended(client, job_id)
    assert (job["status"], job["total"], job["finished"]) == ("finished", 3, 3)
    assert [(one["id"], one["index"], one["verdict"]) for one in job["judgements"]] == [
        ("s0", 0, "AC"),
        ("s1", 1, "AC"),
        ("s2", 2, "AC"),
    ]


def test_a_judgement_says_how_long_it_waited_and_who_tried(serve_any: Serve) -> None:
    client = serve_any()
    job = ended(client, begun(client, "sleep 0.3", "accept"))
    assert [one["attempts"] for one in job["judgements"]] == [1, 1]
    assert min(one["queue_s"] for one in job["judgements"]) >= 0
    assert max(one["queue_s"] for one in job["judgements"]) >= 0.25


def test_a_job_is_streamed_to_as_many_as_listen(serve_any: Serve) -> None:
    client = serve_any()
    job_id = begun(client, "sleep 0.5", "accept", "accept")
    for _ in range(2):
        lines = client.get(f"/jobs/{job_id}", headers=NDJSON).text.splitlines()
        assert len(lines) == 3


def test_a_cancelled_job_ends_what_runs_and_frees_the_worker(serve_any: Serve) -> None:
    client = serve_any()
    job_id = begun(client, "hang", "hang", "accept")
    until(lambda: looked_at(client, job_id), lambda job: job["status"] == "running")
    started_s = time.monotonic()
    assert client.delete(f"/jobs/{job_id}").json()["status"] == "cancelled"
    # The one worker is free again: it judges another request.
    assert client.post("/evaluate", json=batch("accept")["submissions"][0]).json()["verdict"] == "AC"
    assert time.monotonic() - started_s < 8
    assert looked_at(client, job_id)["status"] == "cancelled"
    until(lambda: client.get("/readyz").json()["waiting"], lambda waiting: waiting == 0)


def test_cancelling_a_finished_job_leaves_its_judgements(serve_any: Serve) -> None:
    client = serve_any()
    job_id = begun(client, "accept")
    ended(client, job_id)
    job = client.delete(f"/jobs/{job_id}").json()
    assert (job["status"], len(job["judgements"])) == ("finished", 1)


def test_an_unknown_job_is_a_404(serve_any: Serve) -> None:
    client = serve_any()
    for answer in (client.get("/jobs/none"), client.delete("/jobs/none")):
        assert (answer.status_code, answer.json()["type"]) == (404, "unknown-job")


def test_a_jobs_results_are_kept_for_a_limited_time(serve_any: Serve) -> None:
    client = serve_any(result_ttl_s=1)
    job_id = begun(client, "accept")
    until(lambda: client.get(f"/jobs/{job_id}").status_code, lambda status: status in {200, 404})
    time.sleep(1.5)
    until(lambda: client.get(f"/jobs/{job_id}").status_code, lambda status: status == 404)


@pytest.mark.parametrize("path", ["/evaluate", "/evaluate/batch", "/jobs"])
def test_a_repeated_call_gets_the_first_ones_answer_and_runs_nothing(
    serve_any: Serve, tmp_path: Path, path: str
) -> None:
    client = serve_any()
    body = batch(f"count {tmp_path / 'runs'}")
    sent = body["submissions"][0] if path == "/evaluate" else body
    del body["submissions"][0]["id"]
    answers = [client.post(path, json=sent, headers={"Idempotency-Key": "k"}).json() for _ in range(3)]
    if path == "/jobs":
        assert len({answer["job_id"] for answer in answers}) == 1
        ended(client, answers[0]["job_id"])
    else:
        assert answers[0] == answers[1] == answers[2]
    assert len((tmp_path / "runs").read_text().splitlines()) == 1
    client.post(path, json=sent, headers={"Idempotency-Key": "another"})
    until(lambda: len((tmp_path / "runs").read_text().splitlines()), lambda runs: runs == 2)


def test_a_call_whose_connection_was_lost_goes_on_and_is_picked_up(serve_any: Serve, tmp_path: Path) -> None:
    """A trainer that gives up reading and asks again gets the verdict of the first run."""
    client = serve_any()
    body = batch(f"sleep-count 1.5 {tmp_path / 'runs'}")
    headers = {"Idempotency-Key": "lost"}
    with pytest.raises(httpx.ReadTimeout):
        client.post("/evaluate/batch", json=body, headers=headers, timeout=0.5)
    answer = client.post("/evaluate/batch", json=body, headers=headers)
    assert [one["verdict"] for one in answer.json()["judgements"]] == ["AC"]
    assert len((tmp_path / "runs").read_text().splitlines()) == 1


def test_whoever_leaves_a_stream_for_good_knows_how_to_end_it(serve_any: Serve) -> None:
    """The head of the answer, which names the job, comes before anything has been judged."""
    client = serve_any()
    headers = {**NDJSON, "Idempotency-Key": "left"}
    with client.stream("POST", "/evaluate/batch", json=batch("hang", "accept"), headers=headers) as answer:
        path = answer.headers["content-location"]
    job_id = path.removeprefix("/jobs/")
    # It goes on without its caller, who may come back, until it is ended.
    until(lambda: looked_at(client, job_id), lambda job: job["status"] == "running")
    assert client.delete(path).json()["status"] == "cancelled"
    assert client.post("/evaluate", json=batch("accept")["submissions"][0]).json()["verdict"] == "AC"


def test_without_a_key_there_is_no_job_to_name(serve_any: Serve) -> None:
    answer = serve_any().post("/evaluate/batch", json=batch("accept"), headers=NDJSON)
    assert "content-location" not in answer.headers
    assert len(answer.text.splitlines()) == 1


def test_one_key_sent_by_many_at_once_runs_once(serve_any: Serve, tmp_path: Path) -> None:
    client = serve_any()
    body = batch(f"sleep-count 0.3 {tmp_path / 'runs'}")
    answers: list[Any] = []

    def call() -> None:
        answers.append(client.post("/evaluate/batch", json=body, headers={"Idempotency-Key": "many"}).json())

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answer == answers[0] for answer in answers)
    assert len((tmp_path / "runs").read_text().splitlines()) == 1


def test_a_key_stands_for_one_body(serve_any: Serve) -> None:
    client = serve_any()
    headers = {"Idempotency-Key": "k"}
    assert client.post("/evaluate/batch", json=batch("accept"), headers=headers).status_code == 200
    refused = client.post("/evaluate/batch", json=batch("accept", "accept"), headers=headers)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "Idempotency-Key"


def test_a_refused_call_leaves_its_key_free(serve_any: Serve) -> None:
    client = serve_any()
    headers = {"Idempotency-Key": "k"}
    assert client.post("/evaluate/batch", json={"submissions": []}, headers=headers).status_code == 422
    assert client.post("/evaluate/batch", json=batch("accept"), headers=headers).status_code == 200


@pytest.mark.parametrize("key", ["", "x" * 257])
def test_a_key_has_a_sensible_length(serve_any: Serve, key: str) -> None:
    client = serve_any()
    answer = client.post("/evaluate/batch", json=batch("accept"), headers={"Idempotency-Key": key})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"


def test_what_waited_too_long_is_our_failure_and_never_run(serve_any: Serve, tmp_path: Path) -> None:
    client = serve_any(max_wait_s=1.5)
    job_id = begun(client, "sleep 3", f"count {tmp_path / 'runs'}", f"count {tmp_path / 'runs'}")
    job = ended(client, job_id)
    assert [one["verdict"] for one in job["judgements"]] == ["AC", "IE", "IE"]
    assert [one["reward"] for one in job["judgements"]] == [1.0, None, None]
    assert "waited" in job["judgements"][1]["message"]
    assert not (tmp_path / "runs").exists()


def test_a_call_that_failed_for_lack_of_workers_can_be_repeated_under_its_key(
    serve_hooked: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve_hooked()
    headers = {"Idempotency-Key": "k"}
    monkeypatch.setenv("HOOKED_START", "unavailable")
    failed = client.post("/evaluate/batch", json=batch("die", "accept"), headers=headers)
    assert failed.status_code == 503
    monkeypatch.delenv("HOOKED_START")
    until(lambda: client.get("/readyz").status_code, lambda status: status == 200, within_s=60)
    answer = client.post("/evaluate/batch", json=batch("die", "accept"), headers=headers)
    assert [one["verdict"] for one in answer.json()["judgements"]] == ["IE", "AC"]
