"""The border's encoding: what goes in comes out, and no bytes do more than raise ValueError."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.harness import plain

KEYS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
VALUES = st.recursive(
    KEYS
    | st.complex_numbers(allow_nan=False)
    | st.lists(st.integers())
    | st.lists(st.text())
    | st.lists(st.floats(allow_nan=False)),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(KEYS, max_size=4)
    ),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are equal and of the same types at every depth."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    assert same(plain.loads(plain.dumps(value)), value)


@pytest.mark.parametrize(
    "value",
    [
        2**53,
        2**53 + 1,
        -(2**53) - 1,
        10**4000,
        math.inf,
        -0.0,
        "\ud800",
        "",
        b"",
        [],
        (),
        set(),
        {},
        [True, 1],
        [1, 1.0],
    ],
    ids=lambda value: (
        ascii(value) if not isinstance(value, int) else f"{value:.3g}" if abs(value) < 1e300 else "huge"
    ),
)
def test_edges_come_back_as_they_were(value: Any) -> None:
    assert same(plain.loads(plain.dumps(value)), value)
    assert same(plain.loads(plain.dumps([value, [value]])), [value, [value]])


def test_not_a_number_comes_back() -> None:
    assert same(plain.loads(plain.dumps([math.nan, 1.5])), [math.nan, 1.5])


@settings(max_examples=300, deadline=None)
@given(st.binary())
def test_arbitrary_bytes_raise_nothing_but_value_error(data: bytes) -> None:
    try:
        plain.loads(data)
    except ValueError:
        return


ITEM = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.text(max_size=3),
    st.tuples(st.sampled_from("ltszm"), st.integers(-1, 4)).map(list),
    st.tuples(st.sampled_from(["x", "d", "b", "c", "L", "o", "?"]), st.text(max_size=3)).map(list),
    st.just(["L", [1, None]]),
    st.just(["L", [1, 2]]),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
)


@settings(max_examples=500, deadline=None)
@given(st.lists(ITEM, max_size=12))
def test_arbitrary_items_are_plain_data_or_raise_value_error(items: list[Any]) -> None:
    try:
        value = plain.loads(json.dumps(items).encode())
    except ValueError:
        return
    plain.dumps(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"1",
        b'"a"',
        b"null",
        b"[1, 2]",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'[["l", 2], 1]',
        b'[["l", -1]]',
        b'[["l", 1e3]]',
        b'[["l", 99999999999]]',
        b'[["m", 1], [["l", 0]], 1]',
        b'[["m", 1], ["l", 0], 1]',
        b'[["s", 1], ["m", 0]]',
        b'[["o", "object", 1]]',
        b'[["d", "1.5"]]',
        b'[["b", "0g"]]',
        b'[["x", "zz"]]',
        b'[{"a": 1}]',
        b"[" + b"9" * 50_000 + b"]",
        b"\xff\xfe[\x00",
    ],
    ids=lambda data: repr(data[:24]),
)
def test_malformed_data_raises_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any of its kinds
        plain.loads(data)


def test_depth_is_no_obstacle() -> None:
    value: Any = []
    for _ in range(200_000):
        value = [value]
    decoded = plain.loads(plain.dumps(value))
    depth = 0
    while decoded:
        (decoded,) = decoded
        depth += 1
    while value:  # freed step by step: letting go of it at once would recurse
        (value,) = value
    assert depth == 200_000


@pytest.mark.parametrize("value", [object(), len, [object()], {"a": {1: print}}, type, ...])
def test_what_is_not_plain_is_refused(value: Any) -> None:
    with pytest.raises(plain.NotPlainError):
        plain.dumps(value)


def test_a_hook_carries_what_is_not_plain() -> None:
    data = plain.dumps([1, print], lambda value: ("name", value.__name__))
    assert plain.loads(data, lambda kind, payload: (kind, payload)) == [1, ("name", "print")]
