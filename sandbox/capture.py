"""Reads what a run writes, while it runs, up to a cap: no flood fills our memory, no full pipe blocks the program."""

from __future__ import annotations

import os

# Small enough to come from the heap: most programs write a few bytes.
CHUNK_BYTES = 1 << 16


class Capture:
    """Keeps the head of a stream (at most ``keep_bytes``) and, if asked, a tail; counts everything.

    ``over`` is True once more than ``cap_bytes`` were written.
    """

    def __init__(self, fd: int, *, keep_bytes: int, cap_bytes: int, tail_bytes: int = 0) -> None:
        self.fd = fd
        self._keep_bytes = keep_bytes
        self._cap_bytes = cap_bytes
        self._tail_bytes = tail_bytes
        self._parts: list[bytes] = []
        self._tail = b""
        self.kept_bytes = 0
        self.total_bytes = 0

    @property
    def over(self) -> bool:
        """Whether more was written than allowed."""
        return self.total_bytes > self._cap_bytes

    @property
    def cut(self) -> bool:
        """Whether less is kept than was written."""
        return self.total_bytes > self.kept_bytes + len(self._tail)

    def read(self) -> bool:
        """Take a piece of what is there, without waiting. False at the end of the stream."""
        try:
            data = os.read(self.fd, CHUNK_BYTES)
        except BlockingIOError:
            return True
        self._take(data)
        return data != b""

    def _take(self, data: bytes) -> None:
        self.total_bytes += len(data)
        head = data[: self._keep_bytes - self.kept_bytes]
        if head:
            self._parts.append(head)
            self.kept_bytes += len(head)
        if self._tail_bytes and len(data) > len(head):
            self._tail = (self._tail + data[len(head) :])[-self._tail_bytes :]

    def drain(self) -> None:
        """Take what is left after the run; nobody who could still write is running."""
        while not self.over and self._take_piece():
            pass

    def empty(self) -> None:
        """Count and drop what lies beyond the cap, for the next run's sake; only where nobody can write any longer."""
        while self.over and self._take_piece():
            pass

    def _take_piece(self) -> bool:
        """Take a piece; return whether there may be more at once."""
        try:
            data = os.read(self.fd, CHUNK_BYTES)
        except BlockingIOError:
            return False
        self._take(data)
        return len(data) == CHUNK_BYTES

    def content(self) -> bytes:
        """Return what was kept; a gap between head and tail is marked."""
        if not self._tail:
            return b"".join(self._parts)
        gap = f"\n... {self.total_bytes - self.kept_bytes - len(self._tail)} bytes left out ...\n".encode()
        return b"".join([*self._parts, gap if self.cut else b"", self._tail])
