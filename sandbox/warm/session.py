"""Sessions of warm processes. One that is no longer as new is replaced before the next test."""

from __future__ import annotations

import re
import threading
from types import TracebackType
from typing import Self

from sandbox import protocol
from sandbox.errors import SandboxBrokenError
from sandbox.facts import CompileResult, Limits, Program, RunInput, RunResult
from sandbox.harness import messages
from sandbox.jail import STACK_BYTES
from sandbox.session import RESTART_HEADROOM, specification
from sandbox.settings import Isolation
from sandbox.warm.lockstep import LockstepProcess
from sandbox.warm.processes import WarmProcess
from sandbox.warm.template import TemplateProcess
from sandbox.warm.zygotes import Zygote, Zygotes

# What outlives a test inside a process, or is not as in a fresh one; a program whose text has any of these words gets
# a fresh process per test from the start.
OUTLIVES = re.compile(
    r"\b(?:signal|atexit|threading|_thread|multiprocessing|concurrent|asyncio|subprocess|ctypes|resource|gc|weakref"
    r"|settrace|setprofile|fork|forkpty|execv\w*|execl\w*|posix_spawn\w*|spawn\w*|system|popen|environ|putenv|umask"
    r"|setrlimit|nice|tracemalloc|faulthandler|sched_\w+|__builtins__|builtins|setattr|closerange|importlib|logging"
    r"|set_int_max_str_digits|setswitchinterval|getpid)\b"
)
# Without any of these words, a program has no way to files that it could leave for its next test.
FILES = re.compile(r"\b(?:os|open|io|exec|eval|pathlib|Path|shutil|tempfile|numpy|np|__import__|__\w+__)\b")


def reusable(program: Program) -> bool:
    """Whether a process of this program can run more than one test as if each were its first."""
    return program.mode != "assert" and not OUTLIVES.search(program.source + (program.prelude or ""))


class WarmSession:
    """A program in a process that a zygote has forked. One run at a time; a context manager.

    With ``reuse``, its tests run in that process as long as they end well, else each in a process forked from it.
    """

    def __init__(
        self,
        zygotes: Zygotes,
        program: Program,
        limits: Limits,
        *,
        isolation: Isolation,
        disk_bytes: int,
        compile_cpu_time_s: float,
    ) -> None:
        self.isolation = isolation
        self._zygotes = zygotes
        self._program = program
        self._disk_bytes = disk_bytes
        self._compile_cpu_time_s = compile_cpu_time_s
        self._zygote: Zygote | None = None
        self._process: WarmProcess | None = None
        self._cancelled = False
        self._closing = threading.Lock()  # else somebody might cancel a process that is no more
        self.compiled = self._start(limits, headroom=1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End everything that belongs to this session."""
        self._end_process()
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            self._zygotes.give_back(zygote)

    def run(self, given: RunInput, limits: Limits, *, fresh: bool = False) -> RunResult:
        """Run the program once; with ``fresh``, or where the last run left traces, in a process that has run nothing.

        Raises SandboxBrokenError; ValueError before anything ran if it does not compile.
        """
        if not self.compiled.ok:
            raise ValueError("this program does not compile")
        process = self._process
        used = self.isolation == "reuse" and fresh
        if process is not None and (used or process.limits != limits):
            self._end_process()
            process = None
        if process is None:
            if not self._start(limits, headroom=RESTART_HEADROOM).ok:
                raise SandboxBrokenError("the program that compiled before does not compile again")
            process = self._running()
        try:
            result = process.run(given)
        except BaseException:  # also where the thread is interrupted: nobody knows what the process is doing
            self.close()
            raise
        if not process.as_new:
            self._end_process()
        return result

    def _running(self) -> WarmProcess:
        if self._process is None:
            raise SandboxBrokenError("the process could not be started again")
        return self._process

    def _start(self, limits: Limits, headroom: int) -> CompileResult:
        if self._zygote is not None and self._zygote.broken:
            self._zygotes.give_back(self._zygote)
            self._zygote = None
        if self._zygote is None:
            self._zygote = self._zygotes.take(self._program)
        zygote = self._zygote
        try:
            zygote.limit(limits.memory_bytes, limits.processes)
            spec = specification(self._program) | {
                "stack_bytes": min(STACK_BYTES, limits.memory_bytes),
                "has_files": FILES.search(self._program.source) is not None,
            }
            rules = protocol.process_limits(limits, zygote, disk_bytes=self._disk_bytes)
            kind = LockstepProcess if self.isolation == "reuse" else TemplateProcess
            process = self._process = kind(zygote, messages.to_harness(spec), rules, limits)
            compiled = process.compiled(headroom * self._compile_cpu_time_s)
        except BaseException:  # whatever it was: a half-made process must not stay with its zygote
            self.close()
            raise
        if not compiled.ok:
            self._end_process()
        with self._closing:
            if self._cancelled and self._process is not None:
                self._process.cancel()
        return compiled

    def cancel(self) -> None:
        """Have the run that goes on in another thread, if any, end at once."""
        with self._closing:
            self._cancelled = True
            if self._process is not None:
                self._process.cancel()

    def _end_process(self) -> None:
        with self._closing:
            if self._process is not None:
                self._process.close()
                self._process = None
