"""From a request to its place in the queue: receive, read, look stored problems up, submit.

With ``Idempotency-Key`` a request becomes a job, whose judgements are given to whoever repeats the call, also
while it runs. Such a job goes on when its caller leaves: the caller may come back for the answer.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from service.errors import ServiceError
from service.http import idempotency
from service.http.body import received
from service.http.services import services_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from service.http.services import Services
    from service.intake import Intake, Shape
    from service.jobs.contract import Job
    from service.queue.contract import Listening
    from service.queue.ticket import Judged


async def listening(request: Request, shape: Shape) -> Listening:
    """Submit a request whose caller waits for the judgements.

    Raises:
        ServiceError: it is invalid, or cannot be taken now.

    """
    key = idempotency.key_of(request)
    if key is not None:
        return Attached(await _keyed_job(request, shape, key))
    services = services_of(request)
    # Before the body is received: a caller that has to come back later need not send it.
    services.queue.ensure_ready()
    intake = await _taken_in(request, services, shape)
    return await services.queue.submit(intake, request.state.request_id)


async def job_of(request: Request, shape: Shape) -> Job:
    """Submit a request whose caller asks for the judgements later. Raises as :func:`listening` does."""
    key = idempotency.key_of(request)
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

    async def find(job_id: str) -> tuple[Job, bool] | None:
        job = await services.jobs.find(job_id)
        return None if job is None else (job, job.failed)

    async with received(
        request, services.queue.backlog, settings.max_body_bytes, settings.body_idle_s
    ) as body:
        held, is_new, there = await idempotency.claimed(services.jobs, key, body, find)
        if there is not None:
            return there
        # The first call, or one whose first call did not come as far: a job begins once, whoever begins it.
        try:
            services.queue.ensure_ready()
            intake = await _read(services, body, shape)
            return await services.jobs.begin(held.job_id, intake, request.state.request_id)
        except ServiceError:
            if is_new:
                await services.jobs.disclaim(key)
            raise


class Attached:
    """Listens to a job, which goes on without it."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._following = job.follow()

    @property
    def path(self) -> str:
        """Return where the job can be looked at, and cancelled."""
        return f"/jobs/{self._job.id}"

    def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement."""
        return aiter(self._following)

    def cancel(self) -> None:
        """Listen no longer."""
        self._following.cancel()

    def give_up(self, message: str) -> list[Judged]:
        """Break the answer off: the caller repeats the call.

        Raises:
            ServiceError: always.

        """
        raise ServiceError(message)
