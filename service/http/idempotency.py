"""``Idempotency-Key``: which job answers for a call that may be repeated."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from typing import TYPE_CHECKING

from service.errors import InvalidFieldsError
from service.jobs.contract import Claim
from service.wire import ErrorDetail

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request

    from service.jobs.contract import Jobs

IDEMPOTENCY_HEADER = "Idempotency-Key"
MAX_KEY_CHARS = 256
THREAD_BYTES = 1 << 20


def key_of(request: Request) -> str | None:
    """Return what stands for the request's key, its caller and its endpoint; None where it has no key.

    Raises:
        InvalidFieldsError: the key is empty or too long.

    """
    given = request.headers.get(IDEMPOTENCY_HEADER)
    if given is None:
        return None
    if not 0 < len(given) <= MAX_KEY_CHARS:
        raise _refused(f"must have 1 to {MAX_KEY_CHARS} characters")
    # A key is its caller's, and of one endpoint.
    owner = getattr(request.state, "api_key", "")
    text = f"{owner}\n{request.url.path}\n{given}".encode()
    return hashlib.sha256(text).hexdigest()


async def claimed[Found](
    jobs: Jobs,
    key: str,
    body: Sequence[bytes],
    find: Callable[[str], Awaitable[tuple[Found, bool] | None]],
) -> tuple[Claim, bool, Found | None]:
    """Return which job answers for ``key``, whether this call claimed it, and the job where it has begun.

    ``find`` looks a job up by its id, and says whether it failed: then the key is claimed anew.

    Raises:
        InvalidFieldsError: the key stands for another body.

    """
    claim = Claim(uuid.uuid4().hex, await _digest(body))
    held = await jobs.claim(key, claim)
    if held.digest != claim.digest:
        raise _refused("was sent with another body before; a key stands for one request")
    found = await find(held.job_id)
    if found is not None and found[1]:
        await jobs.disclaim(key)
        held = await jobs.claim(key, claim)
        found = await find(held.job_id)
    return held, held == claim, None if found is None else found[0]


def _refused(message: str) -> InvalidFieldsError:
    return InvalidFieldsError([ErrorDetail(field=IDEMPOTENCY_HEADER, message=message)], 1)


async def _digest(body: Sequence[bytes]) -> str:
    def digest() -> str:
        hashed = hashlib.sha256()
        for piece in body:
            hashed.update(piece)
        return hashed.hexdigest()

    large = sum(map(len, body)) > THREAD_BYTES
    return await asyncio.to_thread(digest) if large else digest()
