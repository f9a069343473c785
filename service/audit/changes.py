"""Two reports of the same items, measured by two versions of the evaluator: every verdict that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from service.audit.report import Outcome, Report, ReportModel

if TYPE_CHECKING:
    from collections.abc import Iterator

AC = "AC"
Direction = Literal["better", "worse", "neutral"]


class VerdictChange(ReportModel):
    """An item on which a profile changed its mind; ``better`` and ``worse`` are as the truth sees it."""

    id: str
    profile: str
    truth: str
    before: str
    after: str
    direction: Direction


class ControlChange(ReportModel):
    """A kind of control of which a profile accepts another share than before."""

    kind: str
    right: bool
    profile: str
    before: float | None
    after: float | None
    direction: Direction


class Changes(ReportModel):
    """What changed from one report to the next.

    ``other_items`` have the same name, but another program, problem or truth: their verdicts say nothing about the
    evaluator, and are not compared. ``lost`` items, and kinds of controls, are in the first report only.
    """

    before: str
    after: str
    compared: int
    verdicts: list[VerdictChange]
    controls: list[ControlChange]
    other_items: list[str]
    lost: list[str]
    lost_controls: list[str]
    gained: list[str]

    def worse(self, profile: str) -> bool:
        """Whether ``profile`` is wrong where it was right, or was not asked again, or nothing is comparable."""
        changed: list[VerdictChange | ControlChange] = [*self.verdicts, *self.controls]
        unasked = self.lost or self.lost_controls or not self.compared
        return bool(unasked) or any(one.profile == profile and one.direction == "worse" for one in changed)


def changes(before: Report, after: Report) -> Changes:
    """Compare two reports under the profiles that both have."""
    old = {one.id: one for one in before.outcomes}
    new = {one.id: one for one in after.outcomes}
    both = [name for name in old if name in new]
    same = [name for name in both if old[name].fingerprint == new[name].fingerprint]
    return Changes(
        before=f"{before.environment.version} ({before.environment.comparators}), {before.created}",
        after=f"{after.environment.version} ({after.environment.comparators}), {after.created}",
        compared=len(same),
        verdicts=[change for name in same for change in _verdicts(old[name], new[name])],
        controls=list(_controls(before, after)),
        other_items=sorted(set(both) - set(same)),
        lost=[name for name in old if name not in new],
        lost_controls=_lost_controls(before, after),
        gained=[name for name in new if name not in old],
    )


def _lost_controls(before: Report, after: Report) -> list[str]:
    made = {(one.kind, one.right) for one in after.controls}
    return [one.kind for one in before.controls if (one.kind, one.right) not in made]


def _verdicts(old: Outcome, new: Outcome) -> Iterator[VerdictChange]:
    accept = old.truth == "accept"
    for profile, before in old.verdicts.items():
        after = new.verdicts.get(profile)
        if after is None or after == before:
            continue
        was, is_now = (_right(verdict, accept=accept) for verdict in (before, after))
        direction: Direction = "neutral" if was is is_now else "better" if is_now else "worse"
        yield VerdictChange(
            id=old.id, profile=profile, truth=old.truth, before=before, after=after, direction=direction
        )


def _right(verdict: str, *, accept: bool) -> bool:
    # Our own failure (IE) is never right.
    return verdict != "IE" and (verdict == AC) is accept


def _controls(before: Report, after: Report) -> Iterator[ControlChange]:
    new = {(one.kind, one.right): one for one in after.controls}
    for old in before.controls:
        now = new.get((old.kind, old.right))
        for profile, rate in old.accepted.items():
            other = now.accepted.get(profile) if now else None
            if other is None or other.rate == rate.rate or None in (other.rate, rate.rate):
                continue
            more = (other.rate or 0.0) > (rate.rate or 0.0)
            yield ControlChange(
                kind=old.kind,
                right=old.right,
                profile=profile,
                before=rate.rate,
                after=other.rate,
                direction="better" if more is old.right else "worse",
            )
