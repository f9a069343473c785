"""Values of the library that travel between a program and its tester as what they are, not as plain data.

A value is written as (type name, arguments that make it again): an array arrives as an array, a Decimal as a
Decimal. Either side makes its own objects of its own modules; only names and plain data cross.
"""

from __future__ import annotations

import importlib
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from sandbox.harness import plain

ARRAY_KINDS = "biufc"
NAMED_TUPLE = "namedtuple"

_ARGUMENTS: dict[str, Callable[[Any], list[Any]]] = {
    "builtins.range": lambda value: [value.start, value.stop, value.step],
    "collections.deque": lambda value: [list(value), value.maxlen],
    "collections.Counter": lambda value: [dict(value)],
    "collections.OrderedDict": lambda value: [list(value.items())],
    "datetime.date": lambda value: [value.isoformat()],
    "datetime.datetime": lambda value: [value.isoformat()],
    "datetime.time": lambda value: [value.isoformat()],
    "datetime.timedelta": lambda value: [value.days, value.seconds, value.microseconds],
    "decimal.Decimal": lambda value: [str(value)],
    "fractions.Fraction": lambda value: [value.numerator, value.denominator],
    "numpy.ndarray": lambda value: [value.tolist(), value.dtype.str],
}
# Those that are not made by calling the type with these arguments.
_MAKERS = {
    "datetime.date": "fromisoformat",
    "datetime.datetime": "fromisoformat",
    "datetime.time": "fromisoformat",
    "numpy.ndarray": "array",
}


def pack(value: Any, hook: plain.Hook) -> tuple[str, Any] | None:
    """Return how a value of a known library type travels, None for any other. Raises NotPlainError."""
    kind = type(value)
    fields = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    if isinstance(fields, tuple):
        return NAMED_TUPLE, plain.encode([kind.__name__, list(fields), list(tuple.__iter__(value))], hook)
    name = f"{kind.__module__}.{kind.__qualname__}"
    arguments = _ARGUMENTS.get(name)
    if arguments is None or (name == "numpy.ndarray" and value.dtype.kind not in ARRAY_KINDS):
        return None
    return name, plain.encode(arguments(value), hook)


def unpack(
    kind: str, payload: Any, unhook: plain.Unhook, named: Callable[[str], Any] = lambda _: None
) -> Any:
    """Return the value that ``pack`` wrote; ``named`` gives the receiver's own class of a name.

    Raises ValueError for what ``pack`` does not write.
    """
    if not isinstance(payload, list):
        raise ValueError(f"no arguments of a {kind!r}")  # noqa: TRY004 - it is malformed data, whatever its type
    arguments = plain.decode(payload, unhook)
    if kind == NAMED_TUPLE:
        return _named_tuple(arguments, named)
    if kind not in _ARGUMENTS:
        raise ValueError(f"an unknown reference {kind!r}")
    module, _, name = kind.partition(".")
    library = importlib.import_module(module)
    maker = _MAKERS.get(kind)
    make = (
        getattr(library if maker == "array" else getattr(library, name), maker)
        if maker
        else getattr(library, name)
    )
    try:
        return make(*arguments)
    except Exception as error:
        raise ValueError(f"no arguments of a {kind!r}") from error


def _named_tuple(arguments: Any, named: Callable[[str], Any]) -> Any:
    match arguments:
        case [str(name), [*fields], [*values]] if len(fields) == len(values):
            own = named(name)
            if (
                isinstance(own, type)
                and issubclass(own, tuple)
                and list(getattr(own, "_fields", ())) == fields
            ):
                return tuple.__new__(own, values)
            return namedtuple(name, [str(field) for field in fields])(*values)  # noqa: PYI024 - made of data
    raise ValueError("no named tuple")
