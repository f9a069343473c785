"""Boundaries between easy, medium and hard scores, such that predicted shares match the measured ones."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from trainer_client.difficulty.documents import Document, LeftOut
from trainer_client.difficulty.errors import CalibrationError
from trainer_client.difficulty.judge_settings import JudgeSettings
from trainer_client.difficulty.labels import Boundaries, Counts, Label, PassRates
from trainer_client.difficulty.pass_at_k import pass_at_k

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainer_client.difficulty.measuring import Measured
    from trainer_client.difficulty.prediction import Predicted, Prediction

# Fewer say little about shares: one problem among 30 is 3 %.
FEW = 30


class Calibrated(Document):
    """A problem with both sides: its score, and what the reference model did."""

    problem: str
    score: float
    completions: int
    correct: int
    pass_at_k: float
    measured: Label
    predicted: Label


class Correlation(Document):
    """Rank correlation of score and failure rate, 1 - pass@k: 1 is the same order. Null where one side is constant."""

    spearman: float | None
    spearman_p: float | None
    kendall: float | None
    kendall_p: float | None


class Row(Document):
    """A row of the confusion matrix: of the problems with one measured label, how many have each predicted one."""

    measured: Label
    predicted: Counts


class Calibration(Document):
    """What ``calibrate`` writes: the boundaries, and how far score and measurement agree."""

    schema_version: Literal[1] = 1
    kind: Literal["calibration"] = "calibration"
    judge: JudgeSettings
    k: int
    pass_rates: PassRates
    boundaries: Boundaries
    measured: Counts
    predicted: Counts
    confusion: list[Row]
    agreement: float
    """Share of problems whose predicted label is the measured one."""
    correlation: Correlation
    unscorable: int
    """Completions that nobody could judge."""
    warnings: list[str]
    problems: list[Calibrated]
    left_out: list[LeftOut]


def boundaries_of(scores: Sequence[float], measured: Counts, scale: tuple[float, float]) -> Boundaries:
    """Return the boundaries whose labels are in number as near to ``measured`` as equal scores allow.

    Near is the sum over the labels of the differences in number. Boundaries are put midway between neighbouring
    scores; where a label is to have none of the ``scale``'s ends, the boundary is its minimum, or its maximum and 1.
    Of pairs equally near, it is the one with the lowest boundaries.
    """
    ordered = np.sort(np.asarray(scores, dtype=float))
    cuts = [
        scale[0],
        *((low + high) / 2 for low, high in pairwise(np.unique(ordered).tolist())),
        scale[1] + 1,
    ]
    under = np.searchsorted(ordered, cuts, side="left")
    best = (math.inf, 0, 0)
    for first, easy in enumerate(under):
        # Every second boundary from the first one on.
        medium, hard = under[first:] - easy, len(ordered) - under[first:]
        distances = abs(easy - measured.easy) + abs(medium - measured.medium) + abs(hard - measured.hard)
        nearest = int(distances.argmin())
        best = min(best, (float(distances[nearest]), first, first + nearest))
    return Boundaries(medium_from=cuts[best[1]], hard_from=cuts[best[2]])


def calibrate(
    prediction: Prediction,
    measured: Mapping[str, Measured],
    rates: PassRates,
    k: int,
    *,
    least: int,
    left_out: Sequence[LeftOut] = (),
) -> Calibration:
    """Return the calibration on the problems that have a score and ``least`` completions that could be judged.

    Raises:
        CalibrationError: there is no such problem.

    """
    pairs, missing = _pairs(prediction, measured, max(k, least))
    if not pairs:
        reasons = [*left_out, *missing]
        first = f", such as {reasons[0].problem!r}: {reasons[0].reason}" if reasons else ""
        raise CalibrationError(f"no problem has both a score and completions enough{first}")
    chances = [pass_at_k(found.completions, found.correct, k) for _, found in pairs]
    labels = [rates.label(chance) for chance in chances]
    counts = Counts.of(labels)
    scale = (prediction.rubric.minimum, prediction.rubric.maximum)
    boundaries = boundaries_of([one.score for one, _ in pairs], counts, scale)
    problems = [
        Calibrated(
            problem=one.problem,
            score=one.score,
            completions=found.completions,
            correct=found.correct,
            pass_at_k=float(chance),
            measured=label,
            predicted=boundaries.label(one.score),
        )
        for (one, found), chance, label in zip(pairs, chances, labels, strict=True)
    ]
    correlation = correlation_of([one.score for one in problems], [1 - one.pass_at_k for one in problems])
    predicted = Counts.of(one.predicted for one in problems)
    return Calibration(
        judge=prediction.judge,
        k=k,
        pass_rates=rates,
        boundaries=boundaries,
        measured=counts,
        predicted=predicted,
        confusion=[
            Row(
                measured=label,
                predicted=Counts.of(one.predicted for one in problems if one.measured is label),
            )
            for label in Label
        ],
        agreement=sum(one.measured is one.predicted for one in problems) / len(problems),
        correlation=correlation,
        unscorable=sum(one.unscorable for one in measured.values()),
        warnings=_warnings(counts, predicted, correlation),
        problems=problems,
        left_out=[*left_out, *missing],
    )


def correlation_of(scores: Sequence[float], failure_rates: Sequence[float]) -> Correlation:
    """Return Spearman's rho and Kendall's tau-b with their two-sided p-values."""
    if len(set(scores)) < 2 or len(set(failure_rates)) < 2:  # noqa: PLR2004 -- two values are an order
        return Correlation(spearman=None, spearman_p=None, kendall=None, kendall_p=None)
    spearman = stats.spearmanr(scores, failure_rates)
    kendall = stats.kendalltau(scores, failure_rates)
    return Correlation(
        spearman=_finite(spearman.statistic),
        spearman_p=_finite(spearman.pvalue),
        kendall=_finite(kendall.statistic),
        kendall_p=_finite(kendall.pvalue),
    )


def _finite(value: float) -> float | None:
    # The p-value of two problems is no number.
    return float(value) if value == value else None  # noqa: PLR0124 -- NaN is not equal to itself


def _pairs(
    prediction: Prediction, measured: Mapping[str, Measured], least: int
) -> tuple[list[tuple[Predicted, Measured]], list[LeftOut]]:
    pairs, missing = [], []
    scored = {one.problem: one for one in prediction.problems}
    for name, found in measured.items():
        if name not in scored:
            missing.append(LeftOut(problem=name, reason="no score"))
        elif found.completions < least:
            unscorable = f" ({found.unscorable} more nobody could judge)" if found.unscorable else ""
            reason = f"{found.completions} completions{unscorable}, at least {least} needed"
            missing.append(LeftOut(problem=name, reason=reason))
        else:
            pairs.append((scored[name], found))
    return pairs, missing


def _warnings(measured: Counts, predicted: Counts, correlation: Correlation) -> list[str]:
    warnings = []
    if measured.total < FEW:
        warnings.append(
            f"{measured.total} problems are few to find boundaries on: {FEW} or more say something"
        )
    for label in Label:
        counted, found = getattr(measured, label), getattr(predicted, label)
        if counted == 0:
            warnings.append(
                f"no problem measured {label}: where that label begins or ends could not be found"
            )
        elif counted != found:
            warnings.append(f"equal scores allow {found} {label} problems only, {counted} were measured")
    if correlation.spearman is None:
        warnings.append("scores or pass rates are all the same: there is no order to compare")
    elif correlation.spearman <= 0:
        warnings.append(
            f"rank correlation {correlation.spearman:.2f}: the scores do not order problems as the pass rates do"
        )
    return warnings
