"""How data is written into Redis: JSON, compressed with zstd where that pays. Nothing is ever unpickled.

One leading byte says which: ``j`` for JSON as it is, ``z`` for compressed JSON.
"""

from __future__ import annotations

import json
from typing import Any

import zstandard
from pydantic_core import to_json

COMPRESSED_FROM_BYTES = 1 << 10
LEVEL = 3
MAX_BYTES = 2 << 30


class MalformedDataError(ValueError):
    """What was found in Redis is not what this service writes."""


def pack(text: bytes | bytearray) -> bytes:
    """Return JSON text as it is kept."""
    if len(text) < COMPRESSED_FROM_BYTES:
        return b"j" + text
    return b"z" + zstandard.ZstdCompressor(level=LEVEL).compress(text)


def unpack(data: bytes) -> bytes:
    """Return the JSON text that was packed.

    Raises:
        MalformedDataError: nothing of ours was packed so.

    """
    match data[:1]:
        case b"j":
            return data[1:]
        case b"z":
            try:
                return zstandard.ZstdDecompressor().decompress(data[1:], max_output_size=MAX_BYTES)
            except zstandard.ZstdError as error:
                raise MalformedDataError(f"compressed data cannot be read: {error}") from None
    raise MalformedDataError("data is in no form that this service writes")


class JsonSerializer:
    """RQ's serializer: its jobs and results as packed JSON, instead of RQ's default, which runs what it reads."""

    @staticmethod
    def dumps(value: Any) -> bytes:
        """Return plain data as it is kept."""
        return pack(to_json(value, fallback=repr))

    @staticmethod
    def loads(data: bytes) -> Any:
        """Return the plain data that was written.

        Raises:
            ValueError: it is none of ours.

        """
        return json.loads(unpack(data))
