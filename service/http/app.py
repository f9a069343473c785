"""The application: where settings become parts, and parts are put together."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog
from fastapi import FastAPI

from comparators import PROFILES
from sandbox import SandboxSettings, SandboxUnavailableError, languages
from service.audit.archive.contract import Keeping
from service.audit.archive.folder import FolderArchive
from service.distributed.redis_audits import RedisArchive
from service.distributed.redis_jobs import RedisJobs
from service.distributed.redis_limiter import RedisLimiter
from service.distributed.redis_problems import RedisProblems
from service.distributed.redis_queue import RedisQueue
from service.http import (
    audit_routes,
    job_routes,
    judging_routes,
    openapi,
    problem_answers,
    problem_routes,
    routes,
)
from service.http.audits.jobs import Audits
from service.http.compression import CompressionMiddleware
from service.http.figures import QueueFigures
from service.http.key_middleware import ApiKeyMiddleware
from service.http.metering import MeteringMiddleware
from service.http.middleware import RequestContextMiddleware
from service.http.reading import BodyReading
from service.http.services import Services
from service.intake import Rules
from service.jobs.memory import MemoryJobs
from service.keys.limiter import MemoryLimiter
from service.languages import every_name
from service.metrics import Meters
from service.problems.store import MemoryProblems
from service.queue.local_queue import LocalQueue
from service.queue.worker_process import WORKER_COMMAND
from service.version import package_version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from service.audit.archive.contract import Archive
    from service.jobs.contract import Jobs
    from service.keys.limiter import Limiter
    from service.problems.store import ProblemStore
    from service.queue.contract import Queue
    from service.settings import Settings

DESCRIPTION = "Judges model-written programs in sandboxes, as the reward of reinforcement learning."


def create_app(settings: Settings, worker_command: Sequence[str] = WORKER_COMMAND) -> FastAPI:
    """Return the application. Its workers live as long as it; until they are ready it answers 503."""
    meters = Meters()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if settings.sandbox == "unsafe-process":
            structlog.stdlib.get_logger("service.http.app").warning(routes.NO_ISOLATION)
        services = await _services(settings, worker_command, meters)
        app.state.services = services
        services.queue.start()
        try:
            yield
        finally:
            await services.audits.close()
            await services.limiter.close()
            await services.queue.close()
            await services.reading.close()

    app = FastAPI(
        title="MicroCoder-Evaluator",
        version=package_version(),
        description=DESCRIPTION,
        lifespan=lifespan,
        redoc_url=None,
        # A redirect would be an answer of another type than the contract's errors.
        redirect_slashes=False,
    )
    for part in (routes, judging_routes, job_routes, problem_routes, audit_routes):
        app.include_router(part.router)
    problem_answers.install(app)
    openapi.install(app)
    # The last one added is the outermost: ids and logs also for what the others answer.
    if settings.key_ring:
        app.add_middleware(ApiKeyMiddleware, ring=settings.key_ring)
    app.add_middleware(CompressionMiddleware)
    app.add_middleware(MeteringMiddleware, meters=meters)
    app.add_middleware(RequestContextMiddleware)
    return app


async def _services(settings: Settings, worker_command: Sequence[str], meters: Meters) -> Services:
    try:
        known = await asyncio.to_thread(
            languages, SandboxSettings(settings.sandbox, settings.python, docker_image=settings.docker_image)
        )
    except SandboxUnavailableError:
        # The workers find out the same and say so where it is seen, in `/readyz` and at the start of `serve`.
        known = []
    rules = Rules(
        maxima=settings.maxima,
        defaults=settings.defaults,
        isolation=settings.isolation,
        languages=every_name(known),
        profiles=list(PROFILES),
    )
    queue, jobs, problems, limiter, archive = _parts(settings, worker_command, meters)
    meters.registry.register(QueueFigures(queue))
    return Services(
        settings=settings,
        queue=queue,
        jobs=jobs,
        problems=problems,
        limiter=limiter,
        reading=BodyReading(rules),
        languages=known,
        audits=Audits(settings, rules, queue=queue, jobs=jobs, problems=problems, archive=archive),
        registry=meters.registry,
    )


def _parts(
    settings: Settings, worker_command: Sequence[str], meters: Meters
) -> tuple[Queue, Jobs, ProblemStore, Limiter, Archive]:
    keeping = Keeping(settings.audit_reports, settings.audit_bytes, settings.audit_ttl_s)
    folder = settings.audit_dir
    if settings.queue is None:
        local = LocalQueue(settings, worker_command, meters)
        return (
            local,
            MemoryJobs(local, settings.result_bytes, settings.result_ttl_s),
            MemoryProblems(settings.problem_bytes, settings.problem_ttl_s),
            MemoryLimiter(),
            FolderArchive(folder, keeping),
        )
    queue = RedisQueue(settings, meters)
    return (
        queue,
        RedisJobs(queue, settings.result_ttl_s + settings.max_wait_s),
        RedisProblems(queue.redis, settings.problem_ttl_s, settings.max_wait_s),
        RedisLimiter(queue.redis),
        RedisArchive(queue.redis, keeping) if folder is None else FolderArchive(folder, keeping),
    )
