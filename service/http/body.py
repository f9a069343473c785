"""Receiving a request's body: bounded in size and in time, decompressed, and counted while it is held.

The bound is on what the body decompresses to, and decompression stops there, so that a small bomb cannot
grow. Bodies are decompressed off the event loop; zlib and zstd release the interpreter lock.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import zlib
from contextlib import asynccontextmanager
from email.message import Message
from typing import TYPE_CHECKING, BinaryIO, cast

import zstandard

from service.errors import BodyTooLargeError, MalformedBodyError, SlowBodyError, UnsupportedContentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from service.queue.backlog import Backlog, BodyShare

CHUNK_BYTES = 1 << 20
# The most that RFC 9659 lets a content coding ask a receiver to hold.
MAX_ZSTD_WINDOW_BYTES = 8 << 20


@asynccontextmanager
async def received(
    request: Request, backlog: Backlog, max_bytes: int, idle_s: float
) -> AsyncIterator[list[bytes]]:
    """Receive and decompress the body, in pieces; it counts as held until the context ends.

    Raises:
        UnsupportedContentError: its type is not JSON, or its coding is unknown.
        BodyTooLargeError: it is over ``max_bytes``, compressed or decompressed.
        MalformedBodyError: it does not decompress.
        SlowBodyError: nothing came for ``idle_s`` seconds.
        QueueFullError: there is no room for it.
        ClientDisconnect: the client left.

    """
    _check_type(request.headers.get("content-type"))
    coding = _coding(request.headers.get("content-encoding", "identity"))
    announced_bytes = int(request.headers.get("content-length", 0))
    if announced_bytes > max_bytes:
        raise BodyTooLargeError(max_bytes)
    with backlog.body(announced_bytes) as share:
        raw = await _collected(request, share, max_bytes, idle_s)
        if coding == "identity":
            yield raw
            return
        body = await asyncio.to_thread(decompressed, b"".join(raw), coding, max_bytes)
        share.grow(sum(map(len, body)))
        del raw
        yield body


def decompressed(raw: bytes, coding: str, max_bytes: int) -> list[bytes]:
    """Return what ``raw`` decompresses to, in pieces; ``coding`` is ``gzip`` or ``zstd``.

    Raises:
        BodyTooLargeError: it is more than ``max_bytes``; no more than that has been decompressed.
        MalformedBodyError: it is not in that coding.

    """
    parts, size_bytes = [], 0
    try:
        with _decompressor(raw, coding) as stream:
            while part := stream.read(CHUNK_BYTES):
                size_bytes += len(part)
                if size_bytes > max_bytes:
                    raise BodyTooLargeError(max_bytes)
                parts.append(part)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise MalformedBodyError(f"the body does not decompress as {coding}: {error}") from None
    return parts


def _decompressor(raw: bytes, coding: str) -> BinaryIO:
    source = io.BytesIO(raw)
    if coding == "gzip":
        return cast("BinaryIO", gzip.GzipFile(fileobj=source))
    zstd = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW_BYTES)
    return zstd.stream_reader(source, read_across_frames=True)


async def _collected(request: Request, share: BodyShare, max_bytes: int, idle_s: float) -> list[bytes]:
    parts: list[bytes] = []
    size_bytes = 0
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(idle_s):
                part = await anext(stream)
        except StopAsyncIteration:
            return parts
        except TimeoutError:
            raise SlowBodyError(f"nothing of the body came for {idle_s:g} s") from None
        size_bytes += len(part)
        if size_bytes > max_bytes:
            raise BodyTooLargeError(max_bytes)
        share.grow(size_bytes)
        parts.append(part)


def _check_type(content_type: str | None) -> None:
    if content_type is None:
        return
    header = Message()
    header["content-type"] = content_type
    kind = header.get_content_type()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedContentError("send the body with `Content-Type: application/json`")
    if header.get_content_charset("utf-8") not in {"utf-8", "utf8", "us-ascii"}:
        raise UnsupportedContentError("send the body in UTF-8")


def _coding(content_encoding: str) -> str:
    coding = content_encoding.strip().lower()
    if coding in {"identity", "gzip", "zstd"}:
        return coding
    if coding == "x-gzip":
        return "gzip"
    raise UnsupportedContentError("of content encodings, only gzip and zstd are read, and only one at a time")
