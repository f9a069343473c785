"""Plain data across the border, as flat JSON: used on both sides, trusts neither.

A value is written in prefix order as one flat JSON array, so that no parser ever recurses over hostile nesting:

    null, true, false, numbers, strings      themselves (integers beyond 2**53 and non-finite reals: see below)
    ["x", "-ff"]                             an integer, in base 16 (linear to read and to write at any size)
    ["d", "inf"]                             a real that JSON cannot hold
    ["c", re, im] ["b", "00ff"]              complex, bytes
    ["L", [...]]                             a list of only small integers, or only strings, or only finite reals
    ["l", n] ["t", n] ["s", n] ["z", n]      list, tuple, set, frozenset of the n values that follow
    ["m", n]                                 dict of the n key-value pairs that follow
    ["o", kind, payload]                     anything else, by agreement of both sides (see ``Hook``)

Only exact built-in types come out of ``decode``. ``encode`` reduces subclasses with their base class's own methods,
never with theirs, so no ``__eq__``, ``__iter__`` or ``__reduce__`` of a program has a say.
Standard library only: this file also runs inside the jail.
"""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

MAX_NODES = 20_000_000
SMALL = 1 << 53
MAX_COLLISIONS = 1000
MAX_KEY_DEPTH = 200
KEEP = object()


class NotPlainError(Exception):
    """The value is no plain data: its message says what it is."""


class TooManyValuesError(NotPlainError):
    """The value is too large, whatever it is made of."""


# Called with a value that is not plain; returns KEEP, or (kind, payload) to be written as ["o", kind, payload].
Hook = Callable[[Any], Any]


def dumps(value: Any, hook: Hook | None = None) -> bytes:
    """Return ``value`` as flat JSON. Raises NotPlainError for what is no plain data, is cyclic or too large."""
    return json.dumps(encode(value, hook), ensure_ascii=True, separators=(",", ":")).encode("ascii")


def encode(value: Any, hook: Hook | None = None) -> list[Any]:
    """Return the flat array of ``value``."""
    out: list[Any] = []
    path: set[int] = set()
    stack: list[tuple[int, Any, Iterator[Any]]] = []
    pending: Iterator[Any] = iter((value,))
    while True:
        for item in pending:
            children = _write(item, out, hook)
            if len(out) > MAX_NODES:
                raise TooManyValuesError("a result of too many values")
            if children is not None:
                if id(item) in path:
                    raise NotPlainError("a cyclic result")
                path.add(id(item))
                stack.append((id(item), item, pending))
                pending = children
                break
        else:
            if not stack:
                return out
            done, _, pending = stack.pop()
            path.discard(done)


def _write(item: Any, out: list[Any], hook: Hook | None) -> Iterator[Any] | None:
    """Append what starts ``item``; return the iterator over its children if it has any."""
    kind = type(item)
    if item is None or kind is bool or kind is str:
        out.append(item)
    elif kind is int:
        out.append(item if -SMALL <= item <= SMALL else ["x", format(item, "x")])
    elif kind is float:
        out.append(item if math.isfinite(item) else ["d", repr(item)])
    elif kind is list:
        items: list[Any] = item[:]  # a thread of the program may go on changing the original
        if items and _is_flat(items):
            out.append(["L", items])
            return None
        out.append(["l", len(items)])
        return iter(items)
    elif kind is tuple:
        members: tuple[Any, ...] = item
        out.append(["t", len(members)])
        return iter(members)
    elif kind is dict:
        pairs = list(item.items())
        out.append(["m", len(pairs)])
        return chain.from_iterable(pairs)
    elif kind is set or kind is frozenset:
        items = list(item)
        out.append(["s" if kind is set else "z", len(items)])
        return iter(items)
    elif kind is complex:
        out.append(["c", repr(item.real), repr(item.imag)])
    elif kind is bytes or kind is bytearray:
        out.append(["b", item.hex()])
    else:
        return _write_other(item, out, hook)
    return None


def _write_other(item: Any, out: list[Any], hook: Hook | None) -> Iterator[Any] | None:
    if hook is not None:
        answer = hook(item)
        if answer is not KEEP:
            out.append(["o", *answer])
            return None
    return _write(reduce_exactly(item), out, None)


def _is_flat(items: list[Any]) -> bool:
    kinds: set[type] = set(map(type, items))
    if kinds == {int}:
        return all(-SMALL <= bound <= SMALL for bound in (min(items), max(items)))
    return kinds == {str} or (kinds == {float} and all(map(math.isfinite, items)))


def reduce_exactly(item: Any) -> Any:
    """Return the exact built-in value that ``item`` stands for.

    Raises NotPlainError for an object that stands for none.
    """
    kind = type(item)  # not what the object says of its class
    if issubclass(kind, int):
        return int.__int__(item)
    if issubclass(kind, float):
        return float.__float__(item)
    if issubclass(kind, str):
        return str.__str__(item)
    if issubclass(kind, bytes | bytearray | memoryview):
        return bytes(item)
    if issubclass(kind, complex):
        return complex.__complex__(item)
    if issubclass(kind, list):
        return list(list.__iter__(item))
    if issubclass(kind, tuple):
        return tuple(tuple.__iter__(item))
    if issubclass(kind, dict):
        return dict(dict.items(item))
    if issubclass(kind, set):
        return set(set.__iter__(item))
    if issubclass(kind, frozenset):
        return frozenset(frozenset.__iter__(item))
    if issubclass(kind, deque):
        return list(deque.__iter__(item))
    return _reduce_by_name(item)


