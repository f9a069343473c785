"""What the service does with bodies that are wrong: a clear 4xx that names the fault, at once."""

from __future__ import annotations

import gzip
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}
CALL: dict[str, Any] = {"mode": "call", "entry_point": "f", "tests": [{"args": [1], "expected": 1}]}


def submission(**fields: Any) -> dict[str, Any]:
    return {"code": "accept", "problem": PROBLEM, **fields}


def refused(answer: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["type"] == kind
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    return problem


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"", "EOF", id="empty"),
        pytest.param(b'{"code": ', "EOF", id="truncated"),
        pytest.param(b'{"code": "\xff"}', "unicode", id="not-utf8"),
        pytest.param(b"[" * 1_000_000, "200 levels", id="deep"),
        pytest.param(b'{"a":' * 1_000_000, "200 levels", id="deep-objects"),
        pytest.param(b"[]", "object", id="list"),
        pytest.param(b'"text"', "object", id="string"),
        pytest.param(b"null", "object", id="null"),
        pytest.param(b'{"code": NaN}', "expected value", id="nan"),
        pytest.param(b'{"code": -Infinity}', "invalid number", id="infinity"),
        pytest.param(b'{"code": ' + b"9" * 1_000_000 + b"}", "4300 digits", id="huge-integer"),
        pytest.param(b'{"code": "a", "code": "b"}', "duplicate key", id="repeated-key"),
        pytest.param(b'{"code": "a"} {}', "trailing", id="two-values"),
        pytest.param('{"code": "a"}'.encode("utf-16"), "expected value", id="utf16"),
    ],
)
def test_a_body_that_is_no_readable_json_is_a_400_that_says_why(
    hooked: httpx.Client, body: bytes, says: str
) -> None:
    started_s = time.monotonic()
    answer = hooked.post("/evaluate", content=body)
    assert says.lower() in refused(answer, 400, "malformed-body")["detail"].lower()
    assert time.monotonic() - started_s < 5


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "body", id="empty-object"),
        pytest.param(submission(completion="x"), "body", id="code-and-completion"),
        pytest.param(submission(problem_id="p"), "body", id="problem-and-id"),
        pytest.param(submission(code=1), "code", id="code-is-a-number"),
        pytest.param(submission(colour="red"), "colour", id="unknown-field"),
        pytest.param(submission(language="cobol"), "language", id="unknown-language"),
        pytest.param(submission(id=""), "id", id="empty-id"),
        pytest.param(submission(options={"priority": "urgent"}), "options.priority", id="option"),
        pytest.param(submission(problem=[]), "problem", id="problem-is-a-list"),
        pytest.param(submission(problem={}), "problem.mode", id="no-mode"),
        pytest.param(submission(problem={"mode": "x"}), "problem.mode", id="unknown-mode"),
        pytest.param(submission(problem={**PROBLEM, "tests": []}), "problem.tests", id="no-tests"),
        pytest.param(
            submission(problem={**PROBLEM, "tests": [{"input": "1", "expected": 1}]}),
            "problem.tests.0.expected",
            id="expected-is-a-number",
        ),
        pytest.param(
            submission(problem={**PROBLEM, "limits": {"cpu_time_s": 61}}),
            "problem.limits.cpu_time_s",
            id="limit-over-the-maximum",
        ),
        pytest.param(
            submission(problem={**PROBLEM, "tests": [{**PROBLEM["tests"][0], "limits": {"processes": 999}}]}),
            "problem.tests.0.limits.processes",
            id="limit-of-a-test-over-the-maximum",
        ),
        pytest.param(
            submission(problem={**PROBLEM, "comparison": {"profile": "lenient"}}),
            "problem.comparison.profile",
            id="unknown-profile",
        ),
        pytest.param(
            submission(problem={**CALL, "operations": True}), "problem.tests.0.args", id="whole-model-check"
        ),
    ],
)
def test_an_invalid_field_is_a_422_that_names_it(
    hooked: httpx.Client, body: dict[str, Any], field: str
) -> None:
    problem = refused(hooked.post("/evaluate", json=body), 422, "invalid-fields")
    assert [error["field"] for error in problem["errors"]] == [field]
    in_batch = refused(
        hooked.post("/evaluate/batch", json={"submissions": [submission(), body]}), 422, "invalid-fields"
    )
    nested = "submissions.1" if field == "body" else f"submissions.1.{field}"
    assert [error["field"] for error in in_batch["errors"]] == [nested]


