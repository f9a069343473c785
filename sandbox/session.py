"""One program in one jail: loads it, runs inputs, reports facts.

A jail that has become unusable (its harness was killed with the program at the memory limit, files that cannot be
removed) is replaced before the next run. A jail that fails for no such reason raises SandboxBrokenError.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import socket
import time
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from sandbox import protocol
from sandbox.capture import Capture
from sandbox.errors import SandboxBrokenError
from sandbox.facts import (
    AssertInput,
    CallInput,
    CompileResult,
    Limits,
    Outcome,
    Program,
    RunInput,
    RunResult,
    StdioInput,
)
from sandbox.harness import messages, plain
from sandbox.launch import Jail, Launcher

PIPE_BYTES = 1 << 20
STDERR_HEAD_BYTES = STDERR_TAIL_BYTES = 32 << 10
STDERR_FACTOR = 4
STDERR_CAP_BYTES = 64 << 20
REPORT_SLACK_BYTES = 1 << 16
START_TIMEOUT_S = 30.0
# What compiled within its limits once must do so again, or a program at their edge could make us fail at will.
RESTART_HEADROOM = 2
ANSWER_GRACE_S = 10.0
HARD_WALL_FACTOR = 4  # as in the harness, which extends the wall limit by the time spent waiting for a core
F_SETPIPE_SZ = 1031


class Session:
    """A program that can be run. Use as a context manager; one run at a time."""

    def __init__(
        self,
        launcher: Launcher,
        program: Program,
        *,
        disk_bytes: int,
        compile_cpu_time_s: float,
        memory_bytes: int,
    ) -> None:
        self._launcher = launcher
        self._program = program
        self._disk_bytes = disk_bytes
        self._compile_cpu_time_s = compile_cpu_time_s
        self._memory_bytes = memory_bytes
        self._jail: Jail | None = None
        self.compiled = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End everything that belongs to this session."""
        if self._jail is not None:
            self._jail.end()
            self._jail = None

    def run(self, given: RunInput, limits: Limits) -> RunResult:
        """Run the program once. Raises SandboxBrokenError; ValueError before anything ran if it does not compile."""
        if not self.compiled.ok:
            raise ValueError("this program does not compile")
        result = self._run(given, limits, shared=False)
        if result.outcome is Outcome.NEEDS_SHARING and self._program.mode == "assert":
            result = replace(self._run(given, limits, shared=True), shared=True)
            if result.outcome in (Outcome.BROKEN_TEST, Outcome.NEEDS_SHARING):
                # Both would have been found before any sharing: only the program can have written this.
                result = replace(result, outcome=Outcome.NONE, message="")
        return result

    def _run(self, given: RunInput, limits: Limits, *, shared: bool) -> RunResult:
        if self._jail is None and not self._start(headroom=RESTART_HEADROOM).ok:
            self.close()
        jail = self._running()
        if jail.group is not None:
            jail.group.limit(limits.memory_bytes)
        kills_before = jail.group.oom_kills() if jail.group else 0
        with _Pipes(given, limits) as pipes:
            message = protocol.request(limits, by_group=jail.group is not None, disk_bytes=self._disk_bytes)
            self._send(jail, message | {"shared": shared}, pipes.theirs)
            pipes.close_theirs()
            answer = self._watch(jail, pipes, limits)
            for capture in pipes.captures:
                capture.drain()
            killed_for_memory = jail.group is not None and jail.group.oom_kills() > kills_before
            peak_bytes = jail.group.peak_bytes() if jail.group else None
            if answer is None or not answer.clean:
                log = jail.log()
                self.close()
                if answer is None and not killed_for_memory:
                    raise SandboxBrokenError(
                        f"the harness died in the middle of a run: {log or 'no message'}"
                    )
            return protocol.result(
                answer, limits, pipes.captures, killed_for_memory=killed_for_memory, peak_bytes=peak_bytes
            )

    def _running(self) -> Jail:
        if self._jail is None:
            raise SandboxBrokenError("the jail could not be started again")
        return self._jail

    def _start(self, headroom: int = 1) -> CompileResult:
        jail = self._jail = self._launcher.launch()
        if jail.group is not None:
            jail.group.limit(headroom * self._memory_bytes)
        program = self._program
        spec = {
            "source": program.source,
            "mode": program.mode,
            "prelude": program.prelude,
            "entry_point": program.entry_point,
            "arg_types": list(program.arg_types),
            "return_type": program.return_type,
            "answer_from": program.answer_from,
            "operations": program.operations,
        }
        fd = memory_file(messages.to_harness(spec))
        try:
            space = 0 if jail.group else headroom * self._memory_bytes
            cpu_time_s = headroom * self._compile_cpu_time_s
            self._send(
                jail,
                {"op": "load", "compile_cpu_time_s": cpu_time_s, "address_space_bytes": space},
                [fd],
            )
        finally:
            os.close(fd)
        jail.channel.settimeout(START_TIMEOUT_S + cpu_time_s * HARD_WALL_FACTOR)
        try:
            answer = jail.channel.recv(messages.MAX_MESSAGE_BYTES)
        except OSError:
            answer = b""
        if not answer:
            out_of_memory = jail.group is not None and jail.group.oom_kills() > 0
            log = jail.log()
            self.close()
            if out_of_memory:
                return CompileResult(ok=False, message="compiling took too much memory")
            raise SandboxBrokenError(f"the jail did not start: {log or 'no message'}")
        facts = messages.outside(answer)
        return CompileResult(
            ok=facts["ok"] == "True",
            message=messages.unescaped(facts["message"]),
            broken_prelude=facts["broken_prelude"] == "True",
        )

    def _send(self, jail: Jail, message: dict[str, Any], fds: list[int]) -> None:
        try:
            socket.send_fds(jail.channel, [messages.to_harness(message)], fds)
        except OSError as error:
            log = jail.log()
            self.close()
            raise SandboxBrokenError(f"the harness is gone: {log or error}") from error

    def _watch(self, jail: Jail, pipes: _Pipes, limits: Limits) -> protocol.Ended | None:
        """Drain the pipes until the harness answers. None when it died or does not answer."""
        deadline = time.monotonic() + HARD_WALL_FACTOR * limits.wall_time_s + ANSWER_GRACE_S
        asked_to_end = False
        with selectors.DefaultSelector() as selector:
            selector.register(jail.channel, selectors.EVENT_READ)
            for capture in pipes.captures:
                selector.register(capture.fd, selectors.EVENT_READ, capture)
            while (left_s := deadline - time.monotonic()) > 0:
                for key, _ in selector.select(left_s):
                    if key.data is None:
                        try:
                            return protocol.ended(jail.channel.recv(messages.MAX_MESSAGE_BYTES))
                        except OSError:
                            return None
                    stream: Capture = key.data
                    if not stream.read():
                        selector.unregister(stream.fd)
                    elif stream.over and not asked_to_end:
                        asked_to_end = True
                        deadline = time.monotonic() + ANSWER_GRACE_S
                        with suppress(OSError):  # gone already: the channel says so next
                            jail.channel.send(messages.to_harness({"op": "kill"}))
        return None


