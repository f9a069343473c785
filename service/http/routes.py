"""The endpoints that tell of the service itself."""

from __future__ import annotations

import platform
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, JsonValue

from comparators import PROFILES
from service.http.openapi import DESCRIBED
from service.http.services import services_of
from service.languages import listed
from service.version import package_version

NO_ISOLATION = "programs run without isolation (sandbox unsafe-process); judge only programs that you trust"

router = APIRouter()


class Readiness(BaseModel):
    """The answer of ``/readyz``."""

    status: str
    isolation: str
    sandbox: dict[str, JsonValue]
    workers_alive: int
    workers: int
    waiting: int
    warnings: list[str]


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Tell that the process lives."""
    return {"status": "alive"}


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses={503: DESCRIBED[503]})
async def readyz(request: Request) -> Readiness:
    """Tell whether submissions can be judged now; where not, why and what to do about it."""
    services = services_of(request)
    services.queue.ensure_ready()
    health = services.queue.health()
    own = "none" if services.settings.sandbox == "unsafe-process" else services.settings.sandbox
    # Workers elsewhere may have another one.
    isolation = str(health.sandbox.get("isolation", own))
    return Readiness(
        status="ready",
        isolation=isolation,
        sandbox=health.sandbox,
        workers_alive=health.workers_alive,
        workers=health.workers,
        waiting=health.waiting,
        warnings=[*health.warnings, *([NO_ISOLATION] if isolation == "none" else [])],
    )


@router.get("/metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Give what is counted and measured, as Prometheus reads it."""
    text = generate_latest(services_of(request).registry)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


@router.get("/version")
async def get_version(request: Request) -> dict[str, JsonValue]:
    """Tell what runs here."""
    services = services_of(request)
    return {
        "version": package_version(),
        "python": platform.python_version(),
        "languages": {language.name: language.version for language in services.languages},
        "sandbox": services.queue.health().sandbox,
    }


@router.get("/languages")
async def get_languages(request: Request) -> dict[str, list[dict[str, Any]]]:
    """List the languages of programs: those whose compiler or interpreter is found here."""
    return {"languages": listed(services_of(request).languages)}


@router.get("/profiles")
async def get_profiles() -> dict[str, list[dict[str, Any]]]:
    """List the comparison profiles."""
    return {
        "profiles": [
            {"name": one.name, "description": one.description, "steps": list(one.steps)}
            for one in PROFILES.values()
        ]
    }
