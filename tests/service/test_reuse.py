"""The same program against the same problem is judged once, unless its judgement says nothing certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from service.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Serve = Callable[..., httpx.Client]

PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}


def submission(code: str, **fields: Any) -> dict[str, Any]:
    return {"code": code, "problem": PROBLEM, **fields}


def judged(client: httpx.Client, *submissions: dict[str, Any]) -> list[dict[str, Any]]:
    answer = client.post("/evaluate/batch", json={"submissions": list(submissions)})
    assert answer.status_code == 200, answer.text
    judgements: list[dict[str, Any]] = answer.json()["judgements"]
    return judgements


def runs(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_equal_submissions_of_a_batch_are_judged_once_and_all_answered(
    serve_any: Serve, tmp_path: Path
) -> None:
    client = serve_any(cache_ttl_s=60)
    code = f"count {tmp_path / 'runs'}"
    judgements = judged(client, *(submission(code, id=name) for name in "abc"))
    assert [(one["id"], one["index"], one["verdict"]) for one in judgements] == [
        ("a", 0, "AC"),
        ("b", 1, "AC"),
        ("c", 2, "AC"),
    ]
    assert [one["cached"] for one in judgements] == [False, True, True]
    assert runs(tmp_path / "runs") == 1


def test_equal_submissions_of_two_batches_are_judged_once(serve_any: Serve, tmp_path: Path) -> None:
    client = serve_any(cache_ttl_s=60)
    code = f"count {tmp_path / 'runs'}"
    (first,) = judged(client, submission(code, id="first"))
    (second,) = judged(client, submission(code, id="second"))
    assert (first["cached"], second["cached"]) == (False, True)
    assert second["id"] == "second"
    assert {**second, "id": "first", "cached": False, "queue_s": first["queue_s"], "attempts": 1} == first
    assert runs(tmp_path / "runs") == 1


@pytest.mark.parametrize(
    "change",
    [
        {"problem": {**PROBLEM, "tests": PROBLEM["tests"] * 2}},
        {"problem": {**PROBLEM, "limits": {"cpu_time_s": 1}}},
        {"options": {"detail": "full"}},
        {"options": {"stop_on_failure": False}},
    ],
)
def test_what_differs_in_anything_that_counts_is_judged_again(
    serve_any: Serve, tmp_path: Path, change: dict[str, Any]
) -> None:
    client = serve_any(cache_ttl_s=60)
    code = f"count {tmp_path / 'runs'}"
    judgements = judged(client, submission(code), submission(code, **change))
    assert [one["cached"] for one in judgements] == [False, False]
    assert runs(tmp_path / "runs") == 2


def test_priority_and_id_do_not_count(serve_any: Serve, tmp_path: Path) -> None:
    client = serve_any(cache_ttl_s=60)
    code = f"count {tmp_path / 'runs'}"
    judged(client, submission(code))
    (again,) = judged(client, submission(code, options={"priority": "high"}))
    assert again["cached"]


@pytest.mark.parametrize(("outcome", "verdict"), [("raise", "IE"), ("tle", "TLE")])
def test_our_failures_and_time_limits_answer_for_nobody_else(
    serve_any: Serve, tmp_path: Path, outcome: str, verdict: str
) -> None:
    client = serve_any(cache_ttl_s=60)
    code = f"count-{outcome} {tmp_path / 'runs'}"
    judgements = judged(client, submission(code), submission(code))
    judgements += judged(client, submission(code))
    assert [(one["verdict"], one["cached"]) for one in judgements] == [(verdict, False)] * 3
    assert runs(tmp_path / "runs") == 3


def test_it_can_be_switched_off(serve_any: Serve, tmp_path: Path) -> None:
    client = serve_any(cache_ttl_s=0)
    code = f"count {tmp_path / 'runs'}"
    judgements = judged(client, submission(code), submission(code)) + judged(client, submission(code))
    assert [one["cached"] for one in judgements] == [False] * 3
    assert runs(tmp_path / "runs") == 3


def test_what_is_kept_is_bounded_in_bytes_and_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now_s)
    renewed, aging = Kept[str](100, 10), Kept[str](100, 10, renews=False)
    for kept in (renewed, aging):
        for name in "abc":
            kept.put(name, name.upper(), 40)
        assert [kept.get(name) for name in "abc"] == [None, "B", "C"]
        kept.put("c", "D", 90)
        assert [kept.get(name) for name in "bc"] == [None, "D"]
        kept.put("huge", "E", 1000)
        assert (kept.get("c"), kept.get("huge"), len(kept)) == (None, "E", 1)
    now_s += 6
    assert (renewed.get("huge"), aging.get("huge")) == ("E", "E")
    now_s += 6
    assert (renewed.get("huge"), aging.get("huge")) == ("E", None)
    assert renewed.pop("huge") == "E"
    assert renewed.pop("huge") is None
