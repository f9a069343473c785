"""The endpoints of stored problems."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.params import Path

from service.errors import UnknownProblemError
from service.http.admission import problem_of
from service.http.judging_routes import JSON
from service.http.openapi import DESCRIBED, problem_body
from service.http.services import services_of
from service.problems.store import Content, check_id
from service.wire import StoredProblem

ProblemId = Annotated[
    str, Path(description="Any name, or `sha256:` and the SHA-256 of the problem's canonical JSON.")
]

router = APIRouter()


@router.put(
    "/problems/{problem_id:path}",
    status_code=201,
    response_model=StoredProblem,
    openapi_extra=problem_body(),
    responses={200: {"model": StoredProblem, "description": "It was stored already"}, **DESCRIBED},
)
async def put_problem(request: Request, problem_id: ProblemId) -> Response:
    """Store a problem for submissions to name; its content cannot be changed, only dropped."""
    store = services_of(request).problems
    content = Content.of(await problem_of(request))
    await asyncio.to_thread(check_id, problem_id, content)
    created = await store.put(problem_id, content)
    receipt = content.receipt(problem_id, store.ttl_s)
    return Response(receipt.model_dump_json(), status_code=201 if created else 200, media_type=JSON)


@router.head("/problems/{problem_id:path}", include_in_schema=False)
@router.get("/problems/{problem_id:path}", responses=DESCRIBED)
async def get_problem(request: Request, problem_id: ProblemId) -> Response:
    """Give a stored problem's canonical JSON."""
    content = await services_of(request).problems.get(problem_id)
    if content is None:
        raise UnknownProblemError([problem_id])
    digest = content.digest.removeprefix("sha256:")
    return Response(bytes(content.canonical), headers={"ETag": f'"{digest}"'}, media_type=JSON)


@router.delete("/problems/{problem_id:path}", status_code=204, response_class=Response, responses=DESCRIBED)
async def delete_problem(request: Request, problem_id: ProblemId) -> Response:
    """Drop a stored problem; submissions that name it from now on are refused."""
    if not await services_of(request).problems.delete(problem_id):
        raise UnknownProblemError([problem_id])
    return Response(status_code=204)
