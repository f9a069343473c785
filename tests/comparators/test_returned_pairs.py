"""Returned values under the default profile: what is accepted, by which step, and what is refused."""

import math
from typing import Any

import pytest

from comparators import Rules, compare

RETURNED = Rules(kind="returned")

ACCEPTED: list[tuple[str, Any, Any]] = [
    ("exact", None, None),
    ("exact", [1, "a", 0.5, {"k": [True]}], [1, "a", 0.5, {"k": [True]}]),
    ("exact", 0.0, -0.0),
    ("exact", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ("exact", math.inf, math.inf),
    ("exact", {1, 2}, {2, 1}),
    ("exact", "NaN", "NaN"),
    ("numeric", 4, 4.0),
    ("numeric", 4.0, 4),
    ("numeric", 0.8, 0.1 + 0.7),
    ("numeric", [[0.6666666], [2]], [[2 / 3], [2.0]]),
    ("numeric", 1e18, 10**18 + 1),
    ("numeric", {"k": 0.25}, {"k": 0.2500001}),
    ("numeric", 2.0000000001e21, 2 * 10**21),
    ("numeric", {0.8}, {0.1 + 0.7}),
    ("numeric", 1, True),
    ("numeric", 0, False),
    ("numeric", True, 1),
    ("numeric", False, 0),
    ("numeric", True, 1.0),
    ("numeric", [0, [1, 2]], [False, [True, 2]]),
    ("numeric", {"k": True}, {"k": 1}),
    ("numeric", {1, 2}, {True, 2}),
    ("structure", [True, 0], (1, False)),
    ("structure", [1, 2], (1, 2)),
    ("structure", [], ()),
    ("structure", [[1, 2], [3]], [(1, 2), (3,)]),
    ("structure", {"k": [0.8]}, {"k": (0.1 + 0.7,)}),
    ("structure", {"5": "a"}, {5: "a"}),
    ("structure", [{"true": 1, "null": 2, "1.5": 3}], [{True: 1, None: 2, 1.5: 3}]),
    ("structure", {1, 2}, frozenset({1, 2})),
]

REFUSED: list[tuple[Any, Any]] = [
    (1, False),
    (0, True),
    (True, False),
    (True, 2),
    (True, -1),
    (False, 1),
    (2, True),
    (True, 1.0000001),
    (0.5, True),
    (True, "True"),
    (True, "true"),
    ("True", True),
    (1, "True"),
    (False, ""),
    (False, []),
    (True, [True]),
    ([0, 1], [True, False]),
    ({0}, {True}),
    ({"1": "a"}, {True: "a"}),
    (1, 2),
    (2**53, 2**53 + 1),
    (2**53 + 1, float(2**53)),
    (10**400, math.inf),
    (0.5, 10**400),
    (math.inf, 1e308),
    (math.inf, -math.inf),
    (math.nan, math.nan),
    ([math.nan], [math.nan]),
    (0.5, math.nan),
    (0.5, "0.5"),
    (0.5, complex(0.5)),
    (3.141, 3.142),
    (4, 4.0000001),
    ("1", 1),
    ("abc", "ABC"),
    ("yes", "Yes"),
    ("a b", "a  b"),
    ("a", "a\n"),
    ("abc", "'abc'"),
    ("007", "7"),
    ("abc", b"abc"),
    ("caf\u00e9", "cafe\u0301"),
    (False, None),
    ([], None),
    ("", None),
    ("None", None),
    ([[]], []),
    ([5], 5),
    ([1, 2], 1),
    ([1, 2], [1]),
    ([1, 2], [2, 1]),
    ([[1, 2], [3, 4]], [[3, 4], [1, 2]]),
    ([1, 2], {1, 2}),
    ([1, 2], "[1, 2]"),
    ({"a": 1, "b": 2}, {"a": 1}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"1": "a"}, {1: "a", "1": "a"}),
    ({"True": 1}, {True: 1}),
    ({"a": 1}, [["a", 1]]),
    ({1, 2}, {1, 3}),
]


@pytest.mark.parametrize(("step", "expected", "actual"), ACCEPTED)
def test_accepts_value(step: str, expected: Any, actual: Any) -> None:
    """The named step is the first that accepts."""
    assert compare(expected, actual, RETURNED).step == step


@pytest.mark.parametrize(("expected", "actual"), REFUSED)
def test_refuses_value(expected: Any, actual: Any) -> None:
    """Nothing accepts, and the feedback is one printable line."""
    comparison = compare(expected, actual, RETURNED)
    assert not comparison.accepted
    assert comparison.feedback.isprintable()
    assert comparison.feedback


class Agreeable(list[int]):
    """Claims to equal everything."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize("profile", ["microcoder", "strict", "livecodebench", "published"])
def test_only_exact_built_in_types_are_values(profile: str) -> None:
    """An object that claims to equal everything equals nothing, at any depth, in every profile."""
    rules = Rules(kind="returned", profile=profile)
    assert not compare([1], Agreeable([1]), rules).accepted
    assert not compare([[1]], [Agreeable([1])], rules).accepted
    assert not compare(1, object(), rules).accepted


def test_ignored_case_reaches_returned_strings() -> None:
    """Strings are alike but for case where the problem says so."""
    rules = Rules(kind="returned", ignore_case=True)
    assert compare(["Rome", 0.5], ("ROME", 0.5), rules).step == "text"
    assert not compare(["Rome"], ["Roma"], rules).accepted
