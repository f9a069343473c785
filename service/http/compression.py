"""Answers compressed as the client asks: zstd or gzip, streams flushed with every line.

Starlette compresses with gzip only; its responder is made to be given another coding.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import zstandard
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipResponder, IdentityResponder

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MINIMUM_BYTES = 1 << 10
GZIP_LEVEL = 5
ZSTD_LEVEL = 3
THREAD_BYTES = 128 << 10


class CompressionMiddleware:
    """Chooses zstd, gzip or neither by ``Accept-Encoding``, zstd first where the client has no preference."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        responder: IdentityResponder
        match preferred_coding(Headers(scope=scope).get("accept-encoding", "")):
            case "zstd":
                responder = _ZstdResponder(self._app, MINIMUM_BYTES)
            case "gzip":
                responder = GZipResponder(self._app, MINIMUM_BYTES, GZIP_LEVEL)
            case _:
                responder = IdentityResponder(self._app, MINIMUM_BYTES)
        await responder(scope, receive, send)


class _ZstdResponder(IdentityResponder):
    content_encoding = "zstd"

    def __init__(self, app: ASGIApp, minimum_size: int) -> None:
        super().__init__(app, minimum_size)
        self._compressor: zstandard.ZstdCompressionObj | None = None

    async def apply_compression(self, body: bytes, *, more_body: bool) -> bytes:
        if self._compressor is None and not body and more_body:
            # Nothing comes out of an empty beginning, which would pass for an answer that is not compressed.
            MutableHeaders(raw=self.initial_message["headers"])["Content-Encoding"] = self.content_encoding
        if len(body) >= THREAD_BYTES:
            return await asyncio.to_thread(self._compressed, body, more_body=more_body)
        return self._compressed(body, more_body=more_body)

    def _compressed(self, body: bytes, *, more_body: bool) -> bytes:
        if self._compressor is None:
            self._compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL).compressobj()
        end = zstandard.COMPRESSOBJ_FLUSH_BLOCK if more_body else zstandard.COMPRESSOBJ_FLUSH_FINISH
        return self._compressor.compress(body) + self._compressor.flush(end)


def preferred_coding(accept_encoding: str) -> str | None:
    """Return ``zstd``, ``gzip`` or None, as an ``Accept-Encoding`` header weighs them."""
    weights: dict[str, float] = {}
    for entry in accept_encoding.split(","):
        name, _, parameters = entry.partition(";")
        weight = parameters.replace(" ", "").lower().removeprefix("q=")
        try:
            weights[name.strip().lower()] = float(weight) if weight else 1.0
        except ValueError:
            # A weight that is no number: as if the coding were not named.
            continue
    known = {coding: weights.get(coding, weights.get("*", 0.0)) for coding in ("zstd", "gzip")}
    best = max(known, key=lambda coding: known[coding])
    return best if known[best] > 0 else None
