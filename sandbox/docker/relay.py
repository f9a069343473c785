"""Joins a session's channel to the bridge in its container: descriptors on our side, frames on the stream.

A session hands descriptors over its channel. What is to be read is sent as frames, ahead of the message; what comes
back for the others is written to them, and they are closed before the answer is passed on. Two threads, one for each
direction; both end with the channel or with the container.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from sandbox.container import frames
from sandbox.harness import messages

MAX_FDS = 8
# How Docker tells standard output from standard error in one stream: kind, three zeros, length.
STREAM_HEADER = struct.Struct(">BxxxI")
STANDARD_ERROR = 2
MAX_SAID_BYTES = 4096


class Stream:
    """The standard streams of the bridge, over a connection that Docker has handed over."""

    def __init__(self, handed_over: Any) -> None:
        """Take what ``exec_start(socket=True)`` of Docker's client gives: a socket, or a file around one."""
        self._handed_over = handed_over
        self._connection: socket.socket = getattr(handed_over, "_sock", handed_over)
        self._parser = frames.Parser()
        self._ready: list[tuple[int, int, bytes]] = []
        self._closing = threading.Lock()
        self._closed = False
        self.said = b""

    def send(self, data: bytes) -> None:
        """Write to its standard input. Raises OSError."""
        self._connection.sendall(data)

    def frames(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield its frames until the stream ends. Raises OSError, ValueError."""
        while True:
            while self._ready:
                yield self._ready.pop(0)
            header = self._exactly(STREAM_HEADER.size)
            if not header:
                return
            kind, size = STREAM_HEADER.unpack(header)
            data = self._exactly(size)
            if kind == STANDARD_ERROR:
                self.said = (self.said + data)[-MAX_SAID_BYTES:]
            else:
                self._ready += self._parser.feed(data)

    def close(self) -> None:
        """End it, also under a thread that is reading; more than once if need be."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            # The client keeps the response, of which the socket is a part, from being collected; outermost first.
            response = getattr(self._handed_over, "_response", None)
            for part in (response, self._handed_over, self._connection):
                if part is not None:
                    part.close()

    def set_timeout(self, seconds: float | None) -> None:
        """Bound the waiting of each operation; None: without a bound."""
        self._connection.settimeout(seconds)

    def _exactly(self, size: int) -> bytes:
        parts = []
        while size:
            part = self._connection.recv(min(size, frames.CHUNK_BYTES))
            if not part:
                return b""
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class Relay:
    """Passes on between a channel and a stream.

    ``before`` is called with the size in bytes of all inputs before a message that brings descriptors is sent;
    ``at_end`` once the container's side is gone, before the channel says so.
    """

    def __init__(self, stream: Stream, before: Callable[[int], None], at_end: Callable[[], None]) -> None:
        self.channel, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._stream = stream
        self._before = before
        self._at_end = at_end
        self._outputs: dict[int, int] = {}
        self.usage_bytes = 0
        self.kills = 0
        self.failure = ""
        for direction in (self._outwards, self._inwards):
            threading.Thread(target=direction, daemon=True).start()

    def _outwards(self) -> None:
        """From the session to the container."""
        try:
            while True:
                message, fds, _, _ = socket.recv_fds(self._theirs, messages.MAX_MESSAGE_BYTES, MAX_FDS)
                if not message:
                    break
                self._send(message, fds)
        except Exception as error:  # noqa: BLE001 - whatever it is, the session must see its channel end
            self.failure = f"{type(error).__name__}: {error}"
        finally:
            self._stream.close()
            self._theirs.close()

    def _send(self, message: bytes, fds: list[int]) -> None:
        kinds = b""
        inputs: dict[int, int] = {}
        for index, fd in enumerate(fds):
            if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
                kinds += frames.WRITE
                self._outputs[index] = fd
            else:
                kinds += frames.READ
                inputs[index] = fd
        try:
            if fds:
                self._before(sum(os.fstat(fd).st_size for fd in inputs.values()))
            for index, fd in inputs.items():
                position = 0
                while part := os.pread(fd, frames.CHUNK_BYTES, position):
                    self._stream.send(frames.frame(frames.INPUT, index, part))
                    position += len(part)
        finally:
            for fd in inputs.values():
                os.close(fd)
        self._stream.send(frames.frame(frames.MESSAGE, len(kinds), kinds + message))

    def _inwards(self) -> None:
        """From the container to the session."""
        try:
            for kind, number, content in self._stream.frames():
                if kind == frames.OUTPUT and number in self._outputs:
                    self._write(number, content)
                elif kind == frames.ANSWER:
                    self._close_outputs()
                    self.usage_bytes, self.kills = frames.COUNTERS.unpack_from(content)
                    self._theirs.send(content[frames.COUNTERS.size :])
                elif kind == frames.GONE:
                    break
        except Exception as error:  # noqa: BLE001 - as above
            self.failure = self.failure or f"{type(error).__name__}: {error}"
        finally:
            self._at_end()
            self._close_outputs()
            # Closing alone would not reach the other thread, nor the session while that one is receiving.
            with suppress(OSError):
                self._theirs.shutdown(socket.SHUT_RDWR)
            self._stream.close()

    def _write(self, index: int, content: bytes) -> None:
        view = memoryview(content)
        try:
            while view:
                view = view[os.write(self._outputs[index], view) :]
        except BrokenPipeError:
            os.close(self._outputs.pop(index))  # the session has read enough

    def _close_outputs(self) -> None:
        while self._outputs:
            os.close(self._outputs.popitem()[1])
