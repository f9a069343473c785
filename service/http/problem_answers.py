"""Errors as answers: ``application/problem+json`` whatever went wrong (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from service.errors import ServiceError
from service.wire import ProblemDetail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from starlette.requests import Request

MEDIA_TYPE = "application/problem+json"
# Nobody reads it; logs show by it that the client left first.
CLIENT_LEFT = 499


def problem_answer(error: ServiceError) -> Response:
    """Return the answer that ``error`` calls for."""
    return _answer(error.detail(), error.headers)


def install(app: FastAPI) -> None:
    """Let ``app`` answer this service's errors and the framework's as problems."""
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _disconnect)


def _service_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)  # noqa: S101 -- as registered
    return problem_answer(error)


def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 -- as registered
    title = HTTPStatus(error.status_code).phrase
    detail = ProblemDetail(
        type=title.lower().replace(" ", "-"), title=title, status=error.status_code, detail=error.detail
    )
    return _answer(detail, error.headers)


def _disconnect(_request: Request, _error: Exception) -> Response:
    return Response(status_code=CLIENT_LEFT)


def _answer(detail: ProblemDetail, headers: Mapping[str, str] | None) -> Response:
    return Response(
        detail.model_dump_json(exclude_none=True),
        status_code=detail.status,
        headers=dict(headers or {}),
        media_type=MEDIA_TYPE,
    )
