"""Errors as answers."""

from __future__ import annotations

from service.wire.base import WireModel


class ErrorDetail(WireModel):
    """One invalid field: its path in the body, and what is wrong with it."""

    field: str
    message: str


class ProblemDetail(WireModel):
    """An error as RFC 9457 words it (``application/problem+json``)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[ErrorDetail] | None = None
    missing: list[str] | None = None
