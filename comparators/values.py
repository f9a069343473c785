"""Walks two values side by side and finds the first difference.

Plain are values of the exact built-in types; anything else is equal to nothing, so that no ``__eq__`` of a
program is ever called. The walk keeps its own stack, so depth is bounded by memory only, and it enters each
pair of containers once, so that shared or circular containers cost no more than their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

type Path = tuple[Path, str] | None
type Kind = Literal["sequence", "set", "mapping"]


class SetLiteral(list[Any]):
    """The elements of a printed set, as they were printed."""


CONTAINERS: MappingProxyType[type, Kind] = MappingProxyType(
    {
        list: "sequence",
        tuple: "sequence",
        set: "set",
        frozenset: "set",
        SetLiteral: "set",
        dict: "mapping",
    }
)

# A longer integer key has no place in JSON, and its decimal text would be slow to make.
_MAX_KEY_BITS = 10_000
# More than a result of the largest permitted output can have.
_MAX_PARTS = 10_000_000


@dataclass(frozen=True, slots=True)
class Likeness:
    """What counts as equal in a walk.

    ``leaves`` compares two leaves, ``sets`` the elements of two sets in any order. ``mixed`` lets lists stand
    for tuples, sets for frozen sets, and dictionary keys for their JSON text.
    """

    leaves: Callable[[Any, Any], bool]
    sets: Callable[[list[Any], list[Any]], bool]
    mixed: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two values differ and how; ``reason`` is None where the two leaves or sets themselves tell."""

    path: Path
    expected: Any
    actual: Any
    reason: str | None = None


type _Entry = tuple[Any, Any, Path]


def first_difference(expected: Any, actual: Any, likeness: Likeness) -> Difference | None:
    """Return the first difference found, or None where the values are alike."""
    pending: list[_Entry] = [(expected, actual, None)]
    entered: set[tuple[int, int]] = set()
    while pending:
        wanted, got, path = pending.pop()
        kind = CONTAINERS.get(type(wanted))
        if kind != CONTAINERS.get(type(got)):
            return Difference(path, wanted, got)
        if kind is None:
            if not likeness.leaves(wanted, got):
                return Difference(path, wanted, got)
            continue
        if not likeness.mixed and type(wanted) is not type(got):
            return Difference(
                path, wanted, got, f"expected a {type(wanted).__name__}, got a {type(got).__name__}"
            )
        if (id(wanted), id(got)) in entered:
            continue
        entered.add((id(wanted), id(got)))
        if kind == "set":
            if not likeness.sets(list(wanted), list(got)):
                return Difference(path, wanted, got, "the sets have different elements")
            continue
        children = (
            _sequence_children(wanted, got, path, likeness)
            if kind == "sequence"
            else _mapping_children(wanted, got, path, likeness)
        )
        if isinstance(children, Difference):
            return children
        pending.extend(reversed(children))
    return None


def is_bounded(value: Any) -> bool:
    """Whether ``value`` has a bounded number of parts: not so where containers hold themselves.

    Containers that are shared count each time, since whoever describes or prints the value visits them so.
    """
    parts = 0
    pending = [iter((value,))]
    while pending:
        for node in pending[-1]:
            parts += 1
            if type(node) in CONTAINERS:
                pending.append(iter(node.values() if type(node) is dict else node))
                break
        else:
            pending.pop()
        if parts + len(pending) > _MAX_PARTS:
            return False
    return True


def _sequence_children(wanted: Any, got: Any, path: Path, likeness: Likeness) -> list[_Entry] | Difference:
    children: list[_Entry] = []
    for index, (left, right) in enumerate(zip(wanted, got, strict=False)):
        # Leaves are settled here: a stack entry for each would triple the time of long lists.
        if type(left) in CONTAINERS and type(right) in CONTAINERS:
            children.append((left, right, (path, f"[{index}]")))
        elif type(left) in CONTAINERS or type(right) in CONTAINERS or not likeness.leaves(left, right):
            return Difference((path, f"[{index}]"), left, right)
    if len(wanted) != len(got):
        return Difference(path, wanted, got, f"expected {len(wanted)} elements, got {len(got)}")
    return children


def _mapping_children(
    wanted: dict[Any, Any], got: dict[Any, Any], path: Path, likeness: Likeness
) -> list[_Entry] | Difference:
    left, right = keyed(wanted, json_text=likeness.mixed), keyed(got, json_text=likeness.mixed)
    if left is None or right is None:
        return Difference(path, wanted, got, "keys clash or have no JSON text")
    for key in left:
        if key not in right:
            return Difference(path, wanted, got, f"the key {key[:40]!r} is missing")
    for key in right:
        if key not in left:
            return Difference(path, wanted, got, f"the key {key[:40]!r} is not expected")
    return [(value, right[key], (path, f"[{key[:40]!r}]")) for key, value in left.items()]


def keyed(mapping: dict[Any, Any], *, json_text: bool) -> dict[str, Any] | None:
    """Key ``mapping`` by text; None where a key has none or two have the same.

    With ``json_text`` the key 1 is ``1`` as in JSON; without, it is told from the string. Text keys also keep
    integers chosen to collide in a hash table harmless.
    """
    texts: dict[str, Any] = {}
    for key, value in mapping.items():
        text = _key_text(key)
        if text is None:
            return None
        if not json_text and type(key) is not str:
            text = f"{type(key).__name__} {text}"
        if text in texts:
            return None
        texts[text] = value
    return texts


def _key_text(key: object) -> str | None:
    if type(key) is str:
        return key
    if key is None:
        return "null"
    if type(key) is bool:
        return "true" if key else "false"
    if type(key) is int and key.bit_length() <= _MAX_KEY_BITS:
        return str(key)
    if type(key) is float:
        return repr(key)
    return None
