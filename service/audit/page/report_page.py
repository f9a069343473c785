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
    from collections.abc import Mapping

    from service.audit.report import Disagreement, ProfileView, Report

GROUPINGS = {"source": "By source", "mode": "By mode", "truth": "By right verdict"}
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
        "reasons": _reasons(wrong),
        "expected": expected,
        "actual": actual,
        "has_outputs": one.expected is not None,
    }


def _reasons(wrong: Mapping[str, ProfileView]) -> list[tuple[str, str]]:
    """Return which profiles are wrong for one reason, and that reason: a step that accepted, or what was missed."""
    names: dict[str, list[str]] = {}
    for name, view in wrong.items():
        reason = f"accepted by step {view.step}" if view.step else view.feedback or view.verdict
        names.setdefault(reason, []).append(name)
    return [(", ".join(who), reason) for reason, who in names.items()]


def _groups(report: Report) -> list[dict[str, object]]:
    """Return the parts of the data by kind: rows of those on which some profile is wrong, and names of the others."""
    parts = list(zip(*(profile.groups for profile in report.profiles), strict=True))
    groups: list[dict[str, object]] = []
    for by, title in GROUPINGS.items():
        rows, right = [], []
        for views in parts:
            if views[0].by != by:
                continue
            matrices = [view.matrix for view in views]
            total = sum(matrices[0].model_dump().values())
            if any(matrix.false_rejects or matrix.false_accepts for matrix in matrices):
                rows.append({"name": views[0].name, "total": total, "matrices": matrices})
            else:
                right.append(f"{views[0].name} ({total})")
        groups.append({"title": title, "rows": rows, "right": right})
    return groups
