"""Reuse: a process that runs the tests of its program in turn (see harness/lockstep.py). This is the trusted side.

The process says when a test is over; what it wrote, how long it took and what it used are seen from here.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from contextlib import suppress

from sandbox import protocol
from sandbox.errors import SandboxBrokenError
from sandbox.facts import RunInput, RunResult
from sandbox.harness import clocks, forks, messages, waits
from sandbox.warm.processes import WarmProcess
from sandbox.warm.watched import SHORT_TEST_S, Watched

# Looking for what a test waited costs as much as a short test: the waiting of some may count for the next.
LONGEST_UNSEEN_S = 0.05
# Left in the channel by a process that has ended: more than it holds.
MAX_LATE_MESSAGES = 10_000


class LockstepProcess(WarmProcess):
    """Runs tests in turn, until one does not end well."""

    operation = forks.LOCKSTEP
    _pidfd = -1
    _ran = 0
    _own_before_s = _others_before_s = _unseen_s = 0.0

    def close(self) -> None:
        """End the process with everything that it started."""
        super().close()
        if self._pidfd >= 0:
            os.close(self._pidfd)

    def cancel(self) -> None:
        """End the test that runs, from another thread."""
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _ready(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self._pid)
        except ProcessLookupError as error:
            raise SandboxBrokenError("a program's process has vanished") from error
        self._clock = clocks.clock_of(self._pid)
        self._own_before_s = time.clock_gettime(self._clock)
        self._waits = waits.Waits()
        self._waits.restart((self._pid,))
        for fd in (self._pidfd, self._stdout, self._stderr):
            self._poller.register(fd, select.POLLIN)

    def run(self, given: RunInput) -> RunResult:
        """Run the next test. Raises SandboxBrokenError."""
        test = Watched(self.limits, self._stdout, self._stderr)
        self._zygote.restart_peak()
        self._ran += 1
        if self._hand_over(given):
            self._watch(test)
        wall_time_s = time.monotonic() - test.started
        if wall_time_s > clocks.first_look_s(self.limits.cpu_time_s, self.limits.wall_time_s):
            test.waiting_s = self._waits.look((self._pid, *self._others()))
        memory = False
        if test.over and not test.killed:
            status: int | None = 0
            cpu_time_s = self._measure(wall_time_s)
            memory = wall_time_s > SHORT_TEST_S and self._zygote.killed_for_memory()
            peak_bytes = self._zygote.peak_bytes()
        else:
            # Of processes that end with the init of their namespace nobody counts the time: look before.
            seen_s = self._all_used_s(self._others()) if wall_time_s > SHORT_TEST_S else 0.0
            ending = self._end()
            status = ending.status
            cpu_time_s = max(0.0, max(seen_s, ending.cpu_time_s) - self._used_before_s)
            memory = self._zygote.killed_for_memory()
            peak_bytes = self._zygote.peak_bytes() or ending.memory_peak_bytes
        for capture in (test.stdout, test.stderr):
            capture.drain()
            # The rest of it is in the pipe, and a thread might go on writing.
            self.as_new = self.as_new and not capture.over
        facts = protocol.Ended(
            status,
            test.killed,
            cpu_time_s,
            wall_time_s,
            peak_bytes or 0,
            clean=True,
            waiting_s=test.waiting_s,
        )
        return protocol.result(
            facts,
            self.limits,
            (test.stdout, test.stderr, test.record),
            killed_for_memory=memory,
            peak_bytes=peak_bytes,
            reused=self._ran > 1,
        )

    def _watch(self, test: Watched) -> None:
        """Take what the process writes until the test is over or a limit is exceeded, or the process ends."""
        limits = (self.limits.cpu_time_s, self.limits.wall_time_s)
        look_at = test.started + clocks.first_look_s(*limits)
        # Most tests are over in a moment: it is cheaper to wake up at their end than for all that they write.
        self._receive(test, 0)
        while not test.finished:
            for fd, _ in self._poller.poll(max(0.0, look_at - time.monotonic()) * 1000):
                self._take(fd, test)
            now = time.monotonic()
            if now >= look_at and not test.finished:
                others = self._others()
                used_s = self._all_used_s(others) - self._used_before_s
                test.waiting_s = self._waits.look((self._pid, *others))
                test.killed, wait_s = clocks.exceeded(used_s, now - test.started, limits, test.waiting_s)
                look_at = now + wait_s

    def _take(self, fd: int, test: Watched) -> None:
        if fd == self._pidfd:
            test.ended = True
            for _ in range(MAX_LATE_MESSAGES):
                if not self._receive(test, socket.MSG_DONTWAIT):
                    break
        elif fd == self._channel_fd:
            if not self._receive(test, socket.MSG_DONTWAIT) and not test.over:
                self._poller.unregister(fd)
        elif not test.read(fd):
            self._poller.unregister(fd)

    def _receive(self, test: Watched, flags: int) -> bool:
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
        self._unseen_s += wall_time_s
        if wall_time_s > SHORT_TEST_S:
            others = self._others()
            others_s = self._others_s(others)
            used_s += max(0.0, others_s - self._others_before_s)
            self._others_before_s = others_s
            self._restart_waits(others)
        elif self._unseen_s > LONGEST_UNSEEN_S:
            self._restart_waits(self._others())
        return used_s

    @property
    def _used_before_s(self) -> float:
        return self._own_before_s + self._others_before_s

    def _others(self) -> set[int]:
        """Return the processes besides the program's own: the init of its namespace, and what was started."""
        return set(clocks.descendants(self._zygote.pid)) - {self._pid}

    def _restart_waits(self, others: set[int]) -> None:
        """Have what was waited so far count for no later test."""
        self._waits.restart((self._pid, *others))
        self._unseen_s = 0.0

    def _others_s(self, others: set[int]) -> float:
        if len(others) > 1:
            self.as_new = False
        waited_for_s = sum(map(clocks.of_waited_for_s, {*others, self._pid}))
        return waited_for_s + sum(map(clocks.used_s, others))

    def _all_used_s(self, others: set[int]) -> float:
        return self._others_s(others) + clocks.used_s(self._pid)
