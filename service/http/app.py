"""The application: where settings become parts, and parts are put together."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog
from fastapi import FastAPI

from comparators import PROFILES
from sandbox import SandboxSettings, SandboxUnavailableError, languages
from service.http import openapi, problem_answers
from service.http.audit_routes import audit_router
from service.http.audits.jobs import Audits
from service.http.compression import CompressionMiddleware
from service.http.middleware import ApiKeyMiddleware, RequestContextMiddleware
from service.http.reading import BodyReading
from service.http.routes import NO_ISOLATION, Services, router
from service.intake import Rules
from service.languages import every_name
from service.queue.local_queue import LocalQueue
from service.queue.worker_process import WORKER_COMMAND
from service.version import package_version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from service.settings import Settings

DESCRIPTION = "Judges model-written programs in sandboxes, as the reward of reinforcement learning."


def create_app(settings: Settings, worker_command: Sequence[str] = WORKER_COMMAND) -> FastAPI:
    """Return the application. Its workers live as long as it; until they are ready it answers 503."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if settings.sandbox == "unsafe-process":
            structlog.stdlib.get_logger("service.http.app").warning(NO_ISOLATION)
        services = await _services(settings, worker_command)
        app.state.services = services
        services.queue.start()
        try:
            yield
        finally:
            await services.queue.close()
            await services.reading.close()
            await services.audits.close()

    app = FastAPI(
        title="MicroCoder-Evaluator",
        version=package_version(),
        description=DESCRIPTION,
        lifespan=lifespan,
        redoc_url=None,
        # A redirect would be an answer of another type than the contract's errors.
        redirect_slashes=False,
    )
    app.include_router(router)
    app.include_router(audit_router)
    problem_answers.install(app)
    openapi.install(app)
    # The last one added is the outermost: ids and logs also for what the others answer.
    if settings.api_keys:
        app.add_middleware(ApiKeyMiddleware, keys=[key.get_secret_value() for key in settings.api_keys])
    app.add_middleware(CompressionMiddleware)
    app.add_middleware(RequestContextMiddleware)
    return app


async def _services(settings: Settings, worker_command: Sequence[str]) -> Services:
    try:
        known = await asyncio.to_thread(
            languages, SandboxSettings(kind=settings.sandbox, python=settings.python)
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
    return Services(
        settings=settings,
        queue=LocalQueue(settings, worker_command),
        reading=BodyReading(rules),
        languages=known,
        audits=Audits(settings, rules),
    )
