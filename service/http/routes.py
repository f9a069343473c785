"""The endpoints: receive, read, queue, answer."""

from __future__ import annotations

import asyncio
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, JsonValue
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from comparators import PROFILES
from service.errors import NotReadyError
from service.http.accept import prefers
from service.http.body import received
from service.http.openapi import DESCRIBED, json_body
from service.languages import listed
from service.version import package_version
from service.wire import Batch, BatchAnswer, Judgement, Submission

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from sandbox import Language
    from service.http.audits.jobs import Audits
    from service.http.reading import BodyReading
    from service.intake import Shape
    from service.queue.local_queue import LocalQueue
    from service.queue.ticket import Ticket
    from service.settings import Settings

JSON = "application/json"
NDJSON = "application/x-ndjson"
NO_ISOLATION = "programs run without isolation (sandbox unsafe-process); judge only programs that you trust"

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Services:
    """What the endpoints work with, made when the application starts."""

    settings: Settings
    queue: LocalQueue
    reading: BodyReading
    languages: list[Language]
    audits: Audits


class Readiness(BaseModel):
    """The answer of ``/readyz``."""

    status: str
    isolation: str
    sandbox: dict[str, JsonValue]
    workers_alive: int
    workers: int
    waiting: int
    warnings: list[str]


@router.post("/evaluate", response_model=Judgement, openapi_extra=json_body(Submission), responses=DESCRIBED)
async def evaluate_one(request: Request) -> Response:
    """Judge one submission."""
    ticket = await _queued(request, "single")
    try:
        judgement = await _unless_client_leaves(request, _first(ticket))
    finally:
        ticket.cancel()
    return Response(judgement, media_type=JSON)


@router.post(
    "/evaluate/batch", response_model=BatchAnswer, openapi_extra=json_body(Batch), responses=DESCRIBED
)
async def evaluate_batch(request: Request) -> Response:
    """Judge many submissions; with `Accept: application/x-ndjson`, one judgement a line as each is ready."""
    ticket = await _queued(request, "batch")
    if prefers(NDJSON, ", ".join(request.headers.getlist("accept")), over=JSON):
        return StreamingResponse(_lines(ticket), media_type=NDJSON)
    try:
        judgements = await _unless_client_leaves(request, _all(ticket))
    finally:
        ticket.cancel()
    return Response(b'{"judgements":[%b]}' % b",".join(judgements), media_type=JSON)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Tell that the process lives."""
    return {"status": "alive"}


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses={503: DESCRIBED[503]})
async def readyz(request: Request) -> Readiness:
    """Tell whether submissions can be judged now; where not, why and what to do about it."""
    services = _services(request)
    services.queue.ensure_ready()
    health = services.queue.health()
    isolation = "none" if services.settings.sandbox == "unsafe-process" else services.settings.sandbox
    return Readiness(
        status="ready",
        isolation=str(health.sandbox.get("isolation", isolation)),
        sandbox=health.sandbox,
        workers_alive=health.workers_alive,
        workers=health.workers,
        waiting=health.waiting,
        warnings=[NO_ISOLATION] if isolation == "none" else [],
    )


@router.get("/version")
async def get_version(request: Request) -> dict[str, JsonValue]:
    """Tell what runs here."""
    services = _services(request)
    return {
        "version": package_version(),
        "python": platform.python_version(),
        "languages": {language.name: language.version for language in services.languages},
        "sandbox": services.queue.health().sandbox,
    }


@router.get("/languages")
async def get_languages(request: Request) -> dict[str, list[dict[str, Any]]]:
    """List the languages of programs: those whose compiler or interpreter is found here."""
    return {"languages": listed(_services(request).languages)}


@router.get("/profiles")
async def get_profiles() -> dict[str, list[dict[str, Any]]]:
    """List the comparison profiles."""
    return {
        "profiles": [
            {"name": one.name, "description": one.description, "steps": list(one.steps)}
            for one in PROFILES.values()
        ]
    }


def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


async def _queued(request: Request, shape: Shape) -> Ticket:
    services = _services(request)
    settings = services.settings
    # Before the body is received: a caller that has to come back later need not send it.
    services.queue.ensure_ready()
    async with received(
        request, services.queue.backlog, settings.max_body_bytes, settings.body_idle_s
    ) as body:
        intake = await services.reading.read(body, shape)
    return services.queue.submit(intake, request.state.request_id)


async def _first(ticket: Ticket) -> bytes:
    (judgement,) = await _all(ticket)
    return judgement


async def _all(ticket: Ticket) -> list[bytes]:
    judged = [one async for one in ticket]
    judged.sort(key=lambda one: one.index)
    return [one.judgement for one in judged]


async def _lines(ticket: Ticket) -> AsyncIterator[bytes]:
    try:
        async for judged in ticket:
            yield judged.judgement + b"\n"
    except NotReadyError as error:
        # The status has been sent; the rest of the answer says for each submission that we failed.
        for judged in ticket.give_up(str(error)):
            yield judged.judgement + b"\n"
    finally:
        ticket.cancel()


async def _unless_client_leaves[T](request: Request, answer: Coroutine[None, None, T]) -> T:
    answering = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(_client_left(request))
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return answering.result()
        raise ClientDisconnect
    finally:
        answering.cancel()
        leaving.cancel()


async def _client_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
