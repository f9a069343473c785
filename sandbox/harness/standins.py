"""Stand-ins in the tester's process for what the program defines."""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.harness import plain
from sandbox.harness.link import Link

MARK = "_microcoder_from_program"


def from_program(error: BaseException) -> bool:
    """Whether an exception was raised by the program, not by the test."""
    return getattr(error, MARK, False) is True


class Caller:
    """Asks the program's process to do things; the only way to it."""

    def __init__(self, fd: int) -> None:
        self._link = Link(fd, self._hook, self._unhook)
        self._callbacks: list[Callable[..., Any]] = []
        self._exceptions: dict[str, type[BaseException]] = {}

    @property
    def lost(self) -> bool:
        """Whether the program's process has gone away."""
        return self._link.lost

    def wait_until_loaded(self) -> None:
        """Return once the program is loaded; raises what it raised while being loaded."""
        self._take(self._link.receive())

    def resolve(self, names: list[str]) -> dict[str, Any]:
        """Return what the program defines of ``names``."""
        if not names:
            return {}
        (described,) = self.ask("resolve", names)
        found: dict[str, Any] = {}
        for name, (kind, value) in described.items():
            if kind == "module":
                found[name] = importlib.import_module(value)
            elif kind == "exception":
                found[name] = self._exception(value)
            else:
                found[name] = value
        return found

    def ask(self, *request: Any) -> tuple[Any, ...]:
        """Send a request and return the values that answer it; raises what the program raised."""
        self._link.send(*request)
        while True:
            message = self._link.receive()
            if message[0] != "callback":
                return self._take(message)
            self._serve_callback(*message[1:])

    def call(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the program; arguments that it changed in place are changed here too."""
        result, changed = self.ask("call", target, list(args), kwargs)
        for index, value in changed.items():
            original = args[index]
            if isinstance(original, list) and isinstance(value, list):
                original[:] = value
            elif isinstance(original, dict | set) and type(value) is type(original):
                original.clear()
                original.update(value)
        return result

    def _take(self, message: Any) -> tuple[Any, ...]:
        match message:
            case ("value" | "ready", *values):
                return tuple(values)
            case ("raised", [*names], str(text), [*args]):
                kind = self._exception(names)
                try:
                    error = kind(*args)
                except Exception:  # noqa: BLE001 - a constructor with other arguments than its instance shows
                    error = RuntimeError(text)
                setattr(error, MARK, True)
                raise error
        raise ValueError("an unknown answer")

    def _exception(self, names: list[Any]) -> type[BaseException]:
        """Return a built-in exception class, or one made here under the program's name with its nearest base."""
        name = names[0] if names and isinstance(names[0], str) else "Exception"
        for index, candidate in enumerate(names):
            base = getattr(builtins, candidate, None) if isinstance(candidate, str) else None
            if isinstance(base, type) and issubclass(base, BaseException):
                if index == 0:
                    return base
                return self._exceptions.setdefault(name, type(name, (base,), {}))
        return self._exceptions.setdefault(name, type(name, (Exception,), {}))

    def _serve_callback(self, number: int, args: list[Any], kwargs: dict[str, Any]) -> None:
        try:
            result = self._callbacks[number](*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - goes to the program, as if it had called the function itself
            self._link.send("failed", type(error).__name__, str(error)[:2000])
        else:
            self._link.send("returned", result)

    def _hook(self, value: Any) -> Any:
        if isinstance(value, StandIn):
            return "object", value._number  # noqa: SLF001
        if callable(value) and not isinstance(value, type):
            self._callbacks.append(value)
            return "callback", len(self._callbacks) - 1
        plain.reduce_exactly(value)  # raises NotPlainError: this test cannot be run apart from the program
        return plain.KEEP

    def _unhook(self, kind: str, payload: Any) -> Any:
        match kind, payload:
            case "object", [int(number), str(name)]:
                return StandIn(self, number, name)
            case "array", [str(dtype), values]:
                return importlib.import_module("numpy").array(values, dtype)
        raise ValueError(f"an unknown reference {kind!r}")


class StandIn:
    """Stands for one object of the program. Equal to no plain data, whatever the object says."""

    def __init__(self, caller: Caller, number: int, name: str) -> None:
        vars(self).update(_caller=caller, _number=number, _name=name)

    def _ask(self, operation: str, *details: Any) -> Any:
        caller: Caller = self._caller
        return caller.ask(operation, self, *details)[0]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object in the program's process."""
        caller: Caller = self._caller
        return caller.call(self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._ask("get", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("set", name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._ask("item", key)

    def __len__(self) -> int:
        return int(self._ask("len"))

    def __bool__(self) -> bool:
        return bool(self._ask("bool"))

    def __str__(self) -> str:
        return str(self._ask("str"))

    def __repr__(self) -> str:
        return str(self._ask("repr"))

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._ask("list")))

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, StandIn) and self._caller.ask("isinstance", instance, self)[0] is True

    def __hash__(self) -> int:
        return hash(self._number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StandIn) and self._ask("eq", other) is True

    def __lt__(self, other: Any) -> Any:
        return self._ask("lt", other) if isinstance(other, StandIn) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return self._ask("le", other) if isinstance(other, StandIn) else NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._ask("add", other) if isinstance(other, StandIn) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return self._ask("sub", other) if isinstance(other, StandIn) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return self._ask("mul", other) if isinstance(other, StandIn) else NotImplemented
