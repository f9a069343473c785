"""The program's side of ``assert`` runs: serves calls of the tester, one at a time, answering with plain data.

What cannot travel as plain data stays here and goes over as a numbered reference. Nothing that a program does to
this process (patched modules, hostile ``__eq__``) reaches the tester: only data does.
"""

from __future__ import annotations

import builtins
import io
import operator
import os
import types
from collections.abc import Callable, Iterator
from contextlib import nullcontext, redirect_stdout
from itertools import islice
from typing import Any

from sandbox.harness import library_values, plain
from sandbox.harness.link import Link, LinkClosedError

MAX_MESSAGE_CHARACTERS = 2000
MAX_DETAILS_BYTES = 1 << 16
CONTAINERS = (list, dict, set)


class Server:
    """Answers ``(operation, ...)`` requests on a link."""

    def __init__(self, fd: int, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}  # by id(); what is kept keeps its id
        self._link = Link(fd, self._keep, self._restore)
        self._leave = os._exit  # bound now: a program may replace what modules hold

    def serve(self) -> None:
        """Serve until the tester goes away; never returns."""
        try:
            self._link.send("ready")
            while True:
                self._answer(self._link.receive())
        except LinkClosedError:
            self._leave(0)

    def refuse(self, error: BaseException) -> None:
        """Tell the tester that the program raised while it was loaded."""
        self._link.send("raised", *describe(error))

    def _answer(self, request: Any) -> None:
        try:
            answer = self._perform(*request)
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is data for the tester
            self._link.send("raised", *describe(error))
            return
        try:
            self._link.send("value", *answer)
        except plain.NotPlainError as error:
            self._link.send("raised", ["TypeError"], str(error), [], {})

    def _perform(self, operation: str, *details: Any) -> tuple[Any, ...]:
        if operation == "resolve":
            return ({name: self._describe_global(name) for name in details[0] if name in self._namespace},)
        if operation == "call":
            return self._call(*details)
        simple: dict[str, Callable[..., Any]] = {
            "get": getattr,
            "set": setattr,
            "item": lambda value, key: value[key],
            "set item": operator.setitem,
            "delete item": operator.delitem,
            "contains": operator.contains,
            "iterate": iter,
            "next": _next,
            "enter": lambda value: value.__enter__(),
            "leave": lambda value: value.__exit__(None, None, None),
            "plain": _built_in,
            "await": _awaited,
            "hash": hash,
            "len": len,
            "bool": bool,
            "str": str,
            "repr": repr,
            "list": list,
            "isinstance": isinstance,
            "eq": lambda one, other: one == other,
            "lt": lambda one, other: one < other,
            "le": lambda one, other: one <= other,
            "add": lambda one, other: one + other,
            "sub": lambda one, other: one - other,
            "mul": lambda one, other: one * other,
        }
        return (simple[operation](*details),)

    def _call(
        self, function: Any, args: list[Any], kwargs: dict[str, Any], captures: Any
    ) -> tuple[Any, Any, str]:
        before = [self._frozen(value) for value in args]
        printed = io.StringIO()
        with redirect_stdout(printed) if captures else nullcontext():
            result = function(*args, **kwargs)
        changed = {
            index: value
            for index, value in enumerate(args)
            if before[index] is not None and self._frozen(value) != before[index]
        }
        return result, changed, printed.getvalue()

    def _frozen(self, value: Any) -> bytes | None:
        if type(value) not in (list, dict, set) and not _is_array(value):
            return None
        try:
            return plain.dumps(value, lambda part: library_values.pack(part, _refuse) or plain.KEEP)
        except plain.NotPlainError:
            return None

    def _describe_global(self, name: str) -> tuple[Any, ...]:
        value = self._namespace[name]
        if isinstance(value, types.ModuleType):
            return ("module", value.__name__)
        if isinstance(value, type) and issubclass(value, BaseException):
            return ("exception", ancestry(value))
        return ("value", value)

    def _keep(self, value: Any) -> Any:
        """Return how a value travels: what plain data can stand for goes as such, everything else as a reference."""
        packed = library_values.pack(value, self._keep)
        if packed is not None:
            return packed
        if isinstance(value, type | Iterator) or callable(value) or self._is_own_container(value):
            return self._reference(value)
        try:
            plain.reduce_exactly(value)
        except plain.NotPlainError:
            return self._reference(value)
        return plain.KEEP

    def _is_own_container(self, value: Any) -> bool:
        # It has methods that plain data lacks.
        return isinstance(value, CONTAINERS) and type(value).__module__ == self._namespace.get("__name__")

    def _reference(self, value: Any) -> tuple[str, list[Any]]:
        number = self._numbers.setdefault(id(value), len(self._kept))
        if number == len(self._kept):
            self._kept.append(value)
        return "object", [number, type(value).__name__]

    def _restore(self, kind: str, payload: Any) -> Any:
        if kind == "object":
            return self._kept[payload]
        if kind == "callback":
            return self._calling_back(payload)
        if kind == "iterator":
            return iter(plain.decode(payload, self._restore))
        if kind == "global":
            return self._namespace[payload]
        if kind == "instance":
            name, args = plain.decode(payload, self._restore)
            return self._namespace[name](*args)
        return library_values.unpack(kind, payload, self._restore, self._namespace.get)

    def _calling_back(self, number: int) -> Callable[..., Any]:
        def callback(*args: Any, **kwargs: Any) -> Any:
            self._link.send("callback", number, list(args), kwargs)
            while True:
                match self._link.receive():
                    case ("returned", value):
                        return value
                    case ("failed", str(name), str(message)):
                        kind = getattr(builtins, name, RuntimeError)
                        raise kind(message) if issubclass(kind, BaseException) else RuntimeError(message)
                    case request:
                        self._answer(request)

        return callback


def describe(error: BaseException) -> tuple[list[str], str, list[Any], dict[str, Any]]:
    """Return an exception as data: the names of its classes, its message, arguments and attributes if plain."""
    try:
        message = str(error)[:MAX_MESSAGE_CHARACTERS]
    except BaseException:  # noqa: BLE001 - the program's own __str__ may do anything
        message = "(no message)"
    try:
        args, attributes = list(error.args), dict(vars(error))
        if len(plain.dumps([args, attributes])) > MAX_DETAILS_BYTES:
            args, attributes = [message], {}
    except BaseException:  # noqa: BLE001 - nor need the rest of it be plain
        args, attributes = [message], {}
    return ancestry(type(error)), message, args, attributes


def ancestry(kind: type) -> list[str]:
    """Return the names of an exception class and of its bases, nearest first."""
    return [base.__name__ for base in kind.__mro__ if base is not object]


def _awaited(coroutine: Any) -> Any:
    import asyncio

    return asyncio.run(coroutine)


def _next(iterator: Any, count: int) -> list[Any]:
    """Return the next values of an iterator, at most ``count``; fewer mean that it has ended."""
    return list(islice(iterator, count))


def _built_in(value: Any) -> Any:
    """Return the exact built-in value that a program's own container holds, None for any other object."""
    return plain.reduce_exactly(value) if isinstance(value, CONTAINERS) else None


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"


def _refuse(value: Any) -> Any:
    raise plain.NotPlainError(f"a value of type {type(value).__name__}")
