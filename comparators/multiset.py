"""Matches elements in any order: every expected element with one actual element of its own.

An element is described by its shape (everything that must be equal as text) and its numbers. Elements
without decimals are matched exactly, by counting. Where decimals come with a tolerance, elements are sorted
and paired, and every pair is verified: no wrong match is ever accepted. For single numbers this finds a match
wherever there is one, because the interval around a decimal only moves up as the decimal grows. For rows of
several decimals it may miss one only where several rows lie within the tolerance of each other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from comparators.numbers import Tolerance, near
from comparators.values import CONTAINERS, keyed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Sets within sets within sets: deeper than anything that is printed or returned in earnest.
_MAX_SET_DEPTH = 20


class Number(NamedTuple):
    """One number of an element; ``key`` tells values apart, ``exact`` allows no other value."""

    key: str | bytes
    value: float
    exact: bool


@dataclass(frozen=True, slots=True)
class Element:
    """``shape`` holds brackets and words, with a placeholder for each of the ``numbers``."""

    shape: tuple[str, ...]
    numbers: tuple[Number, ...]

    @property
    def identity(self) -> tuple[tuple[str, ...], tuple[str | bytes, ...]]:
        """Equal exactly where two elements have the same shape and the same values."""
        return self.shape, tuple(number.key for number in self.numbers)

    @property
    def exact(self) -> bool:
        """Whether nothing but equal values matches it."""
        return all(number.exact for number in self.numbers)


type ReadLeaf = Callable[[Any], Number | str | None]


def pair_off(
    expected: Sequence[Any],
    actual: Sequence[Any],
    read: ReadLeaf,
    tolerance: Tolerance,
    *,
    nested: bool = False,
) -> bool:
    """Whether the elements can be paired off.

    ``read`` turns a leaf into a number or a word, or None where it is equal to nothing; ``nested`` frees the
    order within elements that are sequences, too.
    """
    if len(expected) != len(actual):
        return False
    if not any(type(value) in CONTAINERS for values in (expected, actual) for value in values):
        return _leaves_paired(expected, actual, read, tolerance)
    wanted = _describe_all(expected, read, nested=nested)
    got = _describe_all(actual, read, nested=nested)
    return wanted is not None and got is not None and _paired(wanted, got, tolerance)


def _leaves_paired(
    expected: Sequence[Any], actual: Sequence[Any], read: ReadLeaf, tolerance: Tolerance
) -> bool:
    """Pair single words and numbers: what ``_paired`` does, without the cost of shapes."""
    wanted, got = [read(leaf) for leaf in expected], [read(leaf) for leaf in actual]
    if None in wanted or None in got:
        return False
    counts = Counter(leaf.key if isinstance(leaf, Number) else leaf for leaf in got)
    tolerant: list[Number] = []
    for leaf in wanted:
        if isinstance(leaf, Number) and not leaf.exact:
            tolerant.append(leaf)
            continue
        key = leaf.key if isinstance(leaf, Number) else leaf
        if counts[key] == 0:
            return False
        counts[key] -= 1
    left: list[Number] = []
    for leaf in got:
        if isinstance(leaf, Number) and counts[leaf.key] > 0:
            counts[leaf.key] -= 1
            left.append(leaf)
    if len(left) != len(tolerant):
        return False
    tolerant.sort(key=_by_value)
    left.sort(key=_by_value)
    return all(_alike(*numbers, tolerance) for numbers in zip(tolerant, left, strict=True))


def _by_value(number: Number) -> tuple[float, str | bytes]:
    return number.value, number.key


def _describe_all(values: Iterable[Any], read: ReadLeaf, *, nested: bool) -> list[Element] | None:
    elements = []
    for value in values:
        element = _describe(value, read, 0, any_order=nested)
        if element is None:
            return None
        elements.append(element)
    return elements


def _describe(value: Any, read: ReadLeaf, set_depth: int, *, any_order: bool = False) -> Element | None:
    """Describe ``value``; None where a leaf, a key or the depth of sets has no description.

    The recursion is for sets within sets and bounded; sequences and dictionaries are read with a stack.
    """
    shape: list[str] = []
    numbers: list[Number] = []
    pending: list[Any] = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, _Mark):
            shape.append(node.text)
            continue
        kind = CONTAINERS.get(type(node))
        if kind is None:
            leaf = read(node)
            if leaf is None:
                return None
            if isinstance(leaf, Number):
                numbers.append(leaf)
                leaf = "#"
            shape.append(leaf)
        elif kind == "set" or (any_order and node is value and kind == "sequence"):
            inner = _describe_inner(node, read, set_depth + 1)
            if inner is None:
                return None
            shape.extend(("{" if kind == "set" else "[", *inner.shape, "}" if kind == "set" else "]"))
            numbers.extend(inner.numbers)
        else:
            children = _children(node)
            if children is None:
                return None
            pending.extend(reversed(children))
    return Element(tuple(shape), tuple(numbers))


class _Mark:
    """A bracket or key on the stack of a description."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _children(node: Any) -> list[Any] | None:
    if type(node) is not dict:
        return [_Mark("["), *node, _Mark("]")]
    keys = keyed(node, json_text=True)
    if keys is None:
        return None
    children: list[Any] = [_Mark("(")]
    for key in sorted(keys):
        children += [_Mark(f":{key}"), keys[key]]
    return [*children, _Mark(")")]


