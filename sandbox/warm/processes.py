"""A process that a zygote has forked for one program: starts it, has it load the program, hands it its inputs."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import struct
import time
from abc import ABC, abstractmethod

from sandbox import protocol
from sandbox.errors import SandboxBrokenError
from sandbox.facts import CallInput, CompileResult, Limits, RunInput, RunResult, StdioInput
from sandbox.harness import clocks, forks, messages, plain
from sandbox.harness.compiling import IN_PRELUDE
from sandbox.streams import memory_file, pipe
from sandbox.warm.zygotes import Ending, Zygote, receive_with_sender

MAX_INLINE_BYTES = 60_000
QUIET = struct.pack("ll", 0, 3000)  # struct timeval: 3 ms


class WarmProcess(ABC):
    """A process of one program. ``as_new`` tells whether it may run another test."""

    operation: int
    readable = select.POLLIN

    def __init__(
        self, zygote: Zygote, spec: bytes, rules: dict[int, tuple[int, int]], limits: Limits
    ) -> None:
        """Have it forked; ``spec`` is what it loads, ``rules`` are its resource limits. Raises SandboxBrokenError."""
        self.limits = limits
        self.as_new = True
        self._zygote = zygote
        self._pid = 0
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._stdin = memory_file(b"")
        self._stdout, stdout = pipe()
        self._stderr, stderr = pipe()
        given = memory_file(spec)
        try:
            fds = [self._stdin, stdout, stderr, theirs.fileno(), given, *self._further_descriptors()]
            zygote.start(forks.pack(self.operation, rules), fds)
        except BaseException:  # interrupts too: nobody has this object yet who could close it
            self.close()
            raise
        finally:
            theirs.close()
            for fd in (given, stdout, stderr):
                os.close(fd)
        self._poller = select.poll()
        self._channel_fd = self._channel.fileno()
        self._poller.register(self._channel_fd, select.POLLIN)

    def close(self) -> None:
        """End the process with everything that it started."""
        self._zygote.begin_to_end()
        self._channel.close()
        for fd in (self._stdin, self._stdout, self._stderr):
            os.close(fd)

    def compiled(self, cpu_time_s: float) -> CompileResult:
        """Wait until the program is loaded. Raises SandboxBrokenError."""
        limits = (cpu_time_s, cpu_time_s * clocks.HARD_WALL_FACTOR)
        started = time.monotonic()
        data = self._answer(started, limits)
        in_prelude = data == IN_PRELUDE
        if in_prelude:
            data = self._answer(started, limits)
        if not data:
            return self._not_compiled(in_prelude=in_prelude)
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, QUIET)
        facts = messages.outside(data)
        if facts["ok"] == "True":
            self._ready()
        return CompileResult(
            ok=facts["ok"] == "True",
            message=messages.unescaped(facts["message"]),
            broken_prelude=facts["broken_prelude"] == "True",
        )

    def _answer(self, started: float, limits: tuple[float, float]) -> bytes:
        """Return the next message while nothing of the program runs yet; none where the process ends or has to be."""
        wait_s = clocks.first_look_s(*limits)
        while not self._poller.poll(wait_s * 1000):
            used_s = sum(map(clocks.used_s, clocks.descendants(self._zygote.pid)))
            killed, wait_s = clocks.exceeded(used_s, time.monotonic() - started, limits, 0.0)
            if killed:
                return b""
        try:
            data, self._pid = receive_with_sender(self._channel)
        except OSError:
            return b""
        return data

    def _not_compiled(self, *, in_prelude: bool) -> CompileResult:
        """Tell why the process ended, or had to be ended, before any of the program ran."""
        ending = self._end()
        if in_prelude:
            return CompileResult(
                ok=False, message="it does not end, or ends its process", broken_prelude=True
            )
        if ending.status is not None and not os.WIFSIGNALED(ending.status):
            raise SandboxBrokenError(
                f"a program's process did not start: {self._zygote.log() or 'no message'}"
            )
        number = os.WTERMSIG(ending.status) if ending.status is not None else signal.SIGKILL
        return CompileResult(ok=False, message=protocol.compiler_death(number))

    @abstractmethod
    def run(self, given: RunInput) -> RunResult:
        """Run the next test. Raises SandboxBrokenError."""

    @abstractmethod
    def cancel(self) -> None:
        """End the test that runs, from another thread."""

    @abstractmethod
    def _ready(self) -> None:
        """Prepare for tests: the program is loaded, and nothing of it has run."""

    def _further_descriptors(self) -> list[int]:
        """Return descriptors that the process gets besides the usual ones, and that stay ours to close."""
        return []

    def _hand_over(self, given: RunInput) -> bool:
        """Give the process its next input; False where it has ended meanwhile."""
        message, fds = b"g", []
        if isinstance(given, StdioInput):
            rewrite(self._stdin, given.stdin)
        elif isinstance(given, CallInput):
            arguments = plain.dumps([list(given.args), given.kwargs])
            if len(arguments) <= MAX_INLINE_BYTES:
                message += arguments
            else:
                fds.append(memory_file(arguments))
        try:
            if fds:
                socket.send_fds(self._channel, [message], fds)
            else:
                self._channel.send(message)
        except OSError:
            return False
        finally:
            for fd in fds:
                os.close(fd)
        return True

    def _end(self) -> Ending:
        self.as_new = False
        self._zygote.begin_to_end()
        return self._zygote.settle()


def rewrite(fd: int, data: bytes) -> None:
    """Replace a file's content and go to its start."""
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)  # a program may have set it to append
    os.lseek(fd, 0, os.SEEK_SET)
    at = os.pwrite(fd, data, 0)
    while at < len(data):
        at += os.pwrite(fd, data[at:], at)
    os.ftruncate(fd, len(data))
