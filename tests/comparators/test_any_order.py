"""Lines and elements in any order: only where the problem says so, and as multisets."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparators import Rules, compare
from comparators.comparison import Kind, Order

# kind, order, expected, actual, accepted
CASES: list[tuple[Kind, Order, Any, Any, bool]] = [
    ("printed", "lines", "1 2\n3 4\n", b"3 4\n1 2\n", True),
    ("printed", "lines", "1 2\n3 4\n", b"2 1\n3 4\n", False),
    ("printed", "lines", "1\n1\n2\n", b"2\n1\n1\n", True),
    ("printed", "lines", "1\n1\n2\n", b"1\n2\n2\n", False),
    ("printed", "lines", "1\n1\n2\n", b"1\n2\n", False),
    ("printed", "lines", "a 0.5\nb 0.25\n", b"b 0.2500001\na 0.5\n", True),
    ("printed", "lines", "a 0.5\nb 0.25\n", b"b 0.5\na 0.25\n", False),
    ("printed", "lines", "Yes 1\nNo 2\n", b"NO 2\nYES 1\n", True),
    ("printed", "lines", "[1, 2]\n", b"[2, 1]\n", True),
    ("printed", "elements", "1 2\n3\n", b"3 2 1\n", True),
    ("printed", "elements", "1 2 2\n", b"1 1 2\n", False),
    ("printed", "elements", "1 2 3\n", b"1 2 4\n", False),
    ("printed", "elements", "1000000000000000001 5\n", b"5 1000000000000000000\n", False),
    ("printed", "elements", "5 7\n", b"7.0 5\n", True),
    ("printed", "elements", "x y\n", b"['y', 'x']\n", True),
    ("printed", "elements", "1 2\n", b"{2, 1}\n", True),
    ("printed", "elements", "0110 1\n", b"1 110\n", False),
    ("printed", "strict", "1 2\n", b"2 1\n", False),
    ("returned", "lines", [[1, 2], [3, 4]], [[3, 4], [1, 2]], True),
    ("returned", "lines", [[1, 2], [3, 4]], [[4, 3], [1, 2]], False),
    ("returned", "elements", [[1, 2], [3, 4]], [(4, 3), (2, 1)], True),
    ("returned", "elements", [[1, 2], [3, 4]], [[1, 3], [2, 4]], False),
    ("returned", "elements", [[[1, 2]], [[3]]], [[[3]], [[2, 1]]], False),
    ("returned", "elements", [1, 2], {1, 2}, True),
    ("returned", "elements", [1, 2, 2], {1, 2}, False),
    ("returned", "elements", [0.8, 5], [5.0, 0.1 + 0.7], True),
    ("returned", "elements", [1, 2], [2, True], True),
    ("returned", "elements", [1, 1, 0], [True, False, True], True),
    ("returned", "elements", [1, 2], [2, False], False),
    ("returned", "elements", [1, 0, 0], [True, False, True], False),
    ("returned", "elements", ["1", 2], [2, 1], False),
    ("returned", "elements", [{"1": 2}, {"3": 4}], [{3: 4}, {1: 2}], True),
    ("returned", "elements", {"a": [1, 2]}, {"a": [2, 1]}, False),
    ("returned", "elements", [float("nan"), 1], [1, float("nan")], False),
    ("returned", "strict", [1, 2], [2, 1], False),
    ("returned", "strict", {frozenset({1, 2}), frozenset({3})}, {frozenset({3}), frozenset({2, 1})}, True),
    ("returned", "strict", {(1, 0.5), (2, 0.25)}, {(2, 0.25), (1, 0.50000001)}, True),
    ("returned", "strict", {(1, 0.5), (2, 0.25)}, {(1, 0.25), (2, 0.5)}, False),
]


@pytest.mark.parametrize(("kind", "order", "expected", "actual", "accepted"), CASES)
def test_any_order(kind: Kind, order: Order, expected: Any, actual: Any, *, accepted: bool) -> None:
    """Each expected line or element needs a counterpart of its own, and none may be left over."""
    assert compare(expected, actual, Rules(kind=kind, order=order)).accepted is accepted


def _is_near(expected: str, actual: str, tolerance: float) -> bool:
    if "." not in expected:
        return float(expected) == float(actual)
    return abs(float(expected) - float(actual)) <= tolerance + 1e-12


@given(
    st.lists(st.sampled_from(["0.0", "0.1", "0.2", "0.3", "0.4", "0", "1", "0.9", "1.1"]), max_size=5),
    st.data(),
)
def test_single_numbers_match_exactly_where_some_pairing_does(
    expected: list[str], data: st.DataObject
) -> None:
    """Sorting finds a pairing within the tolerance if and only if there is one."""
    actual = data.draw(
        st.lists(
            st.sampled_from(["0.05", "0.1", "0.15", "0.25", "0.3", "0", "1", "1.0"]),
            min_size=len(expected),
            max_size=len(expected),
        )
    )
    rules = Rules(order="elements", abs_tol=0.1, rel_tol=0)
    exists = any(
        all(_is_near(wanted, got, 0.1) for wanted, got in zip(expected, candidate, strict=True))
        for candidate in permutations(actual)
    )
    assert compare(" ".join(expected), " ".join(actual).encode(), rules).accepted is exists


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.floats(0, 1, width=16), st.floats(0, 1, width=16)), max_size=8
)


@given(ROWS, st.randoms())
def test_rows_of_decimals_are_found_in_any_order(rows: list[tuple[int, float, float]], random: Any) -> None:
    """Shuffled rows with noise below the tolerance are accepted; with one row changed they are not."""
    expected = "\n".join(f"{index} {left:.9f} {right:.9f}" for index, left, right in rows)
    shuffled = random.sample(rows, len(rows))
    noisy = [
        f"{index} {left + random.uniform(-1, 1) * 1e-9:.12f} {right:.12f}" for index, left, right in shuffled
    ]
    assert compare(expected, "\n".join(noisy).encode(), Rules(order="lines")).accepted
    if rows:
        index, left, right = shuffled[0]
        noisy[0] = f"{index} {left:.9f} {right + 0.25:.9f}"
        assert not compare(expected, "\n".join(noisy).encode(), Rules(order="lines")).accepted
