"""One program in one jail: loads it, runs inputs, reports facts.

A jail that has become unusable (its harness was killed with the program at the memory limit, files that cannot be
removed) is replaced before the next run. A jail that fails for no such reason raises SandboxBrokenError.
"""

from __future__ import annotations

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
    CompileResult,
    Limits,
    Outcome,
    Program,
    RunInput,
    RunResult,
)
from sandbox.harness import clocks, messages
from sandbox.launch import Launcher, Running
from sandbox.streams import Pipes, memory_file

START_TIMEOUT_S = 30.0
# What compiled within its limits once must do so again, or a program at their edge could make us fail at will.
RESTART_HEADROOM = 2
ANSWER_GRACE_S = 10.0


class ServedSession:
    """A program that a harness runs, each time in a fresh process. Use as a context manager; one run at a time."""

    isolation = "strict"

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
        self._jail: Running | None = None
        self._cancelled = False
        self.compiled = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def cancel(self) -> None:
        """Have the run that goes on in another thread, if any, end at once."""
        self._cancelled = True
        jail = self._jail
        if jail is not None:
            with suppress(OSError):  # gone already
                jail.channel.send(messages.to_harness({"op": "kill"}))

    def close(self) -> None:
        """End everything that belongs to this session."""
        self._end_jail()

    def _end_jail(self) -> None:
        if self._jail is not None:
            self._jail.end()
            self._jail = None

    def run(self, given: RunInput, limits: Limits, *, fresh: bool = True) -> RunResult:  # noqa: ARG002 - always is
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
            self._end_jail()
        jail = self._running()
        jail.limit(limits.memory_bytes, limits.processes)
        kills_before = jail.oom_kills()
        with Pipes(given, limits) as pipes:
            pipes.theirs += self._further_descriptors()
            message = self._request(limits, jail)
            self._send(jail, message | {"shared": shared}, pipes.theirs)
            pipes.close_theirs()
            if self._cancelled:
                self.cancel()  # it came before there was a run to end
            answer = self._watch(jail, pipes, limits)
            for capture in pipes.captures:
                capture.drain()
            killed_for_memory = jail.oom_kills() > kills_before
            peak_bytes = jail.peak_bytes()
            if answer is None or not answer.clean:
                log = jail.log()
                self._end_jail()
                if answer is None and not killed_for_memory:
                    raise SandboxBrokenError(
                        f"the harness died in the middle of a run: {log or 'no message'}"
                    )
            return protocol.result(
                answer, limits, pipes.captures, killed_for_memory=killed_for_memory, peak_bytes=peak_bytes
            )

    def _request(self, limits: Limits, jail: Running) -> dict[str, Any]:
        """Return what the harness is told of a run."""
        message = protocol.request(limits, by_group=jail.by_group, disk_bytes=self._disk_bytes)
        return message | {"processes": 0} if jail.limits_processes else message

    def _further_descriptors(self) -> list[int]:
        """Return new descriptors that a run gets besides its streams."""
        return []

    def _loading(self) -> tuple[dict[str, Any], dict[str, Any], list[int]]:
        """Return how the harness loads the program: its request, what is to be loaded, descriptors that stay ours."""
        return {"op": "load"}, specification(self._program), []

    def _running(self) -> Running:
        if self._jail is None:
            raise SandboxBrokenError("the jail could not be started again")
        return self._jail

    def _start(self, headroom: int = 1) -> CompileResult:
        jail = self._jail = self._launcher.launch()
        jail.limit(headroom * self._memory_bytes)
        kills_before = jail.oom_kills()
        operation, spec, fds = self._loading()
        fd = memory_file(messages.to_harness(spec))
        try:
            space = 0 if jail.by_group else headroom * self._memory_bytes
            cpu_time_s = headroom * self._compile_cpu_time_s
            self._send(
                jail,
                operation | {"compile_cpu_time_s": cpu_time_s, "address_space_bytes": space},
                [fd, *fds],
            )
        finally:
            os.close(fd)
        jail.channel.settimeout(START_TIMEOUT_S + cpu_time_s * clocks.HARD_WALL_FACTOR)
        try:
            answer = jail.channel.recv(messages.MAX_MESSAGE_BYTES)
        except OSError:
            answer = b""
        if not answer:
            out_of_memory = jail.oom_kills() > kills_before
            log = jail.log()
            self._end_jail()
            if out_of_memory:
                return CompileResult(ok=False, message="compiling took too much memory")
            raise SandboxBrokenError(f"the jail did not start: {log or 'no message'}")
        facts = messages.outside(answer)
        return CompileResult(
            ok=facts["ok"] == "True",
            message=messages.unescaped(facts["message"]),
            broken_prelude=facts["broken_prelude"] == "True",
        )

    def _send(self, jail: Running, message: dict[str, Any], fds: list[int]) -> None:
        try:
            socket.send_fds(jail.channel, [messages.to_harness(message)], fds)
        except OSError as error:
            log = jail.log()
            self._end_jail()
            raise SandboxBrokenError(f"the harness is gone: {log or error}") from error

    def _watch(self, jail: Running, pipes: Pipes, limits: Limits) -> protocol.Ended | None:
        """Drain the pipes until the harness answers. None when it died or does not answer."""
        deadline = time.monotonic() + clocks.HARD_WALL_FACTOR * limits.wall_time_s + ANSWER_GRACE_S
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


def specification(program: Program) -> dict[str, Any]:
    """Return what a harness needs to know of a program."""
    return {
        "source": program.source,
        "mode": program.mode,
        "prelude": program.prelude,
        "entry_point": program.entry_point,
        "arg_types": list(program.arg_types),
        "return_type": program.return_type,
        "answer_from": program.answer_from,
        "operations": program.operations,
    }
