"""The page of a report."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from markupsafe import Markup

from service.audit.page.diffs import marked
from service.audit.page.plots import matrix_plot, rates_plot, steps_plot
from service.audit.page.templates import template, text_of
from service.audit.wording import incomplete

if TYPE_CHECKING:
    from service.audit.report import Disagreement, Report

# A browser sorts and filters this many in an instant; the JSON report has all.
MAX_ROWS = 2000


def rendered(report: Report) -> str:
    """Return the page of a report."""
    script = text_of("page.js")
    return template("report.html.j2").render(
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
        groups=_groups(report),
        style=Markup(text_of("page.css")),  # noqa: S704 -- a file of this package
        script=Markup(script),  # noqa: S704 -- a file of this package
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


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


def _groups(report: Report) -> list[dict[str, object]]:
    """Return one row per part of the data, with every profile's matrix."""
    rows = []
    for parts in zip(*(profile.groups for profile in report.profiles), strict=True):
        matrix = parts[0].matrix
        total = matrix.true_accepts + matrix.false_rejects + matrix.false_accepts + matrix.true_rejects
        matrices = [part.matrix for part in parts]
        rows.append({"name": parts[0].name, "by": parts[0].by, "total": total, "matrices": matrices})
    return rows
