"""Selection to target shares: as many problems as possible, easy ones below a share, hard ones above a share."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from trainer_client.difficulty.documents import Document, LeftOut
from trainer_client.difficulty.errors import SettingsError, TargetError
from trainer_client.difficulty.labels import Boundaries, Counts, Label, share_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainer_client.difficulty.prediction import Predicted

Within = Literal["random", "hardest"]


class Targets(Document):
    """Shares of what is kept, neither of which may be reached: decimal texts, compared exactly."""

    easy_below: str = "0.25"
    hard_above: str = "0.5"


class Labelled(Document):
    """A problem with its label, and whether it is kept."""

    problem: str
    score: float
    label: Label
    kept: bool


class Selection(Document):
    """What ``select`` writes besides the rows that are kept."""

    schema_version: Literal[1] = 1
    kind: Literal["selection"] = "selection"
    boundaries: Boundaries
    targets: Targets
    within: Within
    seed: int
    before: Counts
    after: Counts
    limited_by: list[str]
    """What keeps the selection from being larger; empty where everything is kept."""
    problems: list[Labelled]
    unscored: list[LeftOut]
    """Rows without a score, none of which is kept."""


def targets_of(easy_below: str, hard_above: str) -> Targets:
    """Return checked targets.

    Raises:
        SettingsError: one is no number from 0 to 1.
        TargetError: no selection of anything could meet them.

    """
    if share_of(easy_below, "--easy-below") == 0:
        raise TargetError("--easy-below 0: no share is below 0, not even that of no easy problem")
    if share_of(hard_above, "--hard-above") == 1:
        raise TargetError("--hard-above 1: no share is above 1, not even that of nothing but hard problems")
    return Targets(easy_below=easy_below, hard_above=hard_above)


def most(available: Counts, targets: Targets) -> Counts:
    """Return the largest selection from ``available`` that meets the targets.

    Every hard problem is kept: one more meets both targets the better. That allows ``n`` problems in all while
    ``hard > hard_above * n``, of which ``easy < easy_below * n``. Of selections of the same size this is the one with
    the most medium problems: the harder of two is kept.

    Raises:
        TargetError: no selection of any size meets the targets.

    """
    easy_below, hard_above = Fraction(targets.easy_below), Fraction(targets.hard_above)
    if available.hard == 0:
        raise TargetError(
            f"none of {available.total} problems is labelled hard, so that hard ones cannot be above "
            f"{_percent(hard_above)}; was the calibration made for problems like these?"
        )
    total = available.total
    if hard_above > 0:
        total = min(total, _below(available.hard / hard_above))
    # Too few medium ones leave room that easy ones may not fill.
    while _below(easy_below * total) < total - available.hard - available.medium:
        total -= 1
    medium = min(available.medium, total - available.hard)
    return Counts(easy=total - available.hard - medium, medium=medium, hard=available.hard)


def limits(available: Counts, kept: Counts, targets: Targets) -> list[str]:
    """Return which targets keep ``kept`` from being larger."""
    easy_below, hard_above = Fraction(targets.easy_below), Fraction(targets.hard_above)
    one_more = kept.total + 1
    found = []
    if kept.total < available.total and kept.hard <= hard_above * one_more:
        found.append(
            f"the hard ones ({available.hard}) are above {_percent(hard_above)} of {kept.total} at most"
        )
    if kept.easy < available.easy and kept.easy + 1 >= easy_below * one_more:
        found.append(
            f"{one_more} problems with {kept.easy + 1} easy ones are not under {_percent(easy_below)} easy"
        )
    return found


def select(
    problems: Sequence[Predicted],
    boundaries: Boundaries,
    targets: Targets,
    *,
    seed: int = 0,
    within: Within = "random",
    unscored: Sequence[LeftOut] = (),
) -> Selection:
    """Label ``problems`` and choose among those of one label, at random or the highest scores first.

    Random is the order of a digest of seed and name: the same whatever the order of the file, and adding a problem
    changes no other's place. It also decides between equal scores.

    Raises:
        TargetError: no selection meets the targets.

    """
    labels = {one.problem: boundaries.label(one.score) for one in problems}
    before = Counts.of(labels.values())
    after = most(before, targets)

    def place(one: Predicted) -> tuple[float, bytes]:
        drawn = hashlib.sha256(f"{seed} {one.problem}".encode("utf-8", "surrogatepass")).digest()
        return (-one.score if within == "hardest" else 0.0, drawn)

    kept: set[str] = set()
    for label in Label:
        candidates = sorted((one for one in problems if labels[one.problem] is label), key=place)
        kept.update(one.problem for one in candidates[: getattr(after, label)])
    return Selection(
        boundaries=boundaries,
        targets=targets,
        within=within,
        seed=seed,
        before=before,
        after=after,
        limited_by=limits(before, after, targets),
        problems=[
            Labelled(
                problem=one.problem, score=one.score, label=labels[one.problem], kept=one.problem in kept
            )
            for one in problems
        ],
        unscored=list(unscored),
    )


def enough(selection: Selection, at_least: int) -> None:
    """Check the size of a selection.

    Raises:
        TargetError: it is smaller; the message says what limits it.

    """
    if at_least < 0:
        raise SettingsError(f"--at-least: {at_least} is below 0")
    if selection.after.total < at_least:
        limited = "; ".join(selection.limited_by) or "there are no more"
        raise TargetError(
            f"{selection.after.total} of {selection.before.total} problems can be kept, {at_least} are wanted: "
            f"{limited}"
        )


def _below(limit: Fraction) -> int:
    """Return the largest integer below ``limit``."""
    return math.ceil(limit) - 1


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):g} %"
