"""A proxy that harms what passes: for what a client does when the network and the service fail.

Each request asks a function what to do with it: let it pass, answer with a status, close the connection before or
after the service got it, cut the answer after some bytes, or hold it. One request a connection; bodies as they are.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    raw_head: bytes

    @property
    def text(self) -> bytes:
        """Return the body as it was before compression."""
        return decompressed(self.body, self.headers.get("content-encoding"))


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a request; nothing set lets it pass."""

    name: str = "pass"
    status: int | None = None
    """Answered in the service's place."""
    retry_after: str | None = None
    body: bytes = b"{}"
    content_type: str = "application/json"
    headers: tuple[str, ...] = ()
    """Further lines of the head of an answer in the service's place."""
    hold_s: float = 0.0
    """Waited before anything else happens."""
    reset: bool = False
    """Closes the connection; the service gets nothing."""
    cut_after_bytes: int | None = None
    """Closes the connection after so many bytes of the service's answer."""


PASS = Fault()


@dataclass(slots=True)
class Seen:
    """What passed by."""

    faults: Counter[str] = field(default_factory=Counter)
    requests: list[Request] = field(default_factory=list)
    forwarded: int = 0
    submissions: int = 0
    """Submissions in the requests that were forwarded."""
    keys: Counter[str] = field(default_factory=Counter)
    """Idempotency keys of the batches that reached the service."""


class FaultProxy:
    """Listens on a free port of the loopback interface, in a thread of its own; ``close`` ends it."""

    def __init__(
        self, target_port: int, plan: Callable[[Request], Fault], *, keep_requests: bool = True
    ) -> None:
        self.target_port = target_port
        self.plan = plan
        self.seen = Seen()
        self._keep_requests = keep_requests
        # The event loop itself forgets a task whose client has left.
        self._serving: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(self._start(), self._loop)
        self._server = starting.result()
        self.port: int = self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        """Return the address that clients use."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """End it and what passes through it."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)

    async def _stop(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        try:
            request = await _read(reader)
            if request is not None:
                await self._handle(request, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # The client or the service left, or the proxy ends: nobody is there to be told.
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _handle(self, request: Request, writer: asyncio.StreamWriter) -> None:
        fault = self.plan(request)
        self.seen.faults[fault.name] += 1
        if self._keep_requests:
            self.seen.requests.append(request)
        if fault.hold_s:
            await asyncio.sleep(fault.hold_s)
        if fault.reset:
            writer.transport.abort()
        elif fault.status is not None:
            writer.write(_answer(fault))
            await writer.drain()
        else:
            await self._forward(request, fault, writer)

    async def _forward(self, request: Request, fault: Fault, writer: asyncio.StreamWriter) -> None:
        try:
            upstream, sending = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            writer.write(_answer(Fault(status=502)))
            await writer.drain()
            return
        self.seen.forwarded += 1
        self.seen.submissions += _submissions(request)
        if key := request.headers.get("idempotency-key"):
            self.seen.keys[key] += 1
        try:
            sending.write(request.raw_head + b"Connection: close\r\n\r\n" + request.body)
            await sending.drain()
            passed_bytes = 0
            while part := await upstream.read(CHUNK_BYTES):
                if fault.cut_after_bytes is not None and passed_bytes + len(part) > fault.cut_after_bytes:
                    writer.write(part[: fault.cut_after_bytes - passed_bytes])
                    await writer.drain()
                    writer.transport.abort()
                    return
                passed_bytes += len(part)
                writer.write(part)
                await writer.drain()
        finally:
            sending.close()
            with contextlib.suppress(OSError):
                await sending.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    kept = [line for line in lines if line and not line.lower().startswith("connection:")]
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    raw_head = "\r\n".join([first, *kept, ""]).encode("latin-1")
    return Request(method, path, headers, body, raw_head)


def _submissions(request: Request) -> int:
    if request.path != "/evaluate/batch":
        return 0
    return len(json.loads(request.text)["submissions"])


def decompressed(body: bytes, coding: str | None) -> bytes:
    """Return what ``body`` was before it got the content coding ``coding``."""
    match coding:
        case "gzip":
            return gzip.decompress(body)
        case "zstd":
            return zstandard.ZstdDecompressor().decompress(body)
    return body


def _answer(fault: Fault) -> bytes:
    retry = f"Retry-After: {fault.retry_after}\r\n" if fault.retry_after is not None else ""
    more = "".join(f"{line}\r\n" for line in fault.headers)
    head = (
        f"HTTP/1.1 {fault.status} Injected\r\nContent-Type: {fault.content_type}\r\n{retry}{more}"
        f"Content-Length: {len(fault.body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + fault.body
