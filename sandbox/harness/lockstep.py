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
import atexit
import gc
import os
import sys
import warnings

from sandbox.harness import (
    call,
    compiling,
    interpreter,
    loop,
    messages,
    namespaces,
    native,
    nodes,
    plain,
    prelude,
    program,
    workspace,
)
from sandbox.harness.namespaces import FIRST_KEPT_FD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctypes import PyDLL
    from types import CodeType
    from typing import Any

FIRST_FREE_FD = 3
CHANNEL_FD, SPECIFICATION_FD, CONTROL_FD = FIRST_KEPT_FD + 3, FIRST_KEPT_FD + 4, FIRST_KEPT_FD + 5
MAX_PART_BYTES = 60_000
MAX_MESSAGE_CHARACTERS = 4000
REHEARSED = {"stdio": "n = sum(map(int, []))\nprint(end='')\n", "call": "def f(x):\n    return [x, 'a']\n"}
REHEARSALS = 30


class Prepared:
    """What the zygote can make ready for all programs before it forks."""

    def __init__(self, stack_bytes: int) -> None:
        self.streams = program.Streams()
        self.streams.renew()
        self._stack_bytes = stack_bytes
        self._shown_warnings = warnings.filters[:]

    def rehearse(self) -> None:
        """Run little programs of our own: code that the interpreter rewrites once it has run is copied in no child."""
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        for mode, source in REHEARSED.items():
            spec: dict[str, Any] = {
                "mode": mode,
                "source": source,
                "prelude": None if mode == "call" else "",
                "entry_point": "f",
                "arg_types": [],
                "return_type": None,
                "answer_from": "return",
                "operations": False,
                "has_files": False,
            }
            code, _ = compiling.compiled(source)
            if code is None:
                raise AssertionError("the rehearsed program does not compile")
            names = prelude.provide(spec)
            tests = Lockstep(theirs, spec, code, names, self.streams)
            for _ in range(REHEARSALS):
                ours.send(b"g" + plain.dumps([[1], {}]))
                tests.rehearse()
                while ours.recv(MAX_PART_BYTES)[:1] != b"d":
                    continue
        ours.close()
        theirs.close()
        self.streams.renew()

    def start(self, template: bool, helper: PyDLL | None) -> program.Job:  # noqa: FBT001 - the one thing it asks
        """In a child: load its program and wait for the first test; as a template, become a process for each test."""
        spec = messages.in_harness(_whole(SPECIFICATION_FD))
        if spec["stack_bytes"] != self._stack_bytes:
            interpreter.lift_c_recursion(spec["stack_bytes"])
        channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, CHANNEL_FD)
        try:
            code, message = compiling.compiled(spec["source"])
        except MemoryError:
            code, message = None, "compiling took too much memory"
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
        tests = Lockstep(channel, spec, code, names, self.streams)
        if not template:
            return tests.next()
        gc.freeze()  # what was loaded, too: else every run's first collection copies it
        paths = [workspace.ROOT, *workspace.FOLDERS, compiling.PATH]
        if helper is None:
            namespaces.serve_runs(CONTROL_FD, paths)
        else:
            native.serve_runs(helper, CONTROL_FD, paths)
        program.seed(spec["source"])
        return tests.only()


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
        self._names_in_sys = len(vars(sys))
        self._has_files: bool = spec["has_files"]
        self._files = _files() if self._has_files else []

    def next(self) -> program.Job:
        """Wait for the next test and make ready for it."""
        given, fds = self._receive(self._channel)
        if not given:
            os._exit(0)
        if self._ran:
            self._streams.renew()
        self._ran = True
        namespace = self._named_namespace()
        if self._mode == "stdio":
            return program.Job(self._code, namespace, self._over, self._fail, self.next)
        proceed = call.prepare(self._spec, self._arguments(given, fds), namespace, self._over)
        return program.Job(self._code, namespace, proceed, self._fail_call, self.next)

    def rehearse(self) -> None:
        """Do all that is done for a test, of a program that is ours."""
        job = self.next()
        exec(job.code, job.namespace)  # noqa: S102
        job.proceed()

    def only(self) -> program.Job:
        """Take the one test of this process; only arguments of a call have to be asked for."""
        namespace = self._named_namespace()
        if self._mode == "stdio":
            return program.Job(self._code, namespace, self._end_script, self._fail_script)
        given, fds = self._receive(self._channel)
        proceed = call.prepare(self._spec, self._arguments(given, fds), namespace, self._returned)
        return program.Job(self._code, namespace, proceed, self._fail_call)

    def _arguments(self, given: bytes, fds: list[int]) -> tuple[list[Any], dict[str, Any]]:
        if fds:
            return call.read_arguments(fds[0])
        args, kwargs = plain.loads(given[1:])
        return args, kwargs

    def _named_namespace(self) -> dict[str, Any]:
        namespace = self._namespace = program.new_namespace(self._mode)
        namespace.update(self._names)
        if self._prelude:
            prelude.execute(self._prelude, namespace)
        return namespace

    def _end_script(self) -> None:
        program.end(self._namespace, 0, collect=self._finalizers)

    def _returned(self, record: bytes) -> None:
        self._report_parts(record)
        program.flush_output()
        os._exit(0)

    def _over(self, record: bytes = b"") -> None:
        """Tell that a test has ended well."""
        self._report_parts(record)
        as_new = self._end_threads()
        if not program.flush_and_forget(self._namespace, collect=self._finalizers):
            os._exit(program.FLUSH_FAILED)
        # Streams of the program's own close their descriptors as they go: before ours are connected again.
        for name in ("stdin", "stdout", "stderr"):
            setattr(sys, name, None)
            setattr(sys, f"__{name}__", None)
        try:
            _connect_streams()
            as_new = self._restore() and as_new
            self._send(b"d1" if as_new else b"d0")
        except OSError:
            os._exit(0)  # it has closed all descriptors that it could: its end says the same

    def _end_threads(self) -> bool:
        """Do at the end of a test what the interpreter does at its own; True where there was nothing to do."""
        threads = program.end_threads()
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
            return (
                fd == FIRST_FREE_FD
                and (not self._has_files or _files() == self._files)
                and len(vars(sys)) == self._names_in_sys
            )
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
            self._fail_script(error)

    def _fail_script(self, error: BaseException) -> None:
        program.fail_as_a_script(self._namespace, error, self._report_parts)

    def _fail_call(self, error: BaseException) -> None:
        program.fail_at_once(error, self._report_parts)


def _files() -> list[int]:
    """Return when the folders of /box were last changed: by any file in them, and by changes of their own."""
    return [os.stat(folder).st_ctime_ns for folder in (workspace.ROOT, *workspace.FOLDERS)]