class _Pipes:
    """What a run is connected to; ``theirs`` are the descriptors that the harness passes on."""

    def __init__(self, given: RunInput, limits: Limits) -> None:
        stdin = memory_file(given.stdin if isinstance(given, StdioInput) else b"")
        readers, writers = zip(*(os.pipe2(os.O_CLOEXEC) for _ in range(3)), strict=True)
        for reader in readers:
            os.set_blocking(reader, False)
            _enlarge(reader)
        for writer in writers:
            os.fchmod(writer, 0o666)  # programs may open /dev/stdout, under another user id
        self.theirs = [stdin, *writers]
        if isinstance(given, CallInput):
            self.theirs.append(memory_file(plain.dumps([list(given.args), given.kwargs])))
        elif isinstance(given, AssertInput):
            self.theirs.append(memory_file(given.code.encode("utf-8", "surrogatepass")))
        cap = limits.output_bytes
        self.stdout = Capture(readers[0], keep_bytes=cap, cap_bytes=cap)
        # A huge traceback is a runtime error, not too much output; only a flood is stopped.
        stderr_cap = max(STDERR_FACTOR * cap, STDERR_CAP_BYTES)
        self.stderr = Capture(
            readers[1], keep_bytes=STDERR_HEAD_BYTES, cap_bytes=stderr_cap, tail_bytes=STDERR_TAIL_BYTES
        )
        self.report = Capture(
            readers[2], keep_bytes=cap + REPORT_SLACK_BYTES, cap_bytes=cap + REPORT_SLACK_BYTES
        )
        self.captures = (self.stdout, self.stderr, self.report)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_theirs()
        for capture in self.captures:
            os.close(capture.fd)

    def close_theirs(self) -> None:
        """Close our copies of what the harness has by now."""
        for fd in self.theirs:
            os.close(fd)
        self.theirs = []


def _enlarge(fd: int) -> None:
    try:
        fcntl.fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES)
    except OSError:
        return  # beyond this user's share of pipe memory: a small pipe works as well, with more switching


def memory_file(data: bytes) -> int:
    """Return a descriptor of a new file in memory that holds ``data``, positioned at its start."""
    fd = os.memfd_create("input", os.MFD_CLOEXEC)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
