"""How much the service holds, in submissions and in bytes, and when a caller may come back.

A request is admitted while both are below their capacity, whatever its own size: what is held is therefore at
most the capacity and one body, and a batch larger than the capacity is judged like any other instead of
never. Bodies count from their first byte.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from service.errors import QueueFullError
from service.telemetry import RateMeter

if TYPE_CHECKING:
    from collections.abc import Iterator

# Told to callers while nothing has been judged that a rate could be measured from.
UNMEASURED_RETRY_AFTER_S = 5.0
MAX_RETRY_AFTER_S = 600.0


class Backlog:
    """Counts what is held; knows no requests."""

    def __init__(self, max_submissions: int, max_bytes: int) -> None:
        self._max_submissions = max_submissions
        self._max_bytes = max_bytes
        self._submissions = 0
        self._bytes = 0
        self._rate = RateMeter()

    @property
    def submissions(self) -> int:
        """Return the number of submissions that wait or run."""
        return self._submissions

    def ensure_room(self) -> None:
        """Check that one more request may come in.

        Raises:
            QueueFullError: it may not.

        """
        if self._submissions >= self._max_submissions:
            raise QueueFullError(
                f"{self._submissions} submissions are held; from {self._max_submissions} on none is admitted",
                retry_after_s=self.retry_after_s(self._submissions - self._max_submissions + 1),
            )
        if self._bytes >= self._max_bytes:
            share = 1 - self._max_bytes / (self._bytes + 1)
            raise QueueFullError(
                f"{self._bytes} bytes are held; from {self._max_bytes} on nothing is admitted",
                retry_after_s=self.retry_after_s(share * self._submissions),
            )

    def hold(self, submissions: int, size_bytes: int) -> None:
        """Count what came in."""
        self._submissions += submissions
        self._bytes += size_bytes

    def release(self, submissions: int, size_bytes: int) -> None:
        """Count what is no longer held."""
        self._submissions -= submissions
        self._bytes -= size_bytes

    def judged(self) -> None:
        """Count a submission that was judged, for the rate."""
        self._rate.record(time.monotonic())

    @contextmanager
    def body(self, announced_bytes: int) -> Iterator[BodyShare]:
        """Hold a body while it is received and read, first of all what was announced of it.

        Raises:
            QueueFullError: there is no room.

        """
        self.ensure_room()
        share = BodyShare(self)
        share.grow(announced_bytes)
        try:
            yield share
        finally:
            self.release(0, share.size_bytes)

    def retry_after_s(self, too_many: float) -> float:
        """Return when so many will have been judged, at the rate of the last minute."""
        per_second = self._rate.per_second(time.monotonic())
        if per_second == 0.0:
            return UNMEASURED_RETRY_AFTER_S
        return min(too_many / per_second, MAX_RETRY_AFTER_S)


class BodyShare:
    """The bytes that one body holds."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog
        self.size_bytes = 0

    def grow(self, size_bytes: int) -> None:
        """Hold at least ``size_bytes``.

        Raises:
            QueueFullError: the body outgrew what it had announced, and there is no room for that.

        """
        if size_bytes > self.size_bytes:
            if self.size_bytes:
                self._backlog.ensure_room()
            self._backlog.hold(0, size_bytes - self.size_bytes)
            self.size_bytes = size_bytes
