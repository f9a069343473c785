"""Frames between whoever started a container and the bridge in it: a kind, a number, a length, that many bytes.

To the bridge:

    HELLO                     asks what the container is
    INPUT    index, bytes     a part of the next message's descriptor ``index``, which is to be read
    MESSAGE  count, bytes     a harness message with ``count`` descriptors; one byte each says READ or WRITE

From the bridge:

    HELLO    JSON             digest of the harness, facts of the interpreter
    OUTPUT   index, bytes     what was written to descriptor ``index`` of the run
    ANSWER   bytes            counters (two numbers, see COUNTERS), then the harness's answer; all output came before
    GONE                      the harness has ended
"""

from __future__ import annotations

import struct

HELLO, INPUT, MESSAGE, OUTPUT, ANSWER, GONE = range(1, 7)
READ, WRITE = b"r", b"w"
HEADER = struct.Struct(">BBI")
COUNTERS = struct.Struct(">QQ")  # bytes of memory in use, processes killed at the memory limit
CHUNK_BYTES = 1 << 16
MAX_FRAME_BYTES = 1 << 18


def frame(kind: int, number: int = 0, data: bytes = b"") -> bytes:
    """Return one frame."""
    return HEADER.pack(kind, number, len(data)) + data


class Parser:
    """Cuts a stream into frames."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, int, bytes]]:
        """Return the frames that ``data`` completes: kind, number, bytes. Raises ValueError for what is none."""
        self._data += data
        found = []
        while len(self._data) >= HEADER.size:
            kind, number, size = HEADER.unpack_from(self._data)
            if not HELLO <= kind <= GONE or size > MAX_FRAME_BYTES:
                raise ValueError(f"no frame: kind {kind}, {size} bytes")
            if len(self._data) < HEADER.size + size:
                break
            found.append((kind, number, bytes(self._data[HEADER.size : HEADER.size + size])))
            del self._data[: HEADER.size + size]
        return found
