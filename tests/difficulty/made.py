"""Predictions made for tests: problems whose scores are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainer_client.difficulty.judge_settings import JudgeSettings
from trainer_client.difficulty.prediction import Predicted, Prediction
from trainer_client.difficulty.rubric import load_rubric
from trainer_client.difficulty.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence


def predicted(problem: str, score: float) -> Predicted:
    """Return a problem with a score."""
    return Predicted(problem=problem, statement="-", score=score, spread=None, ratings=[score], dimensions={})


def prediction(scores: Sequence[float]) -> Prediction:
    """Return the prediction of problems ``p0``, ``p1``, ..."""
    rubric = load_rubric()
    return Prediction(
        judge=JudgeSettings(model="judge", rubric=rubric.digest),
        rubric=rubric,
        usage=Usage(),
        cost=None,
        mean_spread=None,
        problems=[predicted(f"p{index}", score) for index, score in enumerate(scores)],
        unscored=[],
    )
