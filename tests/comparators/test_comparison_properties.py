"""Properties that hold for every input."""

import copy
import json
import math
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from comparators import PROFILES, Rules, compare
from comparators.comparison import Order

PROFILE = st.sampled_from(list(PROFILES))
ORDER: st.SearchStrategy[Order] = st.sampled_from(["strict", "lines", "elements"])
# Pieces that reach the scanner, the number grammar and the word rules more often than random text does.
PIECES = st.sampled_from(
    [
        *"[](){},:'\"\\ \n\t.-+e0179_a",
        "yes",
        "NO",
        "None",
        "null",
        "true",
        "0.5",
        "1e9",
        "set()",
        "inf",
        "nan",
        "\u0301",
        "\udc80",
        "\ufeff",
    ]
)
TEXT = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=30)
OUTPUT = TEXT.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=40)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=3)
    | st.complex_numbers()
)
KEYS = st.text(max_size=3) | st.integers(-3, 3) | st.booleans() | st.none()
VALUES = st.recursive(
    LEAVES | st.frozensets(st.integers() | st.text(max_size=2), max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
WORDS = st.sampled_from(
    ["0", "1", "-7", "12", "007", "100000000000000000001", "0.25", "3.5", "abc", "x1", "Yes"]
)
TOKENS = st.lists(WORDS, min_size=1, max_size=12)


@given(TEXT, PROFILE)
def test_printing_exactly_the_expected_text_is_accepted(text: str, profile: str) -> None:
    """Whatever is expected, printing it is right."""
    assert compare(text, text.encode("utf-8", "surrogatepass"), Rules(profile=profile)).accepted


@given(JSON, PROFILE)
def test_returning_exactly_the_expected_value_is_accepted(value: Any, profile: str) -> None:
    """Whatever JSON value is expected, returning it is right."""
    assert compare(value, copy.deepcopy(value), Rules(kind="returned", profile=profile)).accepted


@given(TEXT, OUTPUT, PROFILE, ORDER, st.sampled_from(["kept", "ignored"]))
def test_no_output_makes_a_comparison_raise(
    expected: str, actual: bytes, profile: str, order: Order, case: Literal["kept", "ignored"]
) -> None:
    """A refusal has feedback of one printable line, an acceptance the name of one of the profile's steps."""
    comparison = compare(expected, actual, Rules(profile=profile, order=order, ignore_case=case == "ignored"))
    if comparison.accepted:
        assert comparison.step in PROFILES[profile].steps
    else:
        assert comparison.feedback
        assert comparison.feedback.isprintable()


@given(VALUES, VALUES, PROFILE, ORDER)
def test_no_value_makes_a_comparison_raise_or_is_changed(
    expected: Any, actual: Any, profile: str, order: Order
) -> None:
    """Both values are as they were, and a refusal has feedback of one printable line."""
    before = repr((expected, actual))
    comparison = compare(expected, actual, Rules(kind="returned", profile=profile, order=order))
    assert repr((expected, actual)) == before
    assert comparison.accepted or (comparison.feedback and comparison.feedback.isprintable())


@given(TEXT, TEXT, st.sampled_from(["microcoder", "strict", "livecodebench"]))
def test_without_tolerance_and_byte_order_marks_sides_can_be_exchanged(
    left: str, right: str, profile: str
) -> None:
    """Nothing but the tolerance and the mark in the data file depends on which side is expected."""
    rules = Rules(profile=profile, abs_tol=0, rel_tol=0)
    left, right = (
        text.replace("\ufeff", "").encode("utf-8", "replace").decode().replace("+", "")
        for text in (left, right)
    )
    forth, back = compare(left, right.encode(), rules), compare(right, left.encode(), rules)
    assert forth.accepted == back.accepted


@given(TOKENS, st.data())
def test_a_changed_integer_is_refused(words: list[str], data: st.DataObject) -> None:
    """No step lets another integer pass, whatever stands around it."""
    wanted, got = data.draw(st.lists(st.integers(), min_size=2, max_size=2, unique=True))
    index = data.draw(st.integers(0, len(words)))
    expected, actual = ([*words[:index], str(number), *words[index:]] for number in (wanted, got))
    for order in ("strict", "lines", "elements"):
        assert not compare(" ".join(expected), " ".join(actual).encode(), Rules(order=order)).accepted
        assert not compare(
            f"[{', '.join(expected)}]", f"[{', '.join(actual)}]".encode(), Rules(order=order)
        ).accepted


@given(TOKENS, st.data())
def test_a_dropped_or_added_token_is_refused(words: list[str], data: st.DataObject) -> None:
    """No step ignores a token, in any order."""
    index = data.draw(st.integers(0, len(words) - 1))
    fewer = words[:index] + words[index + 1 :]
    for order in ("strict", "lines", "elements"):
        assert not compare(" ".join(words), " ".join(fewer).encode(), Rules(order=order)).accepted
        assert not compare(" ".join(fewer), " ".join(words).encode(), Rules(order=order)).accepted


@given(st.lists(st.lists(st.integers(), min_size=1, max_size=3), min_size=2, max_size=5), st.data())
def test_swapped_rows_are_refused_unless_order_is_free(rows: list[list[int]], data: st.DataObject) -> None:
    """Rows in another order are another answer, printed and returned; with free order they are the same."""
    swapped = data.draw(st.permutations(rows))
    expected, actual = ("\n".join(" ".join(map(str, row)) for row in side) for side in (rows, swapped))
    same = expected.split() == actual.split()
    assert compare(expected, actual.encode(), Rules()).accepted == same
    assert compare(expected, actual.encode(), Rules(order="lines")).accepted
    assert compare(rows, swapped, Rules(kind="returned")).accepted == (rows == swapped)
    assert compare(rows, swapped, Rules(kind="returned", order="lines")).accepted


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_decimals_are_accepted_within_the_tolerance_only(expected: float, actual: float) -> None:
    """Printed and returned decimals are judged alike."""
    allowed = max(1e-6, 1e-6 * abs(expected))
    distance = abs(expected - actual)
    accepted = compare(expected, actual, Rules(kind="returned")).accepted
    if distance <= 0.999 * allowed:
        assert accepted
    if math.isinf(distance) or distance > 1.001 * allowed:
        assert not accepted
    printed = compare(repr(expected), repr(actual).encode(), Rules()).accepted
    assert printed == accepted


@given(st.integers(), st.floats())
def test_a_float_for_an_integer_must_be_equal(expected: int, actual: float) -> None:
    """There is no tolerance around an integer."""
    assert compare(expected, actual, Rules(kind="returned")).accepted == (expected == actual)


@given(JSON)
def test_python_and_json_print_the_same_structure(value: Any) -> None:
    """What ``print`` shows of a JSON value is accepted where its JSON text is expected, and the reverse."""
    rules = Rules()
    assert compare(json.dumps([value]), repr([value]).encode("utf-8", "surrogatepass"), rules).accepted
    assert compare(repr([value]), json.dumps([value]).encode(), rules).accepted
