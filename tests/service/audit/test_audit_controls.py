"""Controls are right or wrong beyond doubt: the default profile gets all right, a lenient one is caught."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from service.audit.controls import ControlCounts, try_controls, trying
from service.wire import Problem

PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)
PROFILES = ["microcoder", "strict", "livecodebench", "published"]


def printed(*expected: str, **comparison: Any) -> dict[str, Any]:
    tests = [{"input": "", "expected": text} for text in expected]
    return {"mode": "stdio", "tests": tests, "comparison": comparison}


def returned(*expected: Any, **comparison: Any) -> dict[str, Any]:
    tests = [{"args": [], "expected": value} for value in expected]
    return {"mode": "call", "entry_point": "f", "tests": tests, "comparison": comparison}


def tried(*problems: dict[str, Any]) -> dict[str, ControlCounts]:
    counts, _ = try_controls(
        ((str(index), PROBLEM.validate_python(one)) for index, one in enumerate(problems)), PROFILES
    )
    return {one.kind: one for one in counts if one.tries}


def test_every_kind_can_be_made() -> None:
    """There is an answer for each, printed or returned."""
    kinds = tried(
        printed("1 1 2\n", "3\n4\n", "0.123456 2.5\n", "YES\n", "red green\n"),
        printed("a\nb\n", order="lines"),
        returned([1, 1, 2], {"1": 0.123456}, "word", [True, 4]),
    )
    assert sorted(kinds) == sorted([*trying.WRONG, *trying.RIGHT])
    assert all(one.accepted["microcoder"] == (one.tries if one.right else 0) for one in kinds.values())


def test_a_lenient_profile_is_caught_by_name_and_example() -> None:
    kinds = tried(printed("1 2\n3 4\n"), printed("1000000007\n"))
    assert kinds["rows swapped"].accepted == {
        "microcoder": 0,
        "strict": 0,
        "livecodebench": 0,
        "published": 1,
    }
    assert kinds["digit changed"].accepted["published"] == 1
    assert [example[:2] for example in kinds["rows swapped"].examples] == [("published", "0")]


def test_a_strict_profile_is_caught_as_well() -> None:
    kinds = tried(printed("1 2 3\n"))
    assert kinds["list syntax"].accepted == {"microcoder": 1, "strict": 0, "livecodebench": 0, "published": 1}


@pytest.mark.parametrize(
    ("problem", "absent"),
    [
        pytest.param(printed("1\n2\n", order="lines"), "rows swapped", id="order is free"),
        pytest.param(printed("5 5\n"), "rows swapped", id="rows are equal"),
        pytest.param(
            printed("0.3333333 0.3333334\n"), "rows swapped", id="within the tolerance of each other"
        ),
        pytest.param(printed("yes YES\n"), "rows swapped", id="words of one meaning"),
        pytest.param(printed("0.5\n"), "precision reduced", id="no digits to lose"),
        pytest.param(printed("0.1234\n", abs_tol=0.1), "precision reduced", id="tolerated"),
        pytest.param(printed("1 2\n"), "order where it is free", id="order counts"),
        pytest.param(printed("0.5\n", abs_tol=0, rel_tol=0), "within the tolerance", id="no tolerance"),
        pytest.param(printed("['a  b', 'c']\n"), "blanks between tokens", id="blanks inside quotes"),
        pytest.param(returned([1, 2], order="elements"), "rows swapped", id="elements are free"),
        pytest.param(returned(None), "no answer", id="None is right"),
        pytest.param(returned([True, 1]), "rows swapped", id="a truth value is an integer"),
        pytest.param(returned([{"a": 1}, {"a": 1.0}]), "rows swapped", id="equal dictionaries"),
        pytest.param(returned(["a", "A"], ignore_case=True), "rows swapped", id="words but for case"),
        pytest.param(returned([2, 3]), "truth values as integers", id="larger integers"),
    ],
)
def test_none_is_made_where_its_truth_is_open(problem: dict[str, Any], absent: str) -> None:
    assert absent not in tried(problem)


def test_what_is_left_out_is_counted_by_reason() -> None:
    checker = {"checker": {"code": "def check(input, expected, actual):\n    return True\n"}}
    problems = [
        printed("1\n", **checker),
        {"mode": "assert", "tests": [{"code": "assert f(1)"}]},
        printed(*(f"{n}\n" for n in range(7))),
        printed("7" * 70_000),
    ]
    _, left = try_controls(
        ((str(n), PROBLEM.validate_python(one)) for n, one in enumerate(problems)), PROFILES
    )
    assert sorted(left.values()) == [1, 1, 1, 2]
    assert any("checker" in reason for reason in left)


NUMBERS = st.one_of(st.integers(-(10**20), 10**20), st.floats(-1e6, 1e6).map(lambda x: round(x, 6)))
WORDS = st.text("abcXYZ", min_size=1, max_size=5)
ROWS = st.lists(st.lists(st.one_of(NUMBERS.map(str), WORDS), min_size=1, max_size=4), min_size=1, max_size=4)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)
ORDERS = st.sampled_from(["strict", "lines", "elements"])


def wrongly(problem: dict[str, Any]) -> list[tuple[str, Any]]:
    kinds = tried(problem)
    return [
        (one.kind, one.examples)
        for one in kinds.values()
        if one.accepted["microcoder"] != (one.tries if one.right else 0)
    ]


@settings(max_examples=150, deadline=None)
@given(ROWS, ORDERS)
def test_whatever_is_printed_the_default_profile_gets_its_controls_right(
    rows: list[list[str]], order: str
) -> None:
    text = "".join(f"{' '.join(row)}\n" for row in rows)
    assert wrongly(printed(text, order=order)) == []


@settings(max_examples=150, deadline=None)
@given(VALUES, ORDERS)
def test_whatever_is_returned_the_default_profile_gets_its_controls_right(value: Any, order: str) -> None:
    assert wrongly(returned(value, order=order)) == []
