"""Counts the bytes of bodies, as they go over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from service.metrics import Meters


class MeteringMiddleware:
    """Outside of compression: what is counted is what is sent."""

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self._app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""

        async def counted_receive() -> Message:
            message = await receive()
            self._meters.received(len(message.get("body", b"")))
            return message

        async def counted_send(message: Message) -> None:
            self._meters.sent(len(message.get("body", b"")))
            await send(message)

        if scope["type"] == "http":
            await self._app(scope, counted_receive, counted_send)
        else:
            await self._app(scope, receive, send)
