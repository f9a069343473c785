"""Predicted difficulty: the mean over a problem's ratings of their weighted sums, with the spread between them."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Literal

from trainer_client.difficulty.documents import Document, LeftOut
from trainer_client.difficulty.judge_settings import JudgeSettings
from trainer_client.difficulty.rubric import SCORE_DIGITS, Rubric
from trainer_client.difficulty.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainer_client.difficulty.ratings import Ratings
    from trainer_client.difficulty.rows import Statement
    from trainer_client.difficulty.usage import Prices


class Predicted(Document):
    """A problem's score; ``ratings`` are the weighted sums it is the mean of.

    ``spread`` is their sample standard deviation, null of a single one.
    """

    problem: str
    statement: str
    score: float
    spread: float | None
    ratings: list[float]
    dimensions: dict[str, float]


class Prediction(Document):
    """What ``predict`` writes: the scores of a file's problems, and which have none."""

    schema_version: Literal[1] = 1
    kind: Literal["prediction"] = "prediction"
    judge: JudgeSettings
    rubric: Rubric
    usage: Usage
    cost: float | None
    """Of all ratings in the run's folder, in the currency of the prices; null without prices."""
    mean_spread: float | None
    problems: list[Predicted]
    unscored: list[LeftOut]


def predicted(statement: Statement, scores: Sequence[dict[str, int]], rubric: Rubric) -> Predicted:
    """Return the score of a problem from its ratings."""
    sums = [rubric.weighted_sum(one) for one in scores]
    return Predicted(
        problem=statement.problem,
        statement=statement.digest,
        score=round(statistics.fmean(sums), SCORE_DIGITS),
        spread=round(statistics.stdev(sums), SCORE_DIGITS) if len(sums) > 1 else None,
        ratings=sums,
        dimensions={
            name: round(statistics.fmean(one[name] for one in scores), SCORE_DIGITS) for name in rubric.names
        },
    )


def prediction(
    statements: Sequence[Statement],
    ratings: Ratings,
    settings: JudgeSettings,
    rubric: Rubric,
    prices: Prices,
) -> Prediction:
    """Return the prediction for ``statements``: a problem that lacks any of its ratings has no score."""
    scored, unscored = [], []
    for statement in statements:
        scores = ratings.scores(statement.problem)
        if len(scores) < settings.ratings:
            reason = ratings.reason(statement.problem)
            had = f"{len(scores)} of {settings.ratings} ratings: {reason}"
            unscored.append(LeftOut(problem=statement.problem, reason=had))
        else:
            scored.append(predicted(statement, scores, rubric))
    spreads = [one.spread for one in scored if one.spread is not None]
    return Prediction(
        judge=settings,
        rubric=rubric,
        usage=ratings.usage,
        cost=prices.cost(ratings.usage),
        mean_spread=round(statistics.fmean(spreads), SCORE_DIGITS) if spreads else None,
        problems=scored,
        unscored=unscored,
    )
