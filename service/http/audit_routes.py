"""The endpoints of audits: start one, and read what it found, as JSON or as a page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from service.audit.page.waiting_page import waiting
from service.audit.report import Report
from service.errors import UnknownAuditError
from service.http.accept import prefers
from service.http.audits.jobs import Audits
from service.http.audits.request import AuditRequest
from service.http.audits.store import JobStatus
from service.http.body import received
from service.http.judging_routes import JSON
from service.http.openapi import DESCRIBED, json_body
from service.http.services import services_of

HTML = "text/html"
# The report is as large as the audit; these never change.
_HEADERS = {"Vary": "Accept"}

router = APIRouter()


class AuditAnswer(JobStatus):
    """How far an audit is, and its report where it is ``finished``."""

    report: Report | None = None


@router.post(
    "/audit",
    status_code=202,
    response_model=JobStatus,
    openapi_extra=json_body(AuditRequest),
    responses={status: DESCRIBED[status] for status in (400, 401, 413, 415, 422, 429, 503)},
)
async def start_audit(request: Request) -> Response:
    """Measure comparison profiles on labelled submissions: 202 at once, the report later."""
    services = services_of(request)
    services.queue.ensure_ready()
    settings = services.settings
    async with received(
        request, services.queue.backlog, settings.max_body_bytes, settings.body_idle_s
    ) as body:
        status = await _audits(request).start(body)
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
        **{status: DESCRIBED[status] for status in (401, 404)},
    },
)
async def read_audit(request: Request, job_id: str) -> Response:
    """Tell how far an audit is, with its report at the end; `Accept: text/html` answers the page."""
    audits = _audits(request)
    status = audits.status(job_id)
    wants_page = prefers(HTML, ", ".join(request.headers.getlist("accept")), over=JSON)
    report = None
    if status is not None and status.status == "finished":
        report = audits.store.report(job_id, "html" if wants_page else "json")
    if status is None or (report is None and status.status == "finished"):
        raise UnknownAuditError(f"there is no audit {job_id[:64]!r}, or its report was dropped")
    if wants_page:
        page = report or waiting(status.status, status.finished, status.total, status.error or "").encode()
        return Response(page, media_type=HTML, headers=_HEADERS)
    head = status.model_dump_json(exclude_none=True).encode()
    body = head if report is None else b'%b,"report":%b}' % (head[:-1], report)
    return Response(body, media_type=JSON, headers=_HEADERS)


def _audits(request: Request) -> Audits:
    return services_of(request).audits
