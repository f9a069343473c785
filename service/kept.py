"""What is kept in memory for a while: bounded in bytes and in time."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass


@dataclass(slots=True)
class _Entry[V]:
    value: V
    size_bytes: int
    expires_s: float


class Kept[V]:
    """Values by name, for ``ttl_s`` each; the oldest go when ``max_bytes`` are held.

    Age counts from the last use where use ``renews``, else from when the value was put. The value that was put
    last stays, whatever its size. Every operation but the clearing of what has expired takes constant time, and
    that is paid by what was put before.
    """

    def __init__(self, max_bytes: int, ttl_s: float, *, renews: bool = True) -> None:
        self._max_bytes = max_bytes
        self._renews = renews
        self._ttl_s = ttl_s
        self._entries: OrderedDict[str, _Entry[V]] = OrderedDict()
        self._size_bytes = 0

    def __len__(self) -> int:
        self._forget()
        return len(self._entries)

    def get(self, name: str) -> V | None:
        """Return the value, which is thereby used, or None where there is none."""
        self._forget()
        entry = self._entries.get(name)
        if entry is None:
            return None
        if self._renews:
            entry.expires_s = time.monotonic() + self._ttl_s
            self._entries.move_to_end(name)
        return entry.value

    def put(self, name: str, value: V, size_bytes: int) -> None:
        """Keep ``value``, in place of what had the name."""
        self.pop(name)
        self._forget()
        while self._entries and self._size_bytes + size_bytes > self._max_bytes:
            self._drop_oldest()
        self._entries[name] = _Entry(value, size_bytes, time.monotonic() + self._ttl_s)
        self._size_bytes += size_bytes

    def pop(self, name: str) -> V | None:
        """Return the value and keep it no longer."""
        self._forget()
        entry = self._entries.pop(name, None)
        if entry is None:
            return None
        self._size_bytes -= entry.size_bytes
        return entry.value

    def _forget(self) -> None:
        # They are in the order in which they expire: what gets a new time to live moves to the end.
        now_s = time.monotonic()
        while self._entries and next(iter(self._entries.values())).expires_s <= now_s:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, entry = self._entries.popitem(last=False)
        self._size_bytes -= entry.size_bytes
