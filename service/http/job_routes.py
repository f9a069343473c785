"""The endpoints of jobs: begun by one call, looked at by others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Request, Response
from fastapi.params import Path

from service import wire
from service.errors import NotReadyError, UnknownJobError
from service.http.admission import Attached, job_of
from service.http.judging_routes import JSON, Lines, wants_lines
from service.http.openapi import DESCRIBED, json_body
from service.http.services import services_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.jobs.contract import Job
    from service.queue.ticket import Judged

JobId = Annotated[str, Path(description="As `POST /jobs` answered.")]

router = APIRouter()


class Looking(Attached):
    """Listens to a job until it has ended, in whatever way."""

    async def __aiter__(self) -> AsyncIterator[Judged]:
        """Yield every judgement."""
        try:
            async for judged in self._following:
                yield judged
        except NotReadyError:
            # That it was cancelled is no failure; its state says so.
            if (await self._job.progress()).status != "cancelled":
                raise


@router.post(
    "/jobs",
    status_code=202,
    response_model=wire.Job,
    openapi_extra=json_body(wire.Batch),
    responses=DESCRIBED,
)
async def begin_job(request: Request) -> Response:
    """Judge many submissions, for answers to be fetched from `/jobs/{job_id}`."""
    job = await job_of(request, "batch")
    answer = await _described(job, with_judgements=False)
    return Response(answer, status_code=202, headers={"Location": f"/jobs/{job.id}"}, media_type=JSON)


@router.get("/jobs/{job_id}", response_model=wire.Job, responses=DESCRIBED)
async def get_job(request: Request, job_id: JobId) -> Response:
    """Tell how far a job is, with the judgements that are ready.

    With `Accept: application/x-ndjson`, give one judgement a line, from the first, until the job has ended.
    """
    job = await _found(request, job_id)
    if wants_lines(request):
        return Lines(Looking(job))
    return Response(await _described(job), media_type=JSON)


@router.delete("/jobs/{job_id}", response_model=wire.Job, responses=DESCRIBED)
async def cancel_job(request: Request, job_id: JobId) -> Response:
    """End what runs of a job and drop what waits; judgements that are ready stay."""
    job = await _found(request, job_id)
    await job.cancel()
    return Response(await _described(job), media_type=JSON)


async def _found(request: Request, job_id: str) -> Job:
    job = await services_of(request).jobs.find(job_id)
    if job is None:
        raise UnknownJobError(job_id)
    return job


async def _described(job: Job, *, with_judgements: bool = True) -> bytes:
    progress = await job.progress()
    head = wire.Job(
        job_id=job.id,
        status=progress.status,
        total=progress.total,
        finished=len(progress.judged),
        message=progress.message,
    )
    text = head.model_dump_json(exclude={"judgements"}).encode()
    judgements = [one.judgement for one in progress.judged] if with_judgements else []
    # Judgements are JSON already, and may be thousands.
    return b'%b,"judgements":[%b]}' % (text[:-1], b",".join(judgements))
