"""Controls made from an expected value that a function is to return. Each returns MISSING where none can be made."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from comparators import Rules
from service.audit.controls.numerals import INTEGER, LARGEST_EXACT, nudged, outside, rounded

if TYPE_CHECKING:
    from collections.abc import Callable

MISSING: Final = object()
_FLOAT_DIGITS = 15


def digit_changed(value: Any, rules: Rules) -> Any:
    """Add 1 to the first number."""

    def change(node: Any) -> Any:
        if type(node) is int:
            return node + 1
        if type(node) is float and outside(node, node + 1, rules):
            return node + 1
        return MISSING

    return _first(value, change)


def text_changed(value: Any, _rules: Rules) -> Any:
    """Add a letter to the first string."""
    return _first(value, lambda node: f"{node}x" if isinstance(node, str) else MISSING)


def truth_value_turned(value: Any, _rules: Rules) -> Any:
    """Return the opposite of the first truth value."""
    return _first(value, lambda node: not node if isinstance(node, bool) else MISSING)


def element_dropped(value: Any, _rules: Rules) -> Any:
    """Leave out the last element of the first list that has any."""
    return _first(value, lambda node: node[:-1] if isinstance(node, list) and node else MISSING)


def rows_swapped(value: Any, rules: Rules) -> Any:
    """Swap the first two neighbouring elements that differ."""

    def swap(node: Any) -> Any:
        if isinstance(node, list):
            for index, (first, second) in enumerate(pairwise(node)):
                if _distinct(first, second, rules):
                    return [*node[:index], second, first, *node[index + 2 :]]
        return MISSING

    return _first(value, swap) if rules.order == "strict" else MISSING


def duplicates_removed(value: Any, _rules: Rules) -> Any:
    """Leave out an element that equals the one before it."""

    def drop(node: Any) -> Any:
        if isinstance(node, list):
            for index, (first, second) in enumerate(pairwise(node)):
                if repr(first) == repr(second):
                    return node[:index] + node[index + 1 :]
        return MISSING

    return _first(value, drop)


def precision_reduced(value: Any, rules: Rules) -> Any:
    """Round the first number with a fraction until it is wrong."""

    def reduce(node: Any) -> Any:
        wrong = rounded(node, _FLOAT_DIGITS, rules) if type(node) is float else None
        return MISSING if wrong is None else wrong

    return _first(value, reduce)


def nothing_returned(value: Any, _rules: Rules) -> Any:
    """Return None."""
    return MISSING if value is None else None


def tuples(value: Any, _rules: Rules) -> Any:
    """Return tuples for lists."""
    return _everywhere(value, lambda node: tuple(node) if isinstance(node, list) else MISSING)


def number_formats(value: Any, _rules: Rules) -> Any:
    """Return equal numbers of the other type."""

    def other(node: Any) -> Any:
        if type(node) is int and abs(node) <= LARGEST_EXACT:
            return float(node)
        return int(node) if type(node) is float and node.is_integer() else MISSING

    return _everywhere(value, other)


def truth_values(value: Any, _rules: Rules) -> Any:
    """Return the integers 1 and 0 for truth values, and truth values for these integers."""

    def other(node: Any) -> Any:
        if type(node) is bool:
            return int(node)
        return bool(node) if type(node) is int and node in (0, 1) else MISSING

    return _everywhere(value, other)


def number_keys(value: Any, _rules: Rules) -> Any:
    """Return dictionaries with numbers as keys, which JSON can only write as text."""

    def keyed(node: Any) -> Any:
        if isinstance(node, dict) and node and all(map(INTEGER.fullmatch, node)):
            return {int(key): child for key, child in node.items()}
        return MISSING

    return _everywhere(value, keyed)


def within_tolerance(value: Any, rules: Rules) -> Any:
    """Return decimals a little off."""
    if rules.abs_tol == 0:
        return MISSING
    return _everywhere(value, lambda node: nudged(node, rules) if type(node) is float else MISSING)


def order_changed(value: Any, rules: Rules) -> Any:
    """Return the elements backwards where their order is free."""
    if rules.order == "strict" or not isinstance(value, list) or value == value[::-1]:
        return MISSING
    return value[::-1]


def _first(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return ``value`` with the first node changed, in reading order, for which ``change`` gives something."""
    changed = change(value)
    if changed is not MISSING:
        return changed
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        inner = _first(child, change)
        if inner is not MISSING:
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = inner
            return copy
    return MISSING


def _everywhere(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return ``value`` with all nodes changed for which ``change`` gives something; MISSING where there is none."""
    node, touched = value, False
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        inner = _everywhere(child, change)
        if inner is not MISSING:
            if not touched:
                node, touched = (dict(value) if isinstance(value, dict) else list(value)), True
            node[key] = inner
    changed = change(node)
    if changed is not MISSING:
        return changed
    return node if touched else MISSING


def _distinct(first: Any, second: Any, rules: Rules) -> bool:
    """Whether two values cannot stand for each other under any rule."""
    numbers = (int, float, bool)
    if type(first) in numbers and type(second) in numbers:
        return outside(first, second, rules)
    match first, second:
        case list(), list() if len(first) == len(second):
            pairs = list(zip(first, second, strict=True))
        case dict(), dict() if first.keys() == second.keys():
            pairs = [(first[key], second[key]) for key in first]
        case str(), str():
            return first.casefold() != second.casefold()
        case _:
            return repr(first) != repr(second)
    return any(_distinct(one, other, rules) for one, other in pairs)
