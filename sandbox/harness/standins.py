"""Stand-ins in the tester's process for what the program defines."""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from sandbox.harness import library_values, plain
from sandbox.harness.link import Link
from sandbox.harness.testnames import PROGRAM_MODULE

MARK = "_microcoder_from_program"
# An iterator is asked for one value at a time at first, then for more: each question costs a round trip.
ONE_BY_ONE = 64
# Questions whose right answer is "yes" to whatever the test expects: an object made to say so would be right always.
QUESTIONS = frozenset(("startswith", "endswith", "issubset", "issuperset", "isdisjoint", "match", "equals"))
MOST_AHEAD = 1024
MOST_GIVEN = 100_000


def program_module(caller: Caller) -> types.ModuleType:
    """Return a module whose attributes are what the program defines."""
    module = types.ModuleType(PROGRAM_MODULE)

    def find(name: str) -> Any:
        found = caller.resolve([name])
        if name not in found:
            raise AttributeError(f"the program defines no {name!r}")
        return found[name]

    vars(module).update(__getattr__=find, __all__=[], __path__=[])
    return module


def from_program(error: BaseException) -> bool:
    """Whether an exception was raised by the program, not by the test."""
    return getattr(error, MARK, False) is True


class Caller:
    """Asks the program's process to do things; the only way to it."""

    def __init__(self, fd: int) -> None:
        self._link = Link(fd, self._hook, self._unhook)
        self._callbacks: list[Callable[..., Any]] = []
        self._exceptions: dict[str, type[BaseException]] = {}
        self._standins: dict[int, StandIn] = {}  # one for each object, so that identity can be asked for
        self._stdout = sys.stdout
        self.failed: AssertionError | None = None  # of a function of the test's; the program may swallow it
        self.gave = False  # whether the test was given anything of the program's
        self.tests_classes = (
            False  # whether the test names classes of the program, by how such names are written
        )
        self._globals: dict[int, tuple[str, Any]] = {}  # by id(); what the program named and cannot travel

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
        self.tests_classes = self.tests_classes or any(name[:1].isupper() for name in names)
        (described,) = self.ask("resolve", names)
        found: dict[str, Any] = {}
        for name in names:  # no others: a program must not redefine what a test checks with
            if name not in described:
                continue
            kind, value = described[name]
            if kind == "module":
                found[name] = _library_module(value)
            elif kind == "exception":
                found[name] = self._exception(value)
            else:
                found[name] = value
                continue
            self._globals[id(found[name])] = name, found[name]
        self.gave = self.gave or bool(found)
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
        captures = sys.stdout is not self._stdout  # the test wants to see what the program prints
        result, changed, printed = self.ask("call", target, list(args), kwargs, captures)
        if captures and isinstance(printed, str):
            sys.stdout.write(printed)
        for index, value in changed.items():
            original = args[index]
            if isinstance(original, list) and isinstance(value, list):
                original[:] = value
            elif isinstance(original, dict | set) and type(value) is type(original):
                original.clear()
                original.update(value)
            elif type(original).__module__ == "numpy" and type(value) is type(original):
                original[...] = value
        if isinstance(result, StandIn) and result._name == "coroutine":  # noqa: SLF001
            return _awaited(result)
        return result

    def _take(self, message: Any) -> tuple[Any, ...]:
        match message:
            case ("value" | "ready", *values):
                return tuple(values)
            case ("raised", [*names], str(text), [*args], dict(attributes)):
                kind = self._exception(names)
                try:
                    error = kind(*args)
                except Exception:  # noqa: BLE001 - a constructor with other arguments than its instance shows
                    error = RuntimeError(text)
                if isinstance(error, StopIteration | StopAsyncIteration):
                    # It would end the test's loop over map() or zip() as if all had been checked.
                    error = RuntimeError(f"the program raised {type(error).__name__}")
                vars(error).update({name: value for name, value in attributes.items() if type(name) is str})
                setattr(error, MARK, True)
                raise error
        raise self._link.closed()

    def _exception(self, names: list[Any]) -> type[BaseException]:
        """Return the exception class of these names, nearest first: a built-in one, or one made here like it."""
        name = names[0] if names and isinstance(names[0], str) else "Exception"
        built_in = _built_in_exception(name)
        if built_in is not None or name in self._exceptions:
            return built_in or self._exceptions[name]
        bases: list[type[BaseException]] = [self._exception(names[1:]) if len(names) > 1 else Exception]
        nearest = next(filter(None, map(_built_in_exception, names)), Exception)
        if not issubclass(bases[0], nearest):
            bases.append(nearest)
        try:
            made = type(name, tuple(bases), {})
        except TypeError:  # two built-in bases that do not go together
            made = type(name, (bases[0],), {})
        return self._exceptions.setdefault(name, made)

    def _serve_callback(self, number: int, args: list[Any], kwargs: dict[str, Any]) -> None:
        try:
            result = self._callbacks[number](*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - goes to the program, as if it had called the function itself
            if isinstance(error, AssertionError) and not from_program(error):
                self.failed = self.failed or error
            self._link.send("failed", type(error).__name__, str(error)[:2000])
        else:
            self._link.send("returned", result)

    def _hook(self, value: Any) -> Any:
        if isinstance(value, StandIn):
            return "object", value._number  # noqa: SLF001
        # What the program itself named goes back under that name, so that no choice of its ends the separation.
        if id(value) in self._globals:
            return "global", self._globals[id(value)][0]
        if id(type(value)) in self._globals:
            name = self._globals[id(type(value))][0]
            return "instance", plain.encode([name, list(getattr(value, "args", ()))], self._hook)
        packed = library_values.pack(value, self._hook)
        if packed is not None:
            return packed
        if isinstance(value, Iterator):
            return "iterator", plain.encode(_all_of(value), self._hook)
        if callable(value) and not isinstance(value, type):
            self._callbacks.append(value)
            return "callback", len(self._callbacks) - 1
        plain.reduce_exactly(value)  # raises NotPlainError: this test cannot be run apart from the program
        return plain.KEEP

    def _unhook(self, kind: str, payload: Any) -> Any:
        match kind, payload:
            case "object", [int(number), str(name)]:
                if number not in self._standins:
                    self._standins[number] = StandIn(self, number, name)
                return self._standins[number]
        return library_values.unpack(kind, payload, self._unhook)


def _built_in_exception(name: Any) -> type[BaseException] | None:
    found = getattr(builtins, name, None) if isinstance(name, str) else None
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _all_of(iterator: Iterator[Any]) -> list[Any]:
    values = list(islice(iterator, MOST_GIVEN + 1))
    if len(values) > MOST_GIVEN:
        raise plain.NotPlainError("an iterator of too many values")
    return values


async def _awaited(coroutine: StandIn) -> Any:
    return coroutine._ask("await")  # noqa: SLF001


def _library_module(name: Any) -> types.ModuleType:
    """Return the tester's own module of a name that the program gave: only one that is made to be imported."""
    parts = name.split(".") if isinstance(name, str) else [""]
    if parts[0] == __name__.partition(".")[0]:
        raise RuntimeError("a test has no business with the tester's own modules")
    if (parts[0] in sys.stdlib_module_names or name in sys.modules) and not any(
        p.startswith("_") for p in parts
    ):
        try:
            return importlib.import_module(name)
        except BaseException as error:
            raise RuntimeError(f"module {name!r} cannot be imported") from error
    if parts[0] == "numpy":
        return importlib.import_module("numpy")
    raise RuntimeError(f"{name!r} is no module of the library")


class StandIn:
    """Stands for one object of the program. What it says of being equal to plain data is not asked.

    Only a container of the program's own class may equal plain data: what its built-in base holds does.
    """

    def __init__(self, caller: Caller, number: int, name: str) -> None:
        vars(self).update(_caller=caller, _number=number, _name=name, _ahead=deque(), _taken=0)

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
        if name in QUESTIONS and not self._caller.tests_classes:
            raise AttributeError(
                f"the program returned a {self._name}, which is no plain data: not asked for {name!r}"
            )
        return self._ask("get", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("set", name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._ask("item", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("set item", key, value)

    def __delitem__(self, key: Any) -> None:
        self._ask("delete item", key)

    def __contains__(self, item: Any) -> bool:
        if self._caller.tests_classes:
            return self._ask("contains", item) is True
        return any(item == value for value in self)

    def __enter__(self) -> Any:
        return self._ask("enter")

    def __exit__(self, *_: object) -> None:
        self._ask("leave")  # what it answers counts for nothing: it must not swallow a failed assertion

    def __len__(self) -> int:
        return int(self._ask("len"))

    def __bool__(self) -> bool:
        return bool(self._ask("bool"))

    def __str__(self) -> str:
        return str(self._ask("str"))

    def __repr__(self) -> str:
        return str(self._ask("repr"))

    def __iter__(self) -> Any:
        return self._ask("iterate")

    def __next__(self) -> Any:
        names = vars(self)
        if not self._ahead:
            count = min(max(1, self._taken - ONE_BY_ONE), MOST_AHEAD)
            self._ahead.extend(self._ask("next", count))
            names["_taken"] += count
        if not self._ahead:
            raise StopIteration
        return self._ahead.popleft()

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, StandIn) and self._caller.ask("isinstance", instance, self)[0] is True

    def __hash__(self) -> int:
        return int(self._ask("hash"))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StandIn):
            return self._ask("eq", other) is True
        return isinstance(other, list | dict | set) and bool(self._ask("plain") == other)

    def __lt__(self, other: Any) -> Any:
        return self._ask("lt", other) if isinstance(other, StandIn) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return self._ask("le", other) if isinstance(other, StandIn) else NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._ask("add", other) if isinstance(other, StandIn) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return self._ask("sub", other) if isinstance(other, StandIn) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        # No factor makes a wrong number right; a difference could.
        return self._ask("mul", other) if isinstance(other, StandIn | int | float) else NotImplemented

    __rmul__ = __mul__
