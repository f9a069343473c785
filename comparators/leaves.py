"""How the leaves of returned values are compared, and described for matching in any order."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from comparators.multiset import Number, pair_off
from comparators.numbers import Tolerance, value_near
from comparators.values import Likeness

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAF_TYPES = frozenset({type(None), bool, int, float, complex, str, bytes})
_NO_TOLERANCE = Tolerance(0.0, 0.0)


def identical() -> Likeness:
    """Make the likeness of step ``exact``: the same built-in types and contents throughout."""
    return Likeness(_identical, partial(pair_off, read=_read_typed, tolerance=_NO_TOLERANCE), mixed=False)


def near_values(tolerance: Tolerance, *, mixed: bool, fold: bool = False) -> Likeness:
    """Make the likeness of values whose numbers may be near; ``fold`` ignores the case of strings."""

    def compare_leaves(expected: object, actual: object) -> bool:
        if type(expected) not in _LEAF_TYPES or type(actual) not in _LEAF_TYPES:
            return False
        if fold and type(expected) is str and type(actual) is str:
            return expected.casefold() == actual.casefold()
        return _identical(expected, actual) or value_near(expected, actual, tolerance)

    return Likeness(
        compare_leaves, partial(pair_off, read=read_value(fold=fold), tolerance=tolerance), mixed=mixed
    )


def python_equality(*, mixed: bool) -> Likeness:
    """Make the likeness of Python's ``==``, in which True is 1 and 1 is 1.0."""

    def compare_leaves(expected: object, actual: object) -> bool:
        return type(expected) in _LEAF_TYPES and type(actual) in _LEAF_TYPES and expected == actual

    return Likeness(
        compare_leaves, partial(pair_off, read=read_value(fold=False), tolerance=_NO_TOLERANCE), mixed=mixed
    )


def read_value(*, fold: bool) -> Callable[[Any], Number | str | None]:
    """Make the reader of returned leaves for ``multiset.pair_off``."""

    def read(leaf: object) -> Number | str | None:
        if type(leaf) is int or type(leaf) is bool:
            return Number(hex(leaf), _as_float(leaf), exact=True)
        if type(leaf) is float and not math.isnan(leaf):
            # An integral float has the key of its integer, as the two are equal.
            key = hex(int(leaf)) if leaf.is_integer() else leaf.hex()
            return Number(key, leaf, exact=False)
        if fold and type(leaf) is str:
            return _read_typed(leaf.casefold())
        return _read_typed(leaf)

    return read


def _identical(expected: object, actual: object) -> bool:
    return type(expected) is type(actual) and type(expected) in _LEAF_TYPES and expected == actual


def _read_typed(leaf: object) -> str | None:
    match leaf:
        case bool() | None:
            text = str(leaf)
        case str():
            text = leaf
        case bytes():
            text = leaf.hex()
        case int():
            text = hex(leaf)
        case float() | complex() if leaf == leaf:  # noqa: PLR0124  # NaN is equal to nothing
            # Adding 0 turns -0.0 into 0.0.
            text = repr(leaf + 0)
        case _:
            return None
    return f"{type(leaf).__name__} {text}" if type(leaf) in _LEAF_TYPES else None


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
