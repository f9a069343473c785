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
    ``hard > hard_above * n``, of which ``easy < easy_below * n``. Of selections of the same size this is the one in
    which easy and medium ones stand as they did before, as nearly as the targets allow; of two as near, the one with
    fewer easy ones.

    Raises:
        TargetError: no selection of any size meets the targets.

    """
    if available.hard == 0:
        raise TargetError(
            f"none of {available.total} problems is labelled hard, so that hard ones cannot be above "
            f"{_percent(targets.hard_above)}; was the calibration made for problems like these?"
        )
    total = min(available.total, _most_for_hard(available, targets))
    # Too few medium ones leave room that easy ones may not fill.
    while _easy_needed(available, total) > _easy_allowed(targets, total):
        total -= 1
    rest = total - available.hard
    easy = 0
    if rest:
        alike = math.ceil(Fraction(rest * available.easy, available.easy + available.medium) - Fraction(1, 2))
        easy = min(max(alike, _easy_needed(available, total)), _easy_allowed(targets, total))
    return Counts(easy=easy, medium=rest - easy, hard=available.hard)


def limits(available: Counts, kept: Counts, targets: Targets) -> list[str]:
    """Return which targets keep ``kept``, the largest selection, from being larger; none where everything is kept."""
    one_more = kept.total + 1
    found: list[str] = []
    if one_more > available.total:
        return found
    if one_more > _most_for_hard(available, targets):
        found.append(
            f"the hard ones ({available.hard}) are above {_percent(targets.hard_above)} of {kept.total} at most"
        )
    if _easy_needed(available, one_more) > _easy_allowed(targets, one_more):
        found.append(
            f"with all {available.medium} medium ones kept, {_easy_needed(available, one_more)} easy ones of "
            f"{one_more} would not be below {_percent(targets.easy_below)}"
        )
    return found


def _most_for_hard(available: Counts, targets: Targets) -> int:
    """Return the largest size of which all hard problems are more than their target share."""
    share = Fraction(targets.hard_above)
    return _below(available.hard / share) if share else available.total


def _easy_needed(available: Counts, total: int) -> int:
    """Return how many easy problems a selection of size ``total`` cannot do without."""
    return max(0, total - available.hard - available.medium)


def _easy_allowed(targets: Targets, total: int) -> int:
    return _below(Fraction(targets.easy_below) * total)


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


def _percent(share: str) -> str:
    return f"{float(100 * Fraction(share)):g} %"
