"""What happens to every request: an id, a line in the log, and an answer even to our bugs."""

from __future__ import annotations

import re
import time
import uuid
from typing import TYPE_CHECKING

import structlog
from starlette.datastructures import Headers, MutableHeaders

from service.errors import ServiceError
from service.http.problem_answers import problem_answer

if TYPE_CHECKING:
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


def _request_id(given: str | None) -> str:
    return given if given is not None and _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