def test_a_number_that_overflows_is_refused_where_it_stands(hooked: httpx.Client) -> None:
    body = json.dumps(submission(problem=CALL)).replace('"expected": 1', '"expected": [{"a": 1e999}]')
    problem = refused(hooked.post("/evaluate", content=body), 422, "invalid-fields")
    assert problem["errors"][0]["field"] == "problem.tests.0.expected.0.a"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "submissions", id="nothing"),
        pytest.param({"submissions": []}, "submissions", id="empty"),
        pytest.param({"submissions": {}}, "submissions", id="object"),
        pytest.param({"submissions": [1]}, "submissions.0", id="number"),
        pytest.param({"submissions": [submission()], "option": {}}, "option", id="unknown-field"),
        pytest.param(
            {"submissions": [submission(id="a"), submission(id="b"), submission(id="a")]},
            "submissions.2.id",
            id="repeated-id",
        ),
    ],
)
def test_a_batch_with_a_fault_of_its_own_is_a_422(
    hooked: httpx.Client, body: dict[str, Any], field: str
) -> None:
    problem = refused(hooked.post("/evaluate/batch", json=body), 422, "invalid-fields")
    assert [error["field"] for error in problem["errors"]] == [field]


def test_many_faults_are_counted_but_only_fifty_are_listed(hooked: httpx.Client) -> None:
    problem = refused(
        hooked.post("/evaluate/batch", json={"submissions": [3] * 100_000}), 422, "invalid-fields"
    )
    assert len(problem["errors"]) == 50
    assert "100000" in problem["detail"]


def test_the_answer_does_not_echo_the_body(hooked: httpx.Client) -> None:
    long = "secret " * 10_000
    answer = hooked.post("/evaluate", json=submission(problem={"mode": long}, **{long: 1}))
    assert answer.status_code == 422
    assert len(answer.content) < 2_000


def test_unknown_problems_are_a_404_that_lists_each_once(hooked: httpx.Client) -> None:
    batch = [{"code": "x", "problem_id": name} for name in ("b", "a", "b")] + [submission()]
    problem = refused(hooked.post("/evaluate/batch", json={"submissions": batch}), 404, "unknown-problem")
    assert problem["missing"] == ["b", "a"]


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=UTF-8", 200),
        ("application/vnd.api+json", 200),
        ("application/x-www-form-urlencoded", 415),
        ("text/plain", 415),
        ("application/json; charset=latin-1", 415),
    ],
)
def test_only_json_in_utf8_is_read(hooked: httpx.Client, content_type: str, status: int) -> None:
    answer = hooked.post(
        "/evaluate", content=json.dumps(submission()), headers={"Content-Type": content_type}
    )
    assert answer.status_code == status


@pytest.mark.parametrize("size", [1, 1_000_000], ids=["small", "large"])
@pytest.mark.parametrize(
    ("coding", "compress"),
    [("gzip", gzip.compress), ("x-gzip", gzip.compress), ("zstd", zstandard.compress), ("identity", bytes)],
)
def test_bodies_are_read_in_every_content_coding(
    hooked: httpx.Client, coding: str, compress: Any, size: int
) -> None:
    body = json.dumps(submission(code="accept " + "x" * size)).encode()
    answer = hooked.post("/evaluate", content=compress(body), headers={"Content-Encoding": coding})
    assert answer.json()["verdict"] == "AC"


@pytest.mark.parametrize("coding", ["br", "gzip, zstd", "nonsense"])
def test_an_unknown_content_coding_is_a_415_that_names_the_known(hooked: httpx.Client, coding: str) -> None:
    answer = hooked.post("/evaluate", content=b"{}", headers={"Content-Encoding": coding})
    refused(answer, 415, "unsupported-content")
    assert answer.headers["accept-encoding"] == "gzip, zstd"


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("cut", [0, 20], ids=["garbage", "truncated"])
def test_a_body_that_does_not_decompress_is_a_400(hooked: httpx.Client, coding: str, cut: int) -> None:
    whole = json.dumps(submission()).encode()
    body = b"no such coding" if not cut else (gzip if coding == "gzip" else zstandard).compress(whole)[:cut]
    refused(
        hooked.post("/evaluate", content=body, headers={"Content-Encoding": coding}), 400, "malformed-body"
    )


