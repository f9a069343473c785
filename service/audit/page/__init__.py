"""A report as one HTML page that needs nothing else: no network, no fonts, no libraries.

Outputs of programs are in it, so everything is escaped, and the page's own policy lets no script run but its own.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from service.audit.page.diffs import marked
from service.audit.page.plots import matrix_plot, rates_plot, steps_plot
from service.audit.wording import incomplete

if TYPE_CHECKING:
    from service.audit.report import Disagreement, Rate, Report

__all__ = ["rendered", "waiting"]

# A browser sorts and filters this many in an instant; the JSON report has all.
MAX_ROWS = 2000


def rendered(report: Report) -> str:
    """Return the page of a report."""
    script = _text("page.js")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            rows=[_row(one) for one in report.disagreements[:MAX_ROWS]],
            left_out=max(0, len(report.disagreements) - MAX_ROWS),
            incomplete=incomplete(report.completeness),
            rates=[
                ("False rejects", rates_plot(report.profiles, "false_reject_rate")),
                ("False accepts", rates_plot(report.profiles, "false_accept_rate")),
            ],
            matrices=[(profile, matrix_plot(profile)) for profile in report.profiles],
            steps=[(profile, steps_plot(profile)) for profile in report.profiles],
            style=Markup(_text("page.css")),  # noqa: S704 -- a file of this package
            script=Markup(script),  # noqa: S704 -- a file of this package
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def waiting(status: str, finished: int, total: int, error: str) -> str:
    """Return the page of an audit that has no report yet, which loads itself again, or of one that failed."""
    return (
        _environment()
        .get_template("waiting.html.j2")
        .render(
            status=status,
            finished=finished,
            total=total,
            error=error,
            style=Markup(_text("page.css")),  # noqa: S704 -- a file of this package
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("service.audit.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = _percent
    environment.filters["interval"] = _interval
    return environment


def _row(one: Disagreement) -> dict[str, object]:
    """Return what a row of the table shows: the item, and where its sides differ."""
    expected, actual = marked(one.expected or "", one.actual or "")
    wrong = {name: view for name, view in one.views.items() if not view.right}
    return {
        "item": one,
        "kind": "false reject" if one.truth == "accept" else "false accept",
        "wrong": " ".join(wrong),
        "reason": "; ".join(dict.fromkeys(view.step or view.feedback for view in wrong.values())),
        "expected": expected,
        "actual": actual,
        "has_outputs": one.expected is not None,
    }


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f} %"


def _interval(rate: Rate) -> str:
    return f"{100 * rate.low:.1f} to {100 * rate.high:.1f} %" if rate.total else "nothing to count"


def _text(name: str) -> str:
    return (resources.files("service.audit.page") / name).read_text(encoding="utf-8")
