"""Loads a program: compiles it in a process of its own, because compiling hostile text can hang, crash or explode."""

from __future__ import annotations

import _signal
import marshal
import os
import resource

from sandbox.harness import messages, prelude, workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

MAX_CODE_BYTES = 256 << 20
IN_PRELUDE = b"p"  # written before the prelude runs: alone, it says that the process died there
PATH = f"{workspace.SOURCE}/program.py"


class Loaded:
    """A program that is ready to be run; ``code`` is marshalled, and only ever unmarshalled in a run's process.

    ``names`` are those that the program finds defined.
    """

    def __init__(
        self, spec: dict[str, Any], *, message: str = "", code: bytes = b"", broken_prelude: bool = False
    ) -> None:
        self.spec = spec
        self.ok = bool(code)
        self.broken_prelude = broken_prelude
        self.message = message
        self.code = code
        self.names: dict[str, Any] = prelude.provide(spec) if code else {}


def load(spec_fd: int, message: dict[str, Any]) -> Loaded:
    """Read the program's specification and compile it under ``message``'s limits."""
    with os.fdopen(spec_fd, "rb") as file:
        spec = messages.in_harness(file.read())
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _compile(spec, writer, message)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = file.read(MAX_CODE_BYTES)
    _, status = os.waitpid(pid, 0)
    if spec["mode"] == "call":  # imported before the processes of the runs fork
        from sandbox.harness import call, nodes  # noqa: F401
    elif spec["mode"] == "assert":
        from sandbox.harness import remote, tester  # noqa: F401
    if answer != IN_PRELUDE:
        answer = answer.removeprefix(IN_PRELUDE)
    if answer[:1] == b"C" and status == 0:
        return Loaded(spec, code=answer[1:])
    text = answer[1:].decode("utf-8", "replace") or _why(status)
    return Loaded(spec, message=text, broken_prelude=answer[:1] in (IN_PRELUDE, b"P"))


def _why(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number in (_signal.SIGXCPU, _signal.SIGKILL):
            return "compiling took too much time or memory"
        return f"the compiler crashed on this program ({_name(number)})"
    return "the program cannot be compiled"


def try_prelude(text: str) -> str:
    """Return what is wrong with a problem's prelude. No program has run in this process yet: nobody can fake it."""
    try:
        prelude.execute(text, {"__name__": "prelude"})
    except BaseException as error:  # noqa: BLE001 - whatever it raises, it is no good
        return f"{type(error).__name__}: {error}"
    return ""


def _name(number: int) -> str:
    import signal

    return signal.Signals(number).name


def _compile(spec: dict[str, Any], writer: int, limits: dict[str, Any]) -> None:
    """Write ``C`` and the marshalled code, ``E`` or, of the prelude, ``P`` and a message, and end this process."""
    source: str = spec["source"]
    seconds = int(limits["compile_cpu_time_s"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if limits["address_space_bytes"]:
        resource.setrlimit(resource.RLIMIT_AS, (limits["address_space_bytes"],) * 2)
    import warnings

    warnings.simplefilter("ignore")
    code, message = compiled(source)
    answer = b"C" + marshal.dumps(code) if code is not None else b"E" + message.encode("utf-8", "replace")
    if spec["prelude"]:
        os.write(writer, IN_PRELUDE)
        broken = try_prelude(spec["prelude"])
        answer = b"P" + broken.encode("utf-8", "replace") if broken else answer
    view = memoryview(answer)
    while view:
        view = view[os.write(writer, view) :]
    os._exit(0)


def compiled(source: str) -> tuple[CodeType | None, str]:
    """Return a program's code, or None and what is wrong with it."""
    try:
        source.encode("utf-8")
        return compile(source.removeprefix("\ufeff"), PATH, "exec", dont_inherit=True), ""
    except SyntaxError as error:
        return None, _describe(error)
    except UnicodeEncodeError as error:
        return None, f"UnicodeEncodeError: the program is not valid UTF-8 at character {error.start}"
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        return None, f"{type(error).__name__}: {error}"


def _describe(error: SyntaxError) -> str:
    line = (error.text or "").rstrip("\n")[:200]
    return f"{type(error).__name__}: {error.msg} (line {error.lineno})" + (
        f": {line.strip()}" if line else ""
    )
