"""The page of an audit that has no report."""

from __future__ import annotations

from markupsafe import Markup

from service.audit.archive.contract import ENDED
from service.audit.page.templates import template, text_of


def waiting(status: str, finished: int, total: int, error: str | None) -> str:
    """Return the page of an audit without a report: one that has not ended loads itself again."""
    return template("waiting.html.j2").render(
        status=status,
        finished=finished,
        total=total,
        error=error or "",
        ended=status in ENDED,
        style=Markup(text_of("page.css")),  # noqa: S704 -- a file of this package
    )