_ITERATORS = frozenset(
    [
        "range",
        "map",
        "filter",
        "zip",
        "reversed",
        "enumerate",
        "generator",
        "dict_keys",
        "dict_values",
        "dict_items",
        "list_iterator",
        "tuple_iterator",
        "set_iterator",
        "range_iterator",
        "str_iterator",
        "list_reverseiterator",
        "dict_keyiterator",
        "dict_valueiterator",
        "dict_itemiterator",
    ]
)


def _reduce_by_name(item: Any) -> Any:
    kind = type(item)
    name, module = kind.__name__, kind.__module__
    if module == "numpy" and hasattr(item, "tolist"):
        return item.tolist()
    if (module == "decimal" and name == "Decimal") or (module == "fractions" and name == "Fraction"):
        return _number(item)
    if module == "array" and name == "array":
        return item.tolist()
    if (module == "builtins" and name in _ITERATORS) or module == "itertools":
        return list(islice(item, MAX_NODES))
    raise NotPlainError(f"a result of type {name}, which is no plain data")


def _number(item: Any) -> int | float:
    real = float(item)
    if math.isfinite(real) and item == item // 1:
        return int(item)
    return real


# Called with (kind, payload) of an ["o", ...] item; returns the value it stands for.
Unhook = Callable[[str, Any], Any]


def loads(data: bytes, unhook: Unhook | None = None) -> Any:
    """Return the value of flat JSON. Raises ValueError for anything else; never recurses."""
    try:
        items = json.loads(data, parse_int=small_int)
    except RecursionError as error:
        raise ValueError("nested too deeply for a flat value") from error
    return decode(items, unhook)


def small_int(text: str) -> int:
    """Parse an integer of JSON. Raises ValueError for one that ``encode`` would have written in base 16."""
    if len(text) > 20:  # noqa: PLR2004 - 20 digits hold every integer up to 2**53; int() of long ones is quadratic
        raise ValueError("an integer that should have come in base 16")
    return int(text)


def decode(items: list[Any], unhook: Unhook | None = None) -> Any:
    """Return the value of a flat array; raises ValueError where it is malformed."""
    if type(items) is not list:
        raise ValueError("not a flat value")
    stack: list[tuple[str, int, list[Any]]] = []
    for index, item in enumerate(items, 1):
        if type(item) is list:
            opened, value = _open(item, unhook)
            if opened:
                stack.append((item[0], value, []))
                if value:
                    continue
                value = _close(stack.pop())
        elif type(item) is dict:
            raise ValueError("an object in a flat value")
        else:
            value = item
        while stack:
            _, wanted, values = stack[-1]
            values.append(value)
            if len(values) < wanted:
                break
            value = _close(stack.pop())
        else:
            if index < len(items):
                raise ValueError("more than one value")
            return value
    raise ValueError("a value that does not end")


def _open(item: list[Any], unhook: Unhook | None) -> tuple[bool, Any]:
    match item:
        case [("l" | "t" | "s" | "z"), int(count)] if 0 <= count <= MAX_NODES:
            return True, count
        case ["m", int(count)] if 0 <= count <= MAX_NODES:
            return True, 2 * count
        case ["L", list(values)] if set(map(type, values)) <= {int, str, float}:
            return False, values
        case ["x", str(digits)]:
            return False, int(digits, 16)
        case ["d", ("inf" | "-inf" | "nan") as name]:
            return False, float(name)
        case ["c", str(real), str(imag)]:
            return False, complex(float(real), float(imag))
        case ["b", str(text)]:
            return False, bytes.fromhex(text)
        case ["o", str(kind), payload] if unhook is not None:
            return False, unhook(kind, payload)
    raise ValueError("an unknown item in a flat value")


def _close(frame: tuple[str, int, list[Any]]) -> Any:
    kind, _, values = frame
    try:
        match kind:
            case "l":
                return values
            case "t":
                return tuple(values)
            case "s":
                return set(_spread(values))
            case "z":
                return frozenset(_spread(values))
            case _:
                return dict(zip(_spread(values[::2]), values[1::2], strict=True))
    except TypeError as error:
        raise ValueError("an unhashable key or element") from error


def _spread(keys: list[Any]) -> list[Any]:
    """Return ``keys`` unless a table of them would take quadratic time, or more stack than there is to hash one."""
    for key in keys:
        if type(key) is tuple:
            _check_depth(key)
    if len(keys) > MAX_COLLISIONS and max(Counter(map(hash, keys)).values()) > MAX_COLLISIONS:
        raise ValueError("too many keys or elements of the same hash")
    return keys


def _check_depth(key: tuple[Any, ...]) -> None:
    # hash() recurses into tuples without any check of its own; a frozen set keeps the hashes of its elements.
    pending = [key]
    for _ in range(MAX_KEY_DEPTH):
        pending = [child for node in pending for child in node if type(child) is tuple]
        if not pending:
            return
    raise ValueError("a key or element nested too deeply")
