"""The endpoints whose callers wait for judgements."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from service.errors import NotReadyError
from service.http.accept import prefers
from service.http.admission import Attached, listening
from service.http.openapi import DESCRIBED, json_body
from service.wire import Batch, BatchAnswer, Judgement, Submission

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Mapping

    from starlette.types import Receive, Scope, Send

    from service.queue.contract import Listening

JSON = "application/json"
NDJSON = "application/x-ndjson"

router = APIRouter()


@router.post("/evaluate", response_model=Judgement, openapi_extra=json_body(Submission), responses=DESCRIBED)
async def evaluate_one(request: Request) -> Response:
    """Judge one submission."""
    listener = await listening(request, "single")
    try:
        judgement = await _unless_client_leaves(request, _first(listener))
    finally:
        listener.cancel()
    return Response(judgement, media_type=JSON)


@router.post(
    "/evaluate/batch", response_model=BatchAnswer, openapi_extra=json_body(Batch), responses=DESCRIBED
)
async def evaluate_batch(request: Request) -> Response:
    """Judge many submissions; with `Accept: application/x-ndjson`, one judgement a line as each is ready."""
    listener = await listening(request, "batch")
    if wants_lines(request):
        # The same lines can be had, and stopped, there: who hangs up on a keyed call has not stopped it.
        headers = {"Content-Location": listener.path} if isinstance(listener, Attached) else None
        return Lines(listener, headers)
    try:
        judgements = await _unless_client_leaves(request, _all(listener))
    finally:
        listener.cancel()
    return Response(b'{"judgements":[%b]}' % b",".join(judgements), media_type=JSON)


def wants_lines(request: Request) -> bool:
    """Tell whether the caller prefers a stream of lines."""
    return prefers(NDJSON, ", ".join(request.headers.getlist("accept")), over=JSON)


class Lines(StreamingResponse):
    """A line for each judgement as it is ready."""

    def __init__(self, listener: Listening, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(_lines(listener), headers=headers, media_type=NDJSON)
        self._listener = listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them; whoever has left before the first one is listened for no longer either."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._listener.cancel()


async def _lines(listener: Listening) -> AsyncIterator[bytes]:
    # Compression keeps the head of an answer back until its body begins, which may be long after.
    yield b""
    try:
        async for judged in listener:
            yield judged.judgement + b"\n"
    except NotReadyError as error:
        # The status has been sent; the rest of the answer says for each submission that we failed.
        for judged in listener.give_up(str(error)):
            yield judged.judgement + b"\n"


async def _first(listener: Listening) -> bytes:
    (judgement,) = await _all(listener)
    return judgement


async def _all(listener: Listening) -> list[bytes]:
    judged = [one async for one in listener]
    judged.sort(key=lambda one: one.index)
    return [one.judgement for one in judged]


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
