"""What must hold of a profile for a release: no wrong verdict, no wrong control, nothing left unmeasured."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from service.audit.report import Report


def faults(report: Report, profile: str) -> Iterator[str]:
    """Yield one sentence for everything that speaks against ``profile``."""
    completeness = report.completeness
    if not completeness.complete:
        missing = len(completeness.skipped) + len(completeness.unscored)
        yield f"{missing} of {completeness.given} items were not measured"
    for one in report.disagreements:
        view = one.views[profile]
        if not view.right:
            yield f"{one.id}: the truth is {one.truth}, {profile} says {view.verdict} ({view.step or view.feedback})"
    for control in report.controls:
        if profile in control.wrong_profiles:
            word = "refuses some" if control.right else "accepts some"
            yield f"control '{control.kind}': {profile} {word} of {control.tries}"
    for change in report.repeatability.changed:
        if change.profile == profile:
            yield f"{change.id}: {', '.join(change.verdicts)} in turn ({change.cause})"
