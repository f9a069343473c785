"""Step ``unordered``: a multiset of lines or elements, where the problem leaves their order free.

``lines`` frees the order of printed lines, or of the elements of a returned list. ``elements`` frees that of
printed tokens, or of the elements of a returned list and, one level down, of those that are lists themselves.
An expected set frees its own order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from comparators.leaves import read_value
from comparators.literals import read_literal
from comparators.multiset import pair_off
from comparators.numbers import Tolerance
from comparators.pair import Pair, Printed
from comparators.values import CONTAINERS

if TYPE_CHECKING:
    from comparators.comparison import Order, Rules


def accepts(pair: Pair, rules: Rules, /) -> bool:
    """Accept where every expected line or element has a counterpart of its own, and none is left over."""
    tolerance = Tolerance(rules.abs_tol, rules.rel_tol)
    nested = rules.order == "elements"
    if isinstance(pair, Printed):
        if rules.order == "strict":
            return False  # printed sets were compared as sets by step `structure`
        if _equal_sorted(pair, rules.order):
            return True
        expected = _elements(pair.expected_items, pair.expected_rows, rules.order)
        actual = _elements(pair.actual_items, pair.actual_rows, rules.order)
        return pair_off(expected, actual, read_literal(rules), tolerance, nested=nested)
    expected_kind, actual_kind = CONTAINERS.get(type(pair.expected)), CONTAINERS.get(type(pair.actual))
    if expected_kind not in ("sequence", "set") or actual_kind not in ("sequence", "set"):
        return False
    if rules.order == "strict" and not expected_kind == actual_kind == "set":
        return False
    if not pair.is_bounded:
        return False
    read = read_value(fold=rules.ignore_case)
    return pair_off(list(pair.expected), list(pair.actual), read, tolerance, nested=nested)


def _equal_sorted(pair: Printed, order: Order) -> bool:
    """Whether the same text comes in another order: the common case, and much the quickest."""
    if order == "lines":
        return sorted(pair.expected_rows) == sorted(pair.actual_rows)
    return sorted(pair.expected_tokens) == sorted(pair.actual_tokens)


def _elements(items: list[Any] | None, rows: list[list[bytes]], order: Order) -> list[Any]:
    """Return what may come in any order: the elements of a single printed structure, else lines or tokens."""
    if items is not None and len(items) == 1 and CONTAINERS.get(type(items[0])) in ("sequence", "set"):
        return list(items[0])
    if order == "elements":
        return [word for row in rows for word in row]
    return [row[0] if len(row) == 1 else row for row in rows]
