"""Lets only callers with a key in, and each only as often as its key may be used; but for the probes."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from service.errors import ServiceError, UnauthorizedError
from service.http.middleware import OPEN_PATHS
from service.http.problem_answers import problem_answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from service.http.services import Services
    from service.keys.ring import ApiKey, KeyRing


class ApiKeyMiddleware:
    """Asks for ``Authorization: Bearer KEY``; endpoints find the key's name in ``request.state.api_key``."""

    def __init__(self, app: ASGIApp, ring: KeyRing) -> None:
        self._app = app
        self._ring = ring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        key = self._ring.find(_given(scope)) if _given(scope) else None
        if key is None:
            error = UnauthorizedError("send a key of this service as `Authorization: Bearer KEY`")
            await problem_answer(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["api_key"] = key.name
        await self._limited(key, scope, receive, send)

    async def _limited(self, key: ApiKey, scope: Scope, receive: Receive, send: Send) -> None:
        services: Services = scope["app"].state.services
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(services.limiter.request(key))
            except ServiceError as error:
                await problem_answer(error)(scope, receive, send)
                return

            async def answer(message: Message) -> None:
                # A client may ask again as soon as it has the whole answer: its place must be free by then.
                if message["type"] == "http.response.body" and not message.get("more_body", False):
                    await stack.aclose()
                await send(message)

            await self._app(scope, receive, answer)


def _given(scope: Scope) -> bytes:
    header: bytes = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    scheme, _, key = header.partition(b" ")
    return key.strip() if scheme.lower() == b"bearer" else b""