def _describe_inner(elements: Iterable[Any], read: ReadLeaf, set_depth: int) -> Element | None:
    """Describe elements whose order is free, in an order that depends on their contents only."""
    if set_depth > _MAX_SET_DEPTH:
        return None
    described = []
    for value in elements:
        element = _describe(value, read, set_depth)
        if element is None:
            return None
        described.append(element)
    described.sort(key=_by_content)
    return Element(
        tuple(part for element in described for part in element.shape),
        tuple(number for element in described for number in element.numbers),
    )


def _by_content(element: Element) -> tuple[Any, ...]:
    values = tuple(number.value for number in element.numbers)
    return element.shape, values, tuple(number.key for number in element.numbers)


def _paired(expected: list[Element], actual: list[Element], tolerance: Tolerance) -> bool:
    counts = Counter(element.identity for element in actual)
    tolerant: defaultdict[tuple[str, ...], list[Element]] = defaultdict(list)
    for element in expected:
        if not element.exact:
            tolerant[element.shape].append(element)
        elif counts[element.identity] == 0:
            return False
        else:
            # Actual elements of one identity are interchangeable, so that taking any of them is right.
            counts[element.identity] -= 1
    left: defaultdict[tuple[str, ...], list[Element]] = defaultdict(list)
    for element in actual:
        if counts[element.identity] > 0:
            counts[element.identity] -= 1
            left[element.shape].append(element)
    return left.keys() == tolerant.keys() and all(
        _rows_paired(elements, left[shape], tolerance) for shape, elements in tolerant.items()
    )


def _rows_paired(expected: list[Element], actual: list[Element], tolerance: Tolerance) -> bool:
    """Pair rows of one shape: by clusters of each column first, then by value."""
    if len(expected) != len(actual):
        return False
    columns = range(len(expected[0].numbers))
    clusters = [_clusters(expected, actual, column, tolerance) for column in columns]

    def order(element: Element) -> tuple[Any, ...]:
        coarse = tuple(cluster[number.key] for cluster, number in zip(clusters, element.numbers, strict=True))
        return coarse, _by_content(element)

    return all(
        _alike(wanted, got, tolerance)
        for row, other in zip(sorted(expected, key=order), sorted(actual, key=order), strict=True)
        for wanted, got in zip(row.numbers, other.numbers, strict=True)
    )


def _clusters(
    expected: list[Element], actual: list[Element], column: int, tolerance: Tolerance
) -> dict[str | bytes, int]:
    """Return a cluster for each value of a column; two values that may be paired are in the same one."""
    exact = all(element.numbers[column].exact for element in expected)
    numbers = {element.numbers[column].key: element.numbers[column].value for element in (*expected, *actual)}
    clusters: dict[str | bytes, int] = {}
    cluster, last = 0, -math.inf
    for key, value in sorted(numbers.items(), key=lambda item: (item[1], item[0])):
        # Twice the tolerance: clusters only have to be wide enough, every pair is verified later.
        if exact or not value - last <= 2 * tolerance.at(max(abs(value), abs(last))):
            cluster += 1
        clusters[key] = cluster
        last = value
    return clusters


def _alike(expected: Number, actual: Number, tolerance: Tolerance) -> bool:
    if expected.key == actual.key:
        return True
    return not expected.exact and tolerance.at(1.0) > 0 and near(expected.value, actual.value, tolerance)