def test_a_body_over_the_limit_is_a_413_plain_chunked_or_as_a_bomb(
    serve_hooked: Callable[..., httpx.Client],
) -> None:
    client = serve_hooked(max_body_bytes=100_000)
    spaces = b" " * 100_000_000
    refused(client.post("/evaluate", content=spaces[:100_001]), 413, "body-too-large")
    chunks = (spaces[:10_000] for _ in range(11))
    refused(client.post("/evaluate", content=chunks), 413, "body-too-large")
    for coding, bomb in (("gzip", gzip.compress(spaces)), ("zstd", zstandard.compress(spaces))):
        assert len(bomb) < 100_000
        started_s = time.monotonic()
        answer = client.post("/evaluate", content=bomb, headers={"Content-Encoding": coding})
        refused(answer, 413, "body-too-large")
        assert time.monotonic() - started_s < 5
    fitting = json.dumps(submission()).encode()
    assert client.post("/evaluate", content=fitting + spaces[: 100_000 - len(fitting)]).status_code == 200


def test_lone_surrogates_are_read_as_no_character(hooked: httpx.Client) -> None:
    body = json.dumps(
        submission(
            code="accept \ud800 \U0001f600",
            id="\udfff",
            problem={"mode": "assert", "tests": [{"code": "\ud800"}]},
        )
    )
    assert "\\ud800" in body
    judgement = hooked.post("/evaluate", content=body).json()
    assert judgement["verdict"] == "AC"
    assert judgement["id"] == "\uffff"


def test_an_escaped_backslash_before_a_u_is_no_surrogate(hooked: httpx.Client) -> None:
    body = json.dumps(submission(id="\\ud800 \ud800"))
    assert hooked.post("/evaluate", content=body).json()["id"] == "\\ud800 \uffff"


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b"[" * 1_000_000, 400, "malformed-body"),
        (json.dumps({"submissions": [submission(code=5)] * 9_999}).encode(), 422, "invalid-fields"),
        (
            json.dumps({"submissions": [{"code": "x" * 999_999, "problem_id": "p"}]}).encode(),
            404,
            "unknown-problem",
        ),
    ],
    ids=["malformed", "invalid", "unknown-problem"],
)
def test_large_bodies_have_the_same_faults_as_small_ones(
    hooked: httpx.Client, body: bytes, status: int, kind: str
) -> None:
    refused(hooked.post("/evaluate/batch", content=body), status, kind)


def test_a_large_body_does_not_keep_others_waiting(hooked: httpx.Client) -> None:
    numbers = b"[" + b"1," * 3_000_000 + b"1]"
    body = json.dumps(submission(problem=CALL)).encode().replace(b"[1]", b"[" + numbers + b"]")
    answers: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: answers.append(hooked.post("/evaluate", content=body)))
    began_s = time.monotonic()
    thread.start()
    waits_s = []
    while thread.is_alive():
        started_s = time.monotonic()
        assert hooked.get("/healthz").status_code == 200
        waits_s.append(time.monotonic() - started_s)
    assert answers[0].json()["verdict"] == "AC"
    # Parsing it takes several times longer than any of these waits.
    assert max(waits_s) < max(0.3, (time.monotonic() - began_s) / 2)


def test_a_body_that_stops_arriving_is_a_408(serve_hooked: Callable[..., httpx.Client]) -> None:
    client = serve_hooked(body_idle_s=0.2)

    def stalling() -> Any:
        yield b"{"
        time.sleep(1)
        yield b"}"

    refused(client.post("/evaluate", content=stalling()), 408, "slow-body")


def test_unknown_paths_and_methods_are_problems_too(hooked: httpx.Client) -> None:
    refused(hooked.get("/nowhere"), 404, "not-found")
    assert refused(hooked.get("/evaluate"), 405, "method-not-allowed")
