"""Strict: a process that has loaded its program and forks for each test (``serve_runs`` of helper.c). The trusted side.

The template is the first process of its namespace: what it forks cannot signal it, and never gets its control channel,
so what it tells of a run is the truth.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress

from sandbox import protocol
from sandbox.errors import SandboxBrokenError
from sandbox.facts import RunInput, RunResult, StdioInput
from sandbox.harness import clocks, forks, messages, waits
from sandbox.warm.processes import QUIET, WarmProcess, rewrite
from sandbox.warm.watched import SHORT_TEST_S, Watched

RUN = b"r"
ANSWER_GRACE_S = 10.0


class TemplateProcess(WarmProcess):
    """Forks a process for each test."""

    operation = forks.TEMPLATE
    _cancelled = False
    _theirs: socket.socket

    def _further_descriptors(self) -> list[int]:
        self._control, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, QUIET)
        return [self._theirs.fileno()]

    def close(self) -> None:
        """End the template with everything that it started."""
        super().close()
        self._control.close()
        self._theirs.close()

    def _ready(self) -> None:
        self._theirs.close()
        for fd in (self._control.fileno(), self._stdout, self._stderr):
            self._poller.register(fd, self.readable)

    def run(self, given: RunInput) -> RunResult:
        """Run the next test. Raises SandboxBrokenError."""
        test = Watched(self.limits, self._stdout, self._stderr)
        self._waits = waits.Waits()
        self._zygote.restart_peak()
        answer = b""
        with suppress(OSError):  # it is gone: see below
            self._give(given)
            self._control.send(RUN)
            answer = self._watch(test)
        wall_time_s = time.monotonic() - test.started
        facts = self._facts(answer, test, wall_time_s)
        memory = (facts is None or facts.status != 0 or wall_time_s > SHORT_TEST_S) and (
            self._zygote.killed_for_memory()
        )
        if facts is None and not memory:
            raise SandboxBrokenError(
                f"a template died in the middle of a run: {self._zygote.log() or 'no message'}"
            )
        while self._receive(test):
            continue
        for capture in (test.stdout, test.stderr):
            capture.drain()
            capture.empty()
        peak_bytes = self._zygote.peak_bytes()
        return protocol.result(
            facts,
            self.limits,
            (test.stdout, test.stderr, test.record),
            killed_for_memory=memory,
            peak_bytes=peak_bytes,
        )

    def _give(self, given: RunInput) -> None:
        if isinstance(given, StdioInput):
            rewrite(self._stdin, given.stdin)  # whoever asks for a run means that it reads this
        elif not self._hand_over(given):
            raise ConnectionError("the template is gone")

    def _watch(self, test: Watched) -> bytes:
        """Take what the run writes until the template tells of its end. Raises OSError where it is gone."""
        limits = (self.limits.cpu_time_s, self.limits.wall_time_s)
        look_at = test.started + clocks.first_look_s(*limits)
        # Most tests are over in a moment: it is cheaper to wake up at their end than for all that they write.
        with suppress(BlockingIOError):
            return self._control.recv(messages.MAX_MESSAGE_BYTES)
        while True:
            if self._cancelled:
                test.killed = "asked"
            if test.killed:
                return self._kill()
            for fd, _ in self._poller.poll(max(0.0, look_at - time.monotonic()) * 1000):
                if fd == self._control.fileno():
                    return self._control.recv(messages.MAX_MESSAGE_BYTES)
                if fd == self._channel_fd:
                    if not self._receive(test):
                        self._poller.unregister(fd)
                elif not test.read(fd):
                    self._poller.unregister(fd)
            if time.monotonic() >= look_at:
                look_at = time.monotonic() + self._look(test, limits)

    def _look(self, test: Watched, limits: tuple[float, float]) -> float:
        """Look at the clocks; return how long no limit can be exceeded."""
        below = clocks.descendants(self._pid)
        used_s = sum(clocks.used_s(pid) + clocks.of_waited_for_s(pid) for pid in below)
        test.waiting_s = self._waits.look(below)
        wall_s = time.monotonic() - test.started
        test.killed, wait_s = clocks.exceeded(used_s, wall_s, limits, test.waiting_s)
        return wait_s if not test.killed else 0.0

    def cancel(self) -> None:
        """End the test that runs, from another thread, and all later ones."""
        self._cancelled = True
        self._kill_run()

    def _kill_run(self) -> None:
        # The template ends whatever the run has started.
        for pid in clocks.descendants(self._pid) if self._pid else ():
            with suppress(ProcessLookupError):
                pidfd = os.pidfd_open(pid)
                try:
                    if pid in clocks.descendants(self._pid):  # it, and nobody who has its number by now
                        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                finally:
                    os.close(pidfd)

    def _kill(self) -> bytes:
        """End the run and return what the template tells then."""
        deadline = time.monotonic() + ANSWER_GRACE_S
        while time.monotonic() < deadline:
            self._kill_run()  # more than once: it may be about to be forked
            with suppress(BlockingIOError):
                return self._control.recv(messages.MAX_MESSAGE_BYTES)
        return b""

    def _receive(self, test: Watched) -> bool:
        """Take one message of the run; False where there is none."""
        try:
            data = self._channel.recv(messages.MAX_MESSAGE_BYTES, socket.MSG_DONTWAIT)
        except OSError:
            return False
        if data[:1] == b"p":
            test.add(data[1:])
        return bool(data)

    def _facts(self, answer: bytes, test: Watched, wall_time_s: float) -> protocol.Ended | None:
        """Return what the template tells of a run; None where it is gone."""
        if not answer:
            self._end()
            return None
        facts = messages.outside(answer)
        self.as_new = facts["clean"] == "True"
        return protocol.Ended(
            status=int(facts["status"]),
            killed=test.killed,
            cpu_time_s=float(facts["cpu_time_s"]),
            wall_time_s=wall_time_s,
            memory_peak_bytes=int(facts["memory_peak_bytes"]),
            clean=self.as_new,
            waiting_s=test.waiting_s,
        )
