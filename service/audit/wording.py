"""The report's findings in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.audit.items import LabelKind
    from service.audit.report import Completeness, Control, ProfileReport


def headline(
    profiles: Sequence[ProfileReport],
    baseline: str | None,
    completeness: Completeness,
    controls: Sequence[Control],
    labels: LabelKind,
) -> str:
    """Return what was found, in one sentence; what was not measured comes first."""
    first = profiles[0]
    verb = "is right on" if labels == "truth" else "agrees with the logged rewards on"
    parts = [
        f"{first.name} {verb} {first.agreement.count} of {first.agreement.total} submissions {_errors(first)}"
    ]
    other = next((one for one in profiles if one.name == baseline and one is not first), None)
    if other is not None:
        parts.append(f"{other.name} on {other.agreement.count} {_errors(other)}")
    missed = [one.kind for one in controls if first.name in one.wrong_profiles]
    if missed:
        parts.append(f"{first.name} gets controls wrong: {', '.join(missed)}")
    return f"{incomplete(completeness)}{', '.join(parts)}."


def incomplete(completeness: Completeness) -> str:
    """Return what is missing as the start of a sentence, or nothing."""
    if completeness.complete:
        return ""
    missing = len(completeness.skipped) + len(completeness.unscored)
    return f"Incomplete, {missing} of {completeness.given} not measured: "


def _errors(profile: ProfileReport) -> str:
    matrix = profile.matrix
    return f"({_count(matrix.false_accepts, 'false accept')}, {_count(matrix.false_rejects, 'false reject')})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
