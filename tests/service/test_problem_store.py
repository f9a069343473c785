"""Problems that are stored once and named by many submissions."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from service.errors import InvalidFieldsError
from service.intake import Intake, Item, Known, Shape
from service.wire import Options, canonical_json, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Serve = Callable[..., httpx.Client]

PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}
OTHER: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "2\n", "expected": "2\n"}] * 3}


def test_a_stored_problem_is_judged_against_by_its_name(serve_any: Serve) -> None:
    client = serve_any()
    assert client.put("/problems/two sums/ü", json=OTHER).status_code == 201
    batch = {
        "submissions": [
            {"code": "accept", "problem_id": "two sums/ü"},
            {"code": "accept", "problem": PROBLEM},
            {"code": "accept", "problem_id": "two sums/ü"},
        ]
    }
    judgements = client.post("/evaluate/batch", json=batch).json()["judgements"]
    assert [one["total"] for one in judgements] == [3, 1, 3]
    single = client.post("/evaluate", json={"code": "accept", "problem_id": "two sums/ü"}).json()
    assert (single["verdict"], single["total"]) == ("AC", 3)


def test_a_name_keeps_its_content_until_it_is_dropped(serve_any: Serve) -> None:
    client = serve_any()
    first = client.put("/problems/p", json=PROBLEM)
    assert (first.status_code, first.json()["tests"]) == (201, 1)
    assert first.json()["digest"] == digest_of(canonical_json(PROBLEM))
    again = client.put("/problems/p", content=json.dumps(dict(reversed(PROBLEM.items())), indent=3))
    assert again.status_code == 200
    refused = client.put("/problems/p", json=OTHER)
    assert (refused.status_code, refused.json()["type"]) == (409, "problem-conflict")
    assert client.delete("/problems/p").status_code == 204
    assert client.put("/problems/p", json=OTHER).status_code == 201


def test_a_stored_problem_can_be_read_and_asked_for(serve_any: Serve) -> None:
    client = serve_any()
    for answer in (client.get("/problems/p"), client.head("/problems/p"), client.delete("/problems/p")):
        assert answer.status_code == 404
    assert client.get("/problems/p").json()["missing"] == ["p"]
    client.put("/problems/p", json=PROBLEM)
    read = client.get("/problems/p")
    assert (read.status_code, read.json()) == (200, PROBLEM)
    head = client.head("/problems/p")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == read.headers["etag"]


def test_a_name_that_is_a_digest_must_be_the_contents(serve_any: Serve) -> None:
    client = serve_any()
    right = digest_of(canonical_json(PROBLEM))
    assert client.put(f"/problems/{right}", json=PROBLEM).status_code == 201
    wrong = client.put(f"/problems/{right}", json=OTHER)
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["field"] == "problem_id"


def test_the_order_of_a_tests_own_keys_is_part_of_the_content(serve_any: Serve) -> None:
    """Programs see it; the order of the contract's fields nobody sees."""
    client = serve_any()
    case = {"args": [{"b": 1, "a": 2}], "expected": 1}
    problem = {"mode": "call", "entry_point": "f", "tests": [case]}
    digest = client.put("/problems/p", json=problem).json()["digest"]
    assert list(client.get("/problems/p").json()["tests"][0]["args"][0]) == ["b", "a"]
    fields = {**dict(reversed(problem.items())), "tests": [dict(reversed(case.items()))]}
    assert client.put("/problems/p", json=fields).json()["digest"] == digest
    other = {**problem, "tests": [{**case, "args": [{"a": 2, "b": 1}]}]}
    assert client.put("/problems/p", json=other).status_code == 409


def test_a_digest_with_keys_sorted_everywhere_names_a_content_too(serve_any: Serve) -> None:
    client = serve_any()
    case = {"args": [{"b": 1, "a": "\u00e4"}], "expected": 1}
    problem = {"mode": "call", "entry_point": "f", "tests": [case]}
    text = json.dumps(problem, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    name = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert client.put(f"/problems/{name}", json=problem).status_code == 201
    assert list(client.get(f"/problems/{name}").json()["tests"][0]["args"][0]) == ["b", "a"]
    case["args"] = [{"a": "\u00e4", "b": 1}]
    assert client.put(f"/problems/{name}", json=problem).status_code == 409
    case["args"] = [{"a": "\u00e4", "b": 2}]
    assert client.put(f"/problems/{name}", json=problem).status_code == 422


def test_unknown_names_are_listed_all_at_once(serve_any: Serve) -> None:
    client = serve_any()
    client.put("/problems/known", json=PROBLEM)
    names = ["b", "known", "a", "b"]
    batch = {"submissions": [{"code": "accept", "problem_id": name} for name in names]}
    answer = client.post("/evaluate/batch", json=batch)
    assert (answer.status_code, answer.json()["missing"]) == (404, ["b", "a"])


@pytest.mark.parametrize(
    ("problem", "field"),
    [
        ({"mode": "stdio", "tests": []}, "tests"),
        ({"mode": "guess", "tests": [{}]}, "mode"),
        ({**PROBLEM, "limits": {"cpu_time_s": 1e9}}, "limits.cpu_time_s"),
        ({**PROBLEM, "comparison": {"profile": "lenient"}}, "comparison.profile"),
        ({**PROBLEM, "tests": [{"input": "", "expected": "", "wieght": 2}]}, "tests.0.wieght"),
    ],
)
def test_an_invalid_problem_is_refused_by_field(
    serve_any: Serve, problem: dict[str, Any], field: str
) -> None:
    answer = serve_any().put("/problems/p", json=problem)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] == field


def test_a_large_problem_is_stored_without_keeping_others_waiting(serve_any: Serve) -> None:
    client = serve_any()
    large = {"mode": "stdio", "tests": [{"input": "x" * 10_000, "expected": "y"}] * 200}
    assert client.put("/problems/large", json=large).json()["tests"] == 200
    batch = {"submissions": [{"code": "accept", "problem_id": "large"}] * 16}
    judgements = client.post("/evaluate/batch", json=batch).json()["judgements"]
    assert [(one["verdict"], one["total"]) for one in judgements] == [("AC", 200)] * 16


def test_unused_problems_go_when_the_memory_store_is_full(serve_hooked: Serve) -> None:
    client = serve_hooked(problem_bytes=1000)
    for name in ("a", "b", "c"):
        problem = {"mode": "stdio", "tests": [{"input": name * 300, "expected": ""}]}
        assert client.put(f"/problems/{name}", json=problem).status_code == 201
        client.get("/problems/a")
    assert [client.head(f"/problems/{name}").status_code for name in ("a", "b", "c")] == [200, 404, 200]


@pytest.mark.parametrize(("shape", "field"), [("single", "language"), ("batch", "submissions.1.language")])
def test_a_stored_problem_that_a_language_cannot_be_tested_in_is_refused_by_field(
    shape: Shape, field: str
) -> None:
    item = Item(
        index=1,
        id="one",
        submission=b"{}",
        problem="",
        tests=0,
        deadline_s=0.0,
        options=Options(),
        language="c",
        stored="p",
    )
    stdio, call = (Known("key", mode, prelude=False, tests=2, deadline_s=50.0) for mode in ("stdio", "call"))
    resolved = Intake([item], {}).resolved({"p": stdio}, shape).items[0]
    assert (resolved.problem, resolved.tests, resolved.deadline_s > 50.0) == ("key", 2, True)
    with pytest.raises(InvalidFieldsError) as refused:
        Intake([item], {}).resolved({"p": call}, shape)
    assert refused.value.errors[0].field == field
