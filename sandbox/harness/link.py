"""The line between a program's process and the tester's: frames of flat plain data, bounded, nothing else."""

from __future__ import annotations

import os
import struct
from typing import Any

from sandbox.harness import plain

MAX_FRAME_BYTES = 256 << 20
HEADER = struct.Struct(">I")


class LinkClosedError(BaseException):
    """The other side is gone. Not an Exception, so that test code cannot take it for the program's."""


class Link:
    """One end; ``hook`` and ``unhook`` carry what is no plain data (see plain.py)."""

    def __init__(self, fd: int, hook: plain.Hook, unhook: plain.Unhook) -> None:
        self._fd = fd
        self._hook = hook
        self._unhook = unhook
        # Bound now: on the program's side, modules may hold anything later.
        self._read, self._write = os.read, os.write
        self._dumps, self._loads = plain.dumps, plain.loads
        self.lost = False

    def send(self, *message: Any) -> None:
        """Send a message. Raises NotPlainError where a part of it cannot travel, LinkClosedError."""
        data = self._dumps(message, self._hook)
        view = memoryview(HEADER.pack(len(data)) + data)
        try:
            while view:
                view = view[self._write(self._fd, view) :]
        except OSError as error:
            raise self.closed() from error

    def receive(self) -> Any:
        """Return the next message, a tuple. Raises LinkClosedError, also for what is no message."""
        (size,) = HEADER.unpack(self._exactly(HEADER.size))
        if size > MAX_FRAME_BYTES:
            raise self.closed()
        try:
            message = self._loads(self._exactly(size), self._unhook)
        except ValueError as error:
            raise self.closed() from error
        if type(message) is not tuple or not message:
            raise self.closed()
        return message

    def _exactly(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            try:
                part = self._read(self._fd, min(size, 1 << 20))
            except OSError as error:
                raise self.closed() from error
            if not part:
                raise self.closed()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def closed(self) -> LinkClosedError:
        """Return the error that ends the talk for good: the other side is gone, or not to be talked with."""
        self.lost = True
        return LinkClosedError()
