"""From a request to its place in the queue: receive, read, look stored problems up, submit.

With ``Idempotency-Key`` a request becomes a job, whose judgements are given to whoever repeats the call, also
while it runs. Such a job goes on when its caller leaves: the caller may come back for the answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from typing import TYPE_CHECKING

from service.errors import InvalidFieldsError, ServiceError
from service.http.body import received
from service.http.services import services_of
from service.jobs.contract import Claim
from service.wire import ErrorDetail

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from service.http.services import Services
    from service.intake import Intake, Shape
    from service.jobs.contract import Job
    from service.queue.contract import Listening
    from service.queue.ticket import Judged

IDEMPOTENCY_HEADER = "Idempotency-Key"
MAX_KEY_CHARS = 256
THREAD_BYTES = 1 << 20


async def listening(request: Request, shape: Shape) -> Listening:
    """Submit a request whose caller waits for the judgements.

    Raises:
        ServiceError: it is invalid, or cannot be taken now.

    """
    key = _key(request)
    if key is not None:
        return Attached(await _keyed_job(request, shape, key))
    services = services_of(request)
    # Before the body is received: a caller that has to come back later need not send it.
    services.queue.ensure_ready()
    intake = await _taken_in(request, services, shape)
    return await services.queue.submit(intake, request.state.request_id)


async def job_of(request: Request, shape: Shape) -> Job:
    """Submit a request whose caller asks for the judgements later. Raises as :func:`listening` does."""
    key = _key(request)
    if key is not None:
        return await _keyed_job(request, shape, key)
    services = services_of(request)
    services.queue.ensure_ready()
    intake = await _taken_in(request, services, shape)
    return await services.jobs.begin(uuid.uuid4().hex, intake, request.state.request_id)


async def problem_of(request: Request) -> Intake:
    """Receive and read a problem. Raises as :func:`listening` does."""
    return await _taken_in(request, services_of(request), "problem")


async def _taken_in(request: Request, services: Services, shape: Shape) -> Intake:
    settings = services.settings
    async with received(
        request, services.queue.backlog, settings.max_body_bytes, settings.body_idle_s
    ) as body:
        return await _read(services, body, shape)


async def _read(services: Services, body: list[bytes], shape: Shape) -> Intake:
    intake = await services.reading.read(body, shape)
    named = intake.named
    return intake.resolved(await services.problems.known(named), shape) if named else intake


async def _keyed_job(request: Request, shape: Shape, key: str) -> Job:
    services = services_of(request)
    settings = services.settings
    async with received(
        request, services.queue.backlog, settings.max_body_bytes, settings.body_idle_s
    ) as body:
        claim = Claim(uuid.uuid4().hex, await _digest(body))
        held = await services.jobs.claim(key, claim)
        if held.digest != claim.digest:
            message = "was sent with another body before; a key stands for one request"
            raise InvalidFieldsError([ErrorDetail(field=IDEMPOTENCY_HEADER, message=message)], 1)
        there = await services.jobs.find(held.job_id)
        if there is not None and there.failed:
            await services.jobs.disclaim(key)
            held = await services.jobs.claim(key, claim)
            there = await services.jobs.find(held.job_id)
        if there is not None:
            return there
        # The first call, or one whose first call did not come as far: a job begins once, whoever begins it.
        try:
            services.queue.ensure_ready()
            intake = await _read(services, body, shape)
            return await services.jobs.begin(held.job_id, intake, request.state.request_id)
        except ServiceError:
            if held == claim:
                await services.jobs.disclaim(key)
            raise


async def _digest(body: list[bytes]) -> str:
    def digest() -> str:
        hashed = hashlib.sha256()
        for piece in body:
            hashed.update(piece)
        return hashed.hexdigest()

    large = sum(map(len, body)) > THREAD_BYTES
    return await asyncio.to_thread(digest) if large else digest()


def _key(request: Request) -> str | None:
    given = request.headers.get(IDEMPOTENCY_HEADER)
    if given is None:
        return None
    if not 0 < len(given) <= MAX_KEY_CHARS:
        message = f"must have 1 to {MAX_KEY_CHARS} characters"
        raise InvalidFieldsError([ErrorDetail(field=IDEMPOTENCY_HEADER, message=message)], 1)
    # A key is its caller's, and of one endpoint.
    owner = getattr(request.state, "api_key", "")
    text = f"{owner}\n{request.url.path}\n{given}".encode()
    return hashlib.sha256(text).hexdigest()


class Attached:
    """Listens to a job, which goes on without it."""

    def __init__(self, job: Job) -> None:
        self._job = job

    @property
    def path(self) -> str:
        """Return where the job can be looked at, and cancelled."""
        return f"/jobs/{self._job.id}"

    def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement."""
        return self._job.follow()

    def cancel(self) -> None:
        """Listen no longer."""

    def give_up(self, message: str) -> list[Judged]:
        """Break the answer off: the caller repeats the call.

        Raises:
            ServiceError: always.

        """
        raise ServiceError(message)
