"""One process that a zygote has forked for a program: loads it, runs its tests in lock-step, watches their limits."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time

from sandbox import protocol
from sandbox.errors import SandboxBrokenError
from sandbox.facts import CallInput, CompileResult, Limits, RunInput, RunResult, StdioInput
from sandbox.harness import clocks, forks, messages, plain
from sandbox.harness.compiling import IN_PRELUDE
from sandbox.streams import REPORT_SLACK_BYTES, captures, memory_file, pipe
from sandbox.zygotes import Ending, Zygote, receive_with_sender

MAX_INLINE_BYTES = 60_000
QUIET = struct.pack("ll", 0, 3000)  # struct timeval: 3 ms
# A shorter test cannot have hidden more than a few milliseconds in other processes.
SHORT_TEST_S = 0.005


class WarmProcess:
    """A process of one program. ``as_new`` tells whether it may run another test."""

    def __init__(
        self, zygote: Zygote, spec: bytes, rules: dict[int, tuple[int, int]], limits: Limits
    ) -> None:
        self.limits = limits
        self.as_new = True
        self._zygote = zygote
        self._ran = 0
        self._pid = 0
        self._pidfd = -1
        self._own_before_s = self._others_before_s = 0.0
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._stdin = memory_file(b"")
        self._stdout, stdout = pipe()
        self._stderr, stderr = pipe()
        given = memory_file(spec)
        try:
            fds = [self._stdin, stdout, stderr, theirs.fileno(), given]
            zygote.start(forks.pack(forks.LOCKSTEP, rules), fds)
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
        for fd in (self._stdin, self._stdout, self._stderr, self._pidfd):
            if fd >= 0:
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
            self._connect()
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
            return CompileResult(ok=False, message="it does not end, or ends its process", broken_prelude=True)
        if ending.status is not None and not os.WIFSIGNALED(ending.status):
            raise SandboxBrokenError(f"a program's process did not start: {self._zygote.log() or 'no message'}")
        number = os.WTERMSIG(ending.status) if ending.status is not None else signal.SIGKILL
        return CompileResult(ok=False, message=protocol.compiler_death(number))

    def _connect(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self._pid)
        except ProcessLookupError as error:
            raise SandboxBrokenError("a program's process has vanished") from error
        self._clock = clocks.clock_of(self._pid)
        self._own_before_s = time.clock_gettime(self._clock)
        for fd in (self._pidfd, self._stdout, self._stderr):
            self._poller.register(fd, select.POLLIN)

    def run(self, given: RunInput) -> RunResult:
        """Run the next test. Raises SandboxBrokenError."""
        test = _Test(self.limits, self._stdout, self._stderr)
        self._zygote.restart_peak()
        self._ran += 1
        if self._hand_over(given):
            self._watch(test)
        wall_time_s = time.monotonic() - test.started
        memory = False
        if test.over and not test.killed:
            status: int | None = 0
            cpu_time_s = self._measure(wall_time_s)
            memory = wall_time_s > SHORT_TEST_S and self._zygote.killed_for_memory()
            peak_bytes = self._zygote.peak_bytes()
        else:
            # Of processes that end with the init of their namespace nobody counts the time: look before.
            seen_s = self._all_used_s() if wall_time_s > SHORT_TEST_S else 0.0
            ending = self._end()
            status = ending.status
            cpu_time_s = max(0.0, max(seen_s, ending.cpu_time_s) - self._used_before_s)
            memory = self._zygote.killed_for_memory()
            peak_bytes = self._zygote.peak_bytes() or ending.memory_peak_bytes
        for capture in (test.stdout, test.stderr):
            capture.drain()
        facts = protocol.Ended(status, test.killed, cpu_time_s, wall_time_s, peak_bytes or 0, clean=True, waiting_s=test.waiting_s)
        return protocol.result(
            facts,
            self.limits,
            (test.stdout, test.stderr, test.record),
            killed_for_memory=memory,
            peak_bytes=peak_bytes,
            reused=self._ran > 1,
        )

    def _hand_over(self, given: RunInput) -> bool:
        """Give the process its next input; False where it has ended meanwhile."""
        message, fds = b"g", []
        if isinstance(given, StdioInput):
            _rewrite(self._stdin, given.stdin)
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

    def _watch(self, test: _Test) -> None:
        """Take what the process writes until the test is over or a limit is exceeded, or the process ends."""
        limits = (self.limits.cpu_time_s, self.limits.wall_time_s)
        wait_s = clocks.first_look_s(*limits)
        # Most tests are over in a moment: it is cheaper to wake up at their end than for all that they write.
        self._receive(test, 0)
        while not test.finished:
            ready = self._poller.poll(wait_s * 1000)
            for fd, _ in ready:
                self._take(fd, test)
            if not ready:
                used_s = self._all_used_s() - self._used_before_s
                delay_s = clocks.run_delay_s(self._pid)
                wall_s = time.monotonic() - test.started
                test.killed, wait_s = clocks.exceeded(used_s, wall_s, limits, delay_s)
                test.waiting_s = delay_s

    def _take(self, fd: int, test: _Test) -> None:
        if fd == self._pidfd:
            test.ended = True
            while self._receive(test, socket.MSG_DONTWAIT):
                continue
        elif fd == self._channel_fd:
            if not self._receive(test, socket.MSG_DONTWAIT) and not test.over:
                self._poller.unregister(fd)
        elif not test.read(fd):
            self._poller.unregister(fd)

    def _receive(self, test: _Test, flags: int) -> bool:
        """Take one message of the process; False where there is none to wait for any more."""
        try:
            data = self._channel.recv(messages.MAX_MESSAGE_BYTES, flags)
        except OSError:
            return False
        if data[:1] == b"p":
            test.add(data[1:])
            return True
        test.over = data in (b"d1", b"d0") and not test.ended
        self.as_new = data == b"d1"
        if data and not test.over:
            test.killed = "asked"  # nothing that a process of ours would say
        return False

    def _measure(self, wall_time_s: float) -> float:
        """Return the CPU time since the last test."""
        now_s = time.clock_gettime(self._clock)
        used_s = now_s - self._own_before_s
        self._own_before_s = now_s
        if wall_time_s > SHORT_TEST_S:
            others_s = self._others_s()
            used_s += max(0.0, others_s - self._others_before_s)
            self._others_before_s = others_s
        return used_s

    @property
    def _used_before_s(self) -> float:
        return self._own_before_s + self._others_before_s

    def _others_s(self) -> float:
        others = set(clocks.descendants(self._zygote.pid)) - {self._pid}
        if len(others) > 1:  # besides the init of its namespace
            self.as_new = False
        waited_for_s = sum(map(clocks.of_waited_for_s, {*others, self._pid}))
        return waited_for_s + sum(map(clocks.used_s, others))

    def _all_used_s(self) -> float:
        return self._others_s() + clocks.used_s(self._pid)

    def _end(self) -> Ending:
        self.as_new = False
        self._zygote.begin_to_end()
        return self._zygote.settle()


class _Test:
    """What is seen of one test."""

    def __init__(self, limits: Limits, stdout: int, stderr: int) -> None:
        self.started = time.monotonic()
        self.stdout, self.stderr = captures(stdout, stderr, limits)
        self.record = Record(limits.output_bytes + REPORT_SLACK_BYTES)
        self.over = False
        self.ended = False
        self.killed = ""
        self.waiting_s = 0.0

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.over or self.ended or self.killed != ""

    def read(self, fd: int) -> bool:
        """Take what there is of an output; False at its end."""
        capture = self.stdout if fd == self.stdout.fd else self.stderr
        more = capture.read()
        if capture.over:
            self.killed = "asked"
        return more

    def add(self, part: bytes) -> None:
        """Take a part of the record."""
        self.record.add(part)
        if self.record.over:
            self.killed = "asked"


class Record:
    """What a process reports of a test, up to a cap."""

    def __init__(self, cap_bytes: int) -> None:
        self._cap_bytes = cap_bytes
        self._parts: list[bytes] = []
        self._bytes = 0

    def add(self, part: bytes) -> None:
        """Take a part."""
        self._bytes += len(part)
        if not self.over:
            self._parts.append(part)

    @property
    def over(self) -> bool:
        """Whether more was reported than allowed."""
        return self._bytes > self._cap_bytes

    @property
    def cut(self) -> bool:
        """Whether less is kept than was reported."""
        return self.over

    def content(self) -> bytes:
        """Return what was kept."""
        return b"".join(self._parts)


def _rewrite(fd: int, data: bytes) -> None:
    """Replace a file's content and go to its start."""
    os.lseek(fd, 0, os.SEEK_SET)
    at = os.pwrite(fd, data, 0)
    while at < len(data):
        at += os.pwrite(fd, data[at:], at)
    os.ftruncate(fd, len(data))
