"""Frames between the service and its child processes: 4 bytes of length, big-endian, then that many bytes.

A frame holds JSON. A child gets one end of a socket pair, and the end of the stream is the one sign of the
other side's death that cannot be missed, however it died. Large frames are neither joined nor copied on the
service's side, where every copy of a large body would keep the event loop waiting.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

Blob = bytes | bytearray
# A frame's content: in one piece, or in pieces that follow each other.
Frame = Blob | list[bytes]

MAX_FRAME_BYTES = (1 << 32) - 1
SMALL_BYTES = 64 << 10
_LENGTH = struct.Struct("!I")


def encoded(frames: Sequence[Frame]) -> list[Blob]:
    """Return the frames with their lengths, small neighbours joined, to be sent one after the other.

    Raises:
        ValueError: a frame is longer than ``MAX_FRAME_BYTES``.

    """
    sent: list[Blob] = [bytearray()]
    for frame in frames:
        pieces: Sequence[Blob] = frame if isinstance(frame, list) else [frame]
        length = sum(map(len, pieces))
        if length > MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {length} bytes is over {MAX_FRAME_BYTES}")
        for piece in (_LENGTH.pack(length), *pieces):
            last = sent[-1]
            if isinstance(last, bytearray) and len(last) + len(piece) <= SMALL_BYTES:
                last += piece
            else:
                sent += (piece, bytearray())
    return [piece for piece in sent if piece]


async def receive_frame(sock: socket.socket) -> bytearray:
    """Return the next frame from a non-blocking socket.

    Raises:
        ConnectionError: the other side is gone.

    """
    (length,) = _LENGTH.unpack(await _receive(sock, _LENGTH.size))
    return await _receive(sock, length)


async def send_frames(sock: socket.socket, frames: Sequence[Frame]) -> None:
    """Send the frames over a non-blocking socket.

    Raises:
        ConnectionError: the other side is gone.

    """
    loop = asyncio.get_running_loop()
    for piece in encoded(frames):
        await loop.sock_sendall(sock, piece)


async def _receive(sock: socket.socket, length: int) -> bytearray:
    loop = asyncio.get_running_loop()
    received = bytearray(length)
    rest = memoryview(received)
    while rest:
        count = await loop.sock_recv_into(sock, rest)
        if count == 0:
            raise ConnectionResetError("the other side is gone")
        rest = rest[count:]
    return received


class Channel:
    """The child's end: blocking, for one thread."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._stream = sock.makefile("rb")

    @classmethod
    def from_descriptor(cls, descriptor: int) -> Self:
        """Take over the inherited socket, and keep programs that are judged from inheriting it."""
        sock = socket.socket(fileno=descriptor)
        sock.set_inheritable(False)
        return cls(sock)

    def fileno(self) -> int:
        """Return the socket's descriptor."""
        return self._sock.fileno()

    def read(self) -> bytes | None:
        """Return the next frame, or None when the service is gone."""
        head = self._stream.read(_LENGTH.size)
        if len(head) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack(head)
        frame = self._stream.read(length)
        return frame if len(frame) == length else None

    def write(self, frames: Sequence[Frame]) -> None:
        """Write the frames.

        Raises:
            ConnectionError: the service is gone.

        """
        for piece in encoded(frames):
            self._sock.sendall(piece)
