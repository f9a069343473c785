"""Judgements as trainers take them: a reward or None, and the same fields every time."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from service.wire import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

VERDICTS = tuple(verdict for verdict in Verdict if verdict is not Verdict.SKIPPED)


class Outcome(TypedDict):
    """What every adapter reports of a sample, always with these keys: trainers stack them into columns."""

    verdict: str
    share_passed: float
    passed: int
    total: int
    has_code: bool
    unscorable: bool
    duration_s: float
    message: str


def outcome_of(judgement: Judgement) -> Outcome:
    """Return the fields of ``judgement`` that adapters report."""
    return Outcome(
        verdict=str(judgement.verdict),
        share_passed=judgement.score,
        passed=judgement.passed,
        total=judgement.total,
        has_code=judgement.verdict not in {Verdict.NC, Verdict.IE},
        unscorable=judgement.reward is None,
        duration_s=judgement.duration_s,
        message=judgement.message,
    )


def reward_of(judgement: Judgement, *, partial_credit: bool = False) -> float | None:
    """Return the reward, the share of tests passed with ``partial_credit``; None where nobody could judge."""
    if judgement.reward is None:
        return None
    return judgement.score if partial_credit else judgement.reward


def unscorable(identity: str, index: int, reason: str, *, total: int, duration_s: float) -> Judgement:
    """Return the judgement of a submission that got no answer."""
    return Judgement(
        id=identity,
        index=index,
        verdict=Verdict.IE,
        reward=None,
        score=0.0,
        passed=0,
        total=total,
        first_failed=None,
        message=f"not judged: {reason}",
        duration_s=duration_s,
        isolation="none",
    )


def verdict_counts(judgements: Sequence[Judgement]) -> dict[str, int]:
    """Return how often each verdict was reached, all of them named: the keys of metrics must not change."""
    counts = Counter(judgement.verdict for judgement in judgements)
    return {str(verdict): counts[verdict] for verdict in VERDICTS}


@dataclass(frozen=True, slots=True)
class Summary:
    """A batch in a few figures."""

    counts: dict[str, int]
    p50_s: float
    p95_s: float
    wall_s: float

    @classmethod
    def of(cls, judgements: Sequence[Judgement], wall_s: float) -> Summary:
        """Summarise; durations are those of judging, without waiting, over what was judged."""
        durations_s = sorted(one.duration_s for one in judgements if one.reward is not None)
        return cls(
            verdict_counts(judgements), _quantile(durations_s, 0.5), _quantile(durations_s, 0.95), wall_s
        )

    def __str__(self) -> str:
        counts = " ".join(f"{verdict} {count}" for verdict, count in self.counts.items() if count)
        total = sum(self.counts.values())
        return (
            f"{total} judged in {self.wall_s:.1f} s ({total / max(self.wall_s, 1e-9):.0f}/s): {counts or 'none'}; "
            f"p50 {self.p50_s * 1000:.0f} ms, p95 {self.p95_s * 1000:.0f} ms"
        )


def _quantile(ordered: list[float], share: float) -> float:
    """Return the nearest-rank quantile of sorted values, NaN of none."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan
