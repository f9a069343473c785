"""Errors of the service, each knowing its HTTP status and what a caller can do about it.

::

    ServiceError
    ├── ClientError                 the caller's doing, 4xx
    │   ├── MalformedBodyError          400  not JSON, or not the JSON this service reads
    │   ├── UnauthorizedError           401
    │   ├── UnknownProblemError         404  lists the missing ids
    │   ├── UnknownAuditError           404
    │   ├── UnknownJobError             404
    │   ├── ProblemConflictError        409  another content holds the id
    │   ├── SlowBodyError               408
    │   ├── BodyTooLargeError           413
    │   ├── UnsupportedContentError     415  content type or content encoding
    │   └── InvalidFieldsError          422  names each field
    ├── QueueFullError              429  with Retry-After
    ├── RateLimitedError            429  with Retry-After
    ├── NotReadyError               503  with Retry-After
    └── WorkerLostError             a worker process died or hung; never leaves the queue

Nothing here knows a web framework: :meth:`ServiceError.detail` is the body, :attr:`ServiceError.headers` the
rest.
"""

from __future__ import annotations

import math
from typing import ClassVar

from service.wire import ErrorDetail, ProblemDetail

MAX_ERRORS = 50
MAX_MESSAGE_CHARS = 300


class ServiceError(Exception):
    """Base of this service's errors. Its text is the ``detail`` that a caller reads."""

    status: ClassVar[int] = 500
    type: ClassVar[str] = "internal-error"
    title: ClassVar[str] = "Internal error"

    @property
    def headers(self) -> dict[str, str]:
        """Headers that belong to the answer."""
        return {}

    def detail(self) -> ProblemDetail:
        """Return the error as RFC 9457 words it."""
        return ProblemDetail(
            type=self.type, title=self.title, status=self.status, detail=shortened(str(self) or self.title)
        )


class ClientError(ServiceError):
    """The caller has to change the request."""


class MalformedBodyError(ClientError):
    """The body is no JSON text, or one that this service does not read."""

    status = 400
    type = "malformed-body"
    title = "The body cannot be read"


class UnauthorizedError(ClientError):
    """The API key is missing or wrong."""

    status = 401
    type = "unauthorized"
    title = "An API key is needed"

    @property
    def headers(self) -> dict[str, str]:
        """Name the scheme, as RFC 9110 asks."""
        return {"WWW-Authenticate": "Bearer"}


class UnknownProblemError(ClientError):
    """Problems named by id are not stored here."""

    status = 404
    type = "unknown-problem"
    title = "Unknown problem"

    def __init__(self, missing: list[str]) -> None:
        super().__init__(f"{len(missing)} problem(s) are not stored here; store them or send them inline")
        self.missing = missing

    def detail(self) -> ProblemDetail:
        """Return the error with the list of missing ids, complete: a client stores them all and repeats."""
        return super().detail().model_copy(update={"missing": self.missing})


class UnknownJobError(ClientError):
    """There is no such job, or its results have expired."""

    status = 404
    type = "unknown-job"
    title = "Unknown job"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"no job {job_id!r} is known here; results are kept for a limited time")


class ProblemConflictError(ClientError):
    """Another problem is stored under this id."""

    status = 409
    type = "problem-conflict"
    title = "Another problem has this id"

    def __init__(self, problem_id: str) -> None:
        super().__init__(
            f"another content is stored as {problem_id!r}; delete it first, or choose another id"
        )


class UnknownAuditError(ClientError):
    """There is no such audit, or its report was dropped."""

    status = 404
    type = "unknown-audit"
    title = "Unknown audit"


class SlowBodyError(ClientError):
    """The body stopped arriving."""

    status = 408
    type = "slow-body"
    title = "The body did not arrive in time"


class BodyTooLargeError(ClientError):
    """The body, or what it decompresses to, is over the limit."""

    status = 413
    type = "body-too-large"
    title = "The body is too large"

    def __init__(self, max_body_bytes: int) -> None:
        super().__init__(
            f"the body is over this server's limit of {max_body_bytes} bytes after decompression"
        )


class UnsupportedContentError(ClientError):
    """The content type or the content encoding is none that this service reads."""

    status = 415
    type = "unsupported-content"
    title = "Unsupported content"

    @property
    def headers(self) -> dict[str, str]:
        """Name the content codings that are read."""
        return {"Accept-Encoding": "gzip, zstd"}


class InvalidFieldsError(ClientError):
    """Fields of the body are invalid; at most ``MAX_ERRORS`` are listed."""

    status = 422
    type = "invalid-fields"
    title = "The body is invalid"

    def __init__(self, listed: list[ErrorDetail], total: int) -> None:
        first = f"{listed[0].field}: {listed[0].message}"
        more = f", {len(listed)} of them listed" if total > len(listed) else ""
        super().__init__(first if total == 1 else f"{total} errors{more}; the first is {first}")
        self.total = total
        self.errors = [
            ErrorDetail(field=shortened(error.field), message=shortened(error.message)) for error in listed
        ]

    def detail(self) -> ProblemDetail:
        """Return the error with the fields."""
        return super().detail().model_copy(update={"errors": self.errors})


class _RetryableError(ServiceError):
    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(max(1, math.ceil(self.retry_after_s)))}


class QueueFullError(_RetryableError):
    """The backlog is full; ``retry_after_s`` follows from the measured rate of judging."""

    status = 429
    type = "queue-full"
    title = "The queue is full"


class RateLimitedError(_RetryableError):
    """The caller's API key is used more than it may be."""

    status = 429
    type = "rate-limited"
    title = "Too many requests"


class NotReadyError(_RetryableError):
    """Nothing can be judged now: the workers are starting, stopping or have no sandbox."""

    status = 503
    type = "not-ready"
    title = "The service is not ready"


class WorkerLostError(ServiceError):
    """A worker process died or hung over a submission."""


def shortened(text: str, max_chars: int = MAX_MESSAGE_CHARS) -> str:
    """Return ``text`` encodable as UTF-8 and with at most ``max_chars`` characters, the cut being marked."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= max_chars else text[: max_chars - 3] + "..."
