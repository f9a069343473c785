"""Reuse: one process that runs a program's tests in turn, in lock-step with whoever compares the outputs outside.

This is the program's own process. What it says of itself is believed only as far as it may harm itself: that a test
is over. Outputs are compared, time and memory are measured, outside. A test that does not end well ends the process,
with the exit status that a fresh interpreter would have. Messages on the channel:

    from here:  "p"                                             the problem's prelude is tried; alone, it has ended us
    from here:  ok, message, broken_prelude                     after loading; nothing of the program has run
    to here:    "g" and, for a call, its arguments              run the next test
    from here:  "p" and a part of the record of a test
    from here:  "d" and 1 if this process is as new, else 0     the test is over
"""

from __future__ import annotations

import _socket
import _thread
import atexit
import os
import sys
import warnings

from sandbox.harness import call, compiling, interpreter, loop, messages, nodes, plain, prelude, program, workspace
from sandbox.harness.namespaces import FIRST_KEPT_FD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

FIRST_FREE_FD = 3
CHANNEL_FD, SPECIFICATION_FD = FIRST_KEPT_FD + 3, FIRST_KEPT_FD + 4
MAX_PART_BYTES = 60_000
MAX_MESSAGE_CHARACTERS = 4000


class Prepared:
    """What the zygote can make ready for all programs before it forks."""

    def __init__(self, stack_bytes: int) -> None:
        self.streams = program.Streams()
        self.streams.renew()
        self._stack_bytes = stack_bytes
        self._shown_warnings = warnings.filters[:]

    def start(self) -> program.Job:
        """In a child: load its program and wait for the first test."""
        spec = messages.in_harness(_whole(SPECIFICATION_FD))
        if spec["stack_bytes"] != self._stack_bytes:
            interpreter.lift_c_recursion(spec["stack_bytes"])
        channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, CHANNEL_FD)
        code, message = compiling.compiled(spec["source"])
        broken = ""
        if spec["prelude"]:
            channel.send(compiling.IN_PRELUDE)
            broken = compiling.try_prelude(spec["prelude"])
        if code is None or broken:
            channel.send(_loaded(ok=False, message=broken or message, broken_prelude=bool(broken)))
            os._exit(0)
        program.write_source(spec["source"])
        program.seed(spec["source"])
        names = prelude.provide(spec)
        if spec["mode"] == "call" and spec["prelude"] is None:
            names.update(nodes.CLASSES)
        if "warn" in spec["source"]:
            warnings.filters[:] = self._shown_warnings  # type: ignore[index]
            warnings._filters_mutated()  # type: ignore[attr-defined]  # noqa: SLF001
        channel.send(_loaded(ok=True))
        return Lockstep(channel, spec, code, names, self.streams).next()


def _whole(fd: int) -> bytes:
    data = b""
    size = os.fstat(fd).st_size
    while len(data) < size:
        data += os.read(fd, size)
    os.close(fd)
    return data


def _loaded(*, ok: bool, message: str = "", broken_prelude: bool = False) -> bytes:
    facts = {"ok": ok, "broken_prelude": broken_prelude, "message": message[:MAX_MESSAGE_CHARACTERS]}
    return messages.from_harness(facts)


def _connect_streams() -> None:
    for fd in range(3):
        os.dup2(FIRST_KEPT_FD + fd, fd)


class Lockstep:
    """What is between two tests. Everything is bound early: the program may replace what modules hold."""

    def __init__(
        self,
        channel: _socket.socket,
        spec: dict[str, Any],
        code: CodeType,
        names: dict[str, Any],
        streams: program.Streams,
    ) -> None:
        self._channel = channel
        self._receive, self._send = loop.receive, channel.send
        self._code = code
        self._names = names
        self._streams = streams  # those of a new process have been put in place by the zygote
        self._ran = False
        self._prelude: str = spec["prelude"] or ""
        self._mode: str = spec["mode"]
        self._spec = spec
        # Objects in cycles are let go of at the interpreter's end; who cannot tell is spared the search for them.
        self._finalizers = "__del__" in spec["source"]
        self._path = list(sys.path)
        self._recursion_limit = sys.getrecursionlimit()
        self._exit_handlers = atexit._ncallbacks()  # noqa: SLF001
        self._has_files: bool = spec["has_files"]
        self._files = _files()

    def next(self) -> program.Job:
        """Wait for the next test and make ready for it."""
        given, fds = self._receive(self._channel)
        if not given:
            os._exit(0)
        if self._ran:
            self._streams.renew()
        self._ran = True
        namespace = self._namespace = program.new_namespace(self._mode)
        namespace.update(self._names)
        if self._prelude:
            prelude.execute(self._prelude, namespace)
        if self._mode == "stdio":
            return program.Job(self._code, namespace, self._over, self._fail, self.next)
        arguments = call.read_arguments(fds[0]) if fds else plain.loads(given[1:])
        proceed = call.prepare(self._spec, arguments, namespace, self._over)
        return program.Job(self._code, namespace, proceed, self._fail_call, self.next)

    def _over(self, record: bytes = b"") -> None:
        """Tell that a test has ended well."""
        self._report_parts(record)
        as_new = self._end_threads()
        if not program.flush_and_forget(self._namespace, collect=self._finalizers):
            os._exit(program.FLUSH_FAILED)
        _connect_streams()
        as_new = self._restore() and as_new
        self._send(b"d1" if as_new else b"d0")

    def _end_threads(self) -> bool:
        """Do at the end of a test what the interpreter does at its own; True where there was nothing to do."""
        threads = _thread._count() > 0  # noqa: SLF001
        if threads and "threading" in sys.modules:
            sys.modules["threading"]._shutdown()  # noqa: SLF001
        handlers = atexit._ncallbacks() > self._exit_handlers  # noqa: SLF001
        if handlers:
            atexit._run_exitfuncs()  # noqa: SLF001
        return not threads and not handlers

    def _restore(self) -> bool:
        """Put back what is easily put back; whether the next test would then find this process as the first did."""
        sys.setrecursionlimit(self._recursion_limit)
        if sys.path != self._path:
            sys.path[:] = self._path
        sys.argv[:] = [compiling.PATH]
        try:
            os.chdir(workspace.WORK)
            fd = os.dup(FIRST_KEPT_FD)
            os.close(fd)
            return fd == FIRST_FREE_FD and (not self._has_files or _files() == self._files)
        except OSError:  # a folder is gone or closed, or no descriptor is left
            return False

    def _report_parts(self, record: bytes) -> None:
        view = memoryview(record)
        while view:
            self._send(b"p" + bytes(view[:MAX_PART_BYTES]))
            view = view[MAX_PART_BYTES:]

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, SystemExit) and (error.code is None or error.code == 0):
            self._over()
        else:
            program.fail_as_a_script(self._namespace, error, self._report_parts)

    def _fail_call(self, error: BaseException) -> None:
        program.fail_at_once(error, self._report_parts)


def _files() -> list[int]:
    """Return when the folders of /box were last changed: by any file in them, and by changes of their own."""
    return [os.stat(folder).st_ctime_ns for folder in (workspace.ROOT, *workspace.FOLDERS)]
