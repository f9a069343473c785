"""Feedback names the first place where expected and actual differ."""

from typing import Any

import pytest

from comparators import Rules, compare

PRINTED = [
    ("1 2\n3 4\n", b"1 2\n3 5\n", "line 2, token 2: expected '4', got '5'"),
    ("1\n2\n", b"", "nothing was printed; expected '1'"),
    ("1\n2\n", b"1\n", "line 2, token 1: expected '2', but only 1 of 2 tokens came"),
    ("1\n", b"1\n2 3\n", "2 tokens more than expected, the first is '2'"),
    ("0.5 x\n", b"0.50 y\n", "line 1, token 2: expected 'x', got 'y'"),
    ("a\n", b"\xff\x00\n", r"line 1, token 1: expected 'a', got '\udcff\x00'"),
    (
        "a" * 50,
        b"b" * 60,
        f"line 1, token 1: expected '{'a' * 40}'... (50 in all), got '{'b' * 40}'... (60 in all)",
    ),
]

RETURNED: list[tuple[Any, Any, str]] = [
    (1, 2, "expected 1, got 2"),
    ([0, 1, {"a": [5]}], [0, 1, {"a": [6]}], "at [2]['a'][0]: expected 5, got 6"),
    ([1, 2], [1], "expected 2 elements, got 1"),
    ([1, 2], None, "expected a list of 2, got None"),
    ({"a": 1}, {"b": 1}, "the key 'a' is missing"),
    ({"a": 1}, {"a": 1, "b": 1}, "the key 'b' is not expected"),
    ([0.5, [2]], [0.5, [True]], "at [1][0]: expected 2, got True"),
    ("a", object(), "expected 'a', got an object of type 'object'"),
    (1, 1 << 200, "expected 1, got an integer of 201 bits"),
]


@pytest.mark.parametrize(("expected", "actual", "feedback"), PRINTED)
def test_feedback_on_printed_output(expected: str, actual: bytes, feedback: str) -> None:
    """The line and the token are named, both sides are shortened."""
    assert compare(expected, actual, Rules()).feedback == feedback


@pytest.mark.parametrize(("expected", "actual", "feedback"), RETURNED)
def test_feedback_on_returned_values(expected: Any, actual: Any, feedback: str) -> None:
    """The path is named, both sides are shortened."""
    assert compare(expected, actual, Rules(kind="returned")).feedback == feedback


def test_feedback_of_the_strict_profile_names_the_line() -> None:
    """Where only white space differs, the line is shown."""
    comparison = compare("a\n  b\n", b"a\nb\n", Rules(profile="strict"))
    assert comparison.feedback == "line 2: expected '  b', got 'b' (white space counts)"


def test_feedback_in_any_order_names_what_has_no_counterpart() -> None:
    """A line or token that nothing matches is named."""
    lines = compare("1 2\n3 4\n", b"3 4\n1 5\n", Rules(order="lines"))
    assert lines.feedback == "no line left for '1 2' in any order; got '1 5' instead"
    tokens = compare("1 2\n", b"2\n", Rules(order="elements"))
    assert tokens.feedback == "expected 2 tokens in any order, got 1"
