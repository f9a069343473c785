"""The endpoints of audits: start one, end it, and read what it found, as JSON or as a page."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.params import Path

from service.audit.archive.contract import AuditStatus
from service.audit.page.waiting_page import waiting
from service.audit.report import Report
from service.errors import UnknownAuditError
from service.http import idempotency
from service.http.accept import prefers
from service.http.audits.jobs import Audits
from service.http.audits.request import AuditRequest
from service.http.body import received
from service.http.judging_routes import JSON
from service.http.openapi import DESCRIBED, json_body
from service.http.services import services_of

HTML = "text/html"
MAX_SHOWN_ID_CHARS = 64
AuditId = Annotated[str, Path(description="As `POST /audit` answered.")]

router = APIRouter()


class AuditAnswer(AuditStatus):
    """How far an audit is, and its report where it is ``finished``."""

    report: Report | None = None


@router.post(
    "/audit",
    status_code=202,
    response_model=AuditStatus,
    openapi_extra=json_body(AuditRequest),
    responses={status: DESCRIBED[status] for status in (400, 401, 404, 413, 415, 422, 429, 503)},
)
async def start_audit(request: Request) -> Response:
    """Measure comparison profiles on labelled submissions: 202 at once, the report later."""
    services = services_of(request)
    key = idempotency.key_of(request)
    if key is None:
        # Before the body is received: a caller that has to come back later need not send it.
        services.queue.ensure_ready()
    settings = services.settings
    async with received(
        request, services.queue.backlog, settings.max_body_bytes, settings.body_idle_s
    ) as body:
        status = await services.audits.start(body, key)
    return Response(
        status.model_dump_json(exclude_none=True),
        status_code=202,
        media_type=JSON,
        headers={"Location": f"/audit/{status.job_id}"},
    )


@router.get(
    "/audit/{job_id}",
    response_model=AuditAnswer,
    responses={
        200: {"content": {HTML: {"schema": {"type": "string"}}}},
        **{status: DESCRIBED[status] for status in (401, 404, 503)},
    },
)
async def read_audit(request: Request, job_id: AuditId) -> Response:
    """Tell how far an audit is, with its report at the end; `Accept: text/html` answers the page."""
    audits = _audits(request)
    status = await audits.status(job_id)
    wants_page = prefers(HTML, ", ".join(request.headers.getlist("accept")), over=JSON)
    report = None
    if status is not None and status.status == "finished":
        report = await audits.archive.report(job_id, "html" if wants_page else "json")
    if status is None or (report is None and status.status == "finished"):
        raise _unknown(job_id)
    headers = {"Vary": "Accept"}
    if wants_page:
        page = report or waiting(status.status, status.finished, status.total, status.error).encode()
        return Response(page, media_type=HTML, headers={**headers, **_PAGE_HEADERS})
    head = status.model_dump_json(exclude_none=True).encode()
    body = head if report is None else b'%b,"report":%b}' % (head[:-1], report)
    return Response(body, media_type=JSON, headers=headers)


@router.delete(
    "/audit/{job_id}",
    response_model=AuditStatus,
    responses={status: DESCRIBED[status] for status in (401, 404, 503)},
)
async def cancel_audit(request: Request, job_id: AuditId) -> Response:
    """End an audit that has not ended; one that has stays as it is, with its report."""
    status = await _audits(request).cancel(job_id)
    if status is None:
        raise _unknown(job_id)
    return Response(status.model_dump_json(exclude_none=True), media_type=JSON)


# The page has a policy of its own; these hold for what a meta element cannot say.
_PAGE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


def _audits(request: Request) -> Audits:
    return services_of(request).audits


def _unknown(job_id: str) -> UnknownAuditError:
    return UnknownAuditError(f"there is no audit {job_id[:MAX_SHOWN_ID_CHARS]!r}, or it was dropped")
