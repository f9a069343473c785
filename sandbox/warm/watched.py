"""What is seen of one test while it runs: its output as it comes, what it reports, how it ends."""

from __future__ import annotations

import time

from sandbox.facts import Limits
from sandbox.streams import REPORT_SLACK_BYTES, captures

# A shorter test cannot have hidden more than a few milliseconds in other processes.
SHORT_TEST_S = 0.005


class Watched:
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
        self._bytes += len(part) + 1  # parts of nothing are counted as well
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
