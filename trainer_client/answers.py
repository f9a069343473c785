"""What the answers of a service mean: lines with judgements, or what went wrong.

Whatever answers may be a proxy's error page, another service, or broken: no answer is read beyond a bound.
"""

from __future__ import annotations

import email.utils
import math
import time
from typing import TYPE_CHECKING

import httpx
from pydantic import ValidationError

from service.wire import Judgement, ProblemDetail
from trainer_client.attempt_errors import BrokenError, BusyError, FaultError, MissingError, TooLargeError
from trainer_client.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trainer_client.work import Unit

BUSY = frozenset({408, 429, 502, 503, 504})
# The fullest judgement has some KiB for each test.
MAX_LINE_BYTES = 64 << 20
MAX_ERROR_BYTES = 1 << 20
MAX_SHOWN_CHARS = 300
# Whoever asks for more is asked again nevertheless: the figure may be as wrong as the service is ill.
MAX_RETRY_AFTER_S = 300.0


async def lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the lines of an answer as they come.

    Raises:
        BrokenError: it ends within a line.
        FaultError: a line is too long to be a judgement.

    """
    # httpx's own lines also end at U+2028 and its kin, which JSON strings may contain.
    pieces: list[bytes] = []
    size_bytes = 0
    async for part in response.aiter_bytes():
        first, *more = part.split(b"\n")
        pieces.append(first)
        size_bytes += len(first)
        if more:
            yield b"".join(pieces)
            *whole, rest = more
            for line in whole:
                yield line
            pieces, size_bytes = [rest], len(rest)
        if size_bytes > MAX_LINE_BYTES:
            raise FaultError(f"a line of the answer has more than {MAX_LINE_BYTES} bytes")
    if size_bytes:
        raise BrokenError("the answer ended within a line")


def judgement_of(line: bytes) -> Judgement:
    """Return the judgement that a line is.

    Raises:
        FaultError: it is none.

    """
    try:
        # Later services may say more.
        return Judgement.model_validate_json(line, extra="ignore")
    except ValidationError as error:
        raise FaultError(f"an answer is no judgement: {line[:MAX_SHOWN_CHARS]!r}") from error


async def failure_of(response: httpx.Response, unit: Unit | None) -> Exception:
    """Return the error that an answer other than 200 is; ``unit`` None stands for the upload of a problem."""
    body = await beginning(response)
    status, detail = response.status_code, _detail(body)
    message = (
        f"{response.request.method} {response.request.url} answered {status}: {_told(response, body, detail)}"
    )
    if status in BUSY:
        return BusyError(message, _retry_after_s(response.headers.get("retry-after")))
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return FaultError(message)
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE and unit:
        return TooLargeError(message)
    if status == httpx.codes.CONFLICT and unit:
        # The first call under this key is still being received.
        return BusyError(message, _retry_after_s(response.headers.get("retry-after")))
    ours = {problem.id for _, problem in unit.problems()} if unit else set()
    if detail and detail.missing and ours.intersection(detail.missing):
        return MissingError(message, detail.missing)
    listed = (detail.errors if detail else None) or []
    if unit is None:
        return RefusedError(message, status=status, errors=listed)
    errors = [error.model_copy(update={"field": unit.renumbered(error.field)}) for error in listed]
    return RefusedError(unit.renumbered(message), status=status, errors=errors)


async def beginning(response: httpx.Response) -> bytes:
    """Return what an answer begins with, which is all of it where it is as short as it should be."""
    parts: list[bytes] = []
    size_bytes = 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size_bytes += len(part)
        if size_bytes >= MAX_ERROR_BYTES:
            break
    return b"".join(parts)[:MAX_ERROR_BYTES]


def _detail(body: bytes) -> ProblemDetail | None:
    try:
        return ProblemDetail.model_validate_json(body, extra="ignore")
    except ValidationError:
        return None


def _told(response: httpx.Response, body: bytes, detail: ProblemDetail | None) -> str:
    if detail is not None:
        fields = "; ".join(f"{error.field}: {error.message}" for error in detail.errors or [])
        return f"{detail.title}: {fields or detail.detail}"
    if response.has_redirect_location:
        return f"redirects to {response.headers['location']}, and redirects are not followed: give that URL"
    return repr(body.decode(errors="replace")[:MAX_SHOWN_CHARS])


def _retry_after_s(header: str | None) -> float | None:
    """Return the seconds that a ``Retry-After`` asks for, a number or a date, within ``MAX_RETRY_AFTER_S``."""
    if header is None:
        return None
    try:
        asked_s = float(header)
    except ValueError:
        try:
            asked_s = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(asked_s) else min(max(0.0, asked_s), MAX_RETRY_AFTER_S)
