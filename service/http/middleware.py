"""What happens to every request: an id, a line in the log, an answer even to our bugs, and the API key."""

from __future__ import annotations

import re
import secrets
import time
import uuid
from typing import TYPE_CHECKING

import structlog
from starlette.datastructures import Headers, MutableHeaders

from service.errors import ServiceError, UnauthorizedError
from service.http.problem_answers import problem_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID_HEADER = "X-Request-ID"
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
# Ids go into logs and headers, so that of a caller's only plain ones are taken over.
_REQUEST_ID = re.compile(r"[\w.:/+=@-]{1,128}", re.ASCII)


class RequestContextMiddleware:
    """Gives a request its id, logs its end, and answers 500 where a bug of ours escaped."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("service.http")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope).get(REQUEST_ID_HEADER))
        scope.setdefault("state", {})["request_id"] = request_id
        started_s = time.monotonic()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_id)
            except Exception:
                self._log.exception("request failed", method=scope["method"], path=scope["path"])
                if status:
                    raise
                failure = ServiceError(f"the service failed; its log has the request {request_id}")
                await problem_answer(failure)(scope, receive, send_with_id)
            finally:
                level = self._log.debug if scope["path"] in OPEN_PATHS else self._log.info
                level(
                    "request",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    duration_s=round(time.monotonic() - started_s, 6),
                )


class ApiKeyMiddleware:
    """Lets only callers with a key in, but for the probes."""

    def __init__(self, app: ASGIApp, keys: Sequence[str]) -> None:
        self._app = app
        self._keys = [coded for key in keys for coded in _codings(key)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS and not self._known(scope):
            error = UnauthorizedError("send a key of this service as `Authorization: Bearer KEY`")
            await problem_answer(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _known(self, scope: Scope) -> bool:
        header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        scheme, _, key = header.partition(b" ")
        given = key.strip()
        # All keys are compared, so that the time tells nothing about them.
        matches = [secrets.compare_digest(given, known) for known in self._keys]
        return scheme.lower() == b"bearer" and any(matches)


def _codings(key: str) -> list[bytes]:
    """Return the bytes that clients may send for a key: some write letters beyond ASCII as Latin-1."""
    latin_1 = [key.encode("latin-1")] if max(key) <= "\xff" else []
    return [key.encode(), *latin_1]


def _request_id(given: str | None) -> str:
    return given if given is not None and _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
