"""The page of an audit that has no report."""

from __future__ import annotations

from markupsafe import Markup

from service.audit.page.templates import template, text_of


def waiting(status: str, finished: int, total: int, error: str) -> str:
    """Return the page of an audit that has no report yet, which loads itself again, or of one that failed."""
    return template("waiting.html.j2").render(
        status=status,
        finished=finished,
        total=total,
        error=error,
        style=Markup(text_of("page.css")),  # noqa: S704 -- a file of this package
    )
