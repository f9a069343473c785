"""Call problems: calls what the program defined once and reports what came back, as plain data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from sandbox.harness import nodes, plain

SOLUTION_CLASS = "Solution"


class NoEntryPointError(Exception):
    """The program does not define what is to be called."""


def read_arguments(fd: int) -> tuple[list[Any], dict[str, Any]]:
    """Read and close the descriptor that holds positional and keyword arguments."""
    with os.fdopen(fd, "rb") as file:
        args, kwargs = plain.loads(file.read())
    return args, kwargs


def prepare(
    spec: dict[str, Any],
    arguments: tuple[list[Any], dict[str, Any]],
    namespace: dict[str, Any],
    report: Callable[[bytes], None],
) -> Callable[[], None]:
    """Return what makes the call once the program has been loaded, and reports the record of it."""
    args, kwargs = arguments
    args = [nodes.build(value, kind) for value, kind in zip(args, _kinds(spec, len(args)), strict=True)]
    dumps, flatten = json.dumps, nodes.flatten  # bound now: a program may replace what modules hold

    def proceed() -> None:
        try:
            if spec["operations"]:
                result: Any = _operate(namespace, args)
            else:
                result = find(namespace, spec["entry_point"])(*args, **kwargs)
                if spec["answer_from"] != "return":
                    result = args[int(spec["answer_from"][3:])]
            result = flatten(result, spec["return_type"] or "")
            record = b'{"outcome":"returned","value":' + plain.dumps(result) + b"}"
        except plain.NotPlainError as error:
            record = dumps({"outcome": "not-plain", "message": str(error)[:500]}).encode()
        except NoEntryPointError as error:
            record = dumps({"outcome": "no-entry-point", "message": str(error)}).encode()
        report(record)

    return proceed


def _kinds(spec: dict[str, Any], count: int) -> list[str]:
    kinds = list(spec["arg_types"][:count])
    return kinds + [""] * (count - len(kinds))


def find(namespace: dict[str, Any], entry_point: str) -> Callable[..., Any]:
    """Return the callable: ``Class.method`` on a new instance; a bare name on Solution if it has it, else a function.

    Raises NoEntryPointError where the program has no such thing.
    """
    owner, _, name = entry_point.rpartition(".")
    if owner:
        if not isinstance(namespace.get(owner), type):
            raise NoEntryPointError(f"the program defines no class {owner!r}")
        holder = namespace[owner]
    else:
        holder = namespace.get(SOLUTION_CLASS)
        if not (isinstance(holder, type) and hasattr(holder, name)):
            if callable(namespace.get(name)):
                found: Callable[..., Any] = namespace[name]
                return found
            raise NoEntryPointError(f"the program defines no function {name!r}")
    if not hasattr(holder, name):
        raise NoEntryPointError(f"class {holder.__name__!r} has no method {name!r}")
    method: Callable[..., Any] = getattr(holder(), name)
    return method


def _operate(namespace: dict[str, Any], args: list[Any]) -> list[Any]:
    names, arguments = args
    if not isinstance(namespace.get(names[0]), type):
        raise NoEntryPointError(f"the program defines no class {names[0]!r}")
    instance = namespace[names[0]](*arguments[0])
    results: list[Any] = [None]
    for name, values in zip(names[1:], arguments[1:], strict=True):
        if not hasattr(instance, name):
            raise NoEntryPointError(f"class {names[0]!r} has no method {name!r}")
        results.append(getattr(instance, name)(*values))
    return results
