"""A problem has one id, whoever uploads it: the client computes what the service computes from any JSON of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainer_client.live import PROBLEM, RIGHT
from trainer_client import EvaluatorClient, ProblemError, parse_problem
from trainer_client.encoding import EncodedProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.fault_proxy import FaultProxy


def calling(value: Any) -> dict[str, Any]:
    return {"mode": "call", "entry_point": "f", "tests": [{"args": [value], "expected": value}]}


@pytest.fixture(scope="module")
def digest(url: str) -> Iterator[Callable[[str], str]]:
    """Give a function that stores JSON text under a name, drops it, and returns the digest in the receipt."""
    with httpx.Client(base_url=url) as http:

        def stored(text: str) -> str:
            answer = http.put(
                "/problems/any", content=text.encode(), headers={"Content-Type": "application/json"}
            )
            assert answer.is_success, answer.text
            assert http.delete("/problems/any").is_success
            found: str = answer.json()["digest"]
            return found

        yield stored


VALUES = [
    pytest.param([0.1, 1e22, 1e16, 5e-324, -0.0, 123456789.123456789, 1.0], id="floats"),
    pytest.param([2**53 + 1, 2**63, -(2**64), 10**300, 0], id="integers of any size"),
    pytest.param(["ä", "日本", "😀", "\u2028\x85\x7f", "\x00\x1f", '"\\/'], id="any character"),
    pytest.param(["\ud800", "a\udc00b", "\udc00\ud800", "\ud83d\ude00"], id="halves of surrogate pairs"),
    pytest.param({"b": 1, "a": {"d": None, "c": [True]}}, id="keys out of order"),
]


@pytest.mark.parametrize("value", VALUES)
def test_the_id_is_the_digest_of_the_same_problem_sent_by_hand(
    digest: Callable[[str], str], value: Any
) -> None:
    problem = calling(value)
    identity = EncodedProblem.of(parse_problem(problem)).id
    assert identity == digest(json.dumps(problem))
    assert identity == digest(json.dumps(dict(reversed(problem.items())), indent=1))
    assert identity != digest(json.dumps(calling([value])))


@settings(max_examples=100, deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec=None, exclude_categories=())),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc"), inner, max_size=4),
        max_leaves=12,
    )
)  # fmt: skip
def test_that_holds_for_any_values(digest: Callable[[str], str], value: Any) -> None:
    problem = calling(value)
    assert EncodedProblem.of(parse_problem(problem)).id == digest(json.dumps(problem))


def test_a_problem_that_somebody_else_uploaded_under_its_digest_is_used(
    url: str, harm: Callable[..., FaultProxy]
) -> None:
    encoded = EncodedProblem.of(PROBLEM)
    answer = httpx.put(f"{url}/problems/{encoded.id}", content=encoded.text.encode())
    assert answer.json()["problem_id"] == answer.json()["digest"] == encoded.id
    proxy = harm()
    with EvaluatorClient(proxy.url) as client:
        assert client.rewards([RIGHT], [PROBLEM]) == [1.0]
    assert proxy.seen.requests[0].path == f"/problems/{encoded.id}"


def test_a_program_sees_keys_in_the_order_in_which_they_were_given(url: str) -> None:
    first, second = ({"z": 1, "a": 2}, {"a": 2, "z": 1})
    listing = "```python\ndef f(d, **more): return [*d, *more]\n```"
    problems = [
        {
            "mode": "call",
            "entry_point": "f",
            "tests": [{"args": [keys], "kwargs": {"y": 0, "b": 0}, "expected": [*keys, "y", "b"]}],
        }
        for keys in (first, second)
    ]
    assert len({EncodedProblem.of(parse_problem(problem)).id for problem in problems}) == 2
    with EvaluatorClient(url) as client:
        assert client.rewards([listing] * 2, problems) == [1.0, 1.0]
        assert client.rewards(
            ["```python\ndef f(d, **more): return sorted([*d, *more])\n```"], problems[:1]
        ) == [0.0]


@pytest.mark.parametrize("value", [10**5000, float("nan"), float("inf")], ids=["vast", "nan", "infinite"])
def test_a_number_that_json_cannot_carry_is_an_error_that_names_the_submission(url: str, value: Any) -> None:
    with EvaluatorClient(url) as client, pytest.raises(ProblemError, match=r"(submissions|problems)\.1"):
        client.rewards([RIGHT] * 2, [PROBLEM, calling(value)])
