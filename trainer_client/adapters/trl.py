"""TRL: an asynchronous reward function for ``GRPOTrainer(reward_funcs=...)``; TRL 1.14 and later.

TRL takes None for a sample that nobody could judge and leaves it out of the group's mean and deviation (since
1.6). It tells callable objects with an asynchronous ``__call__`` from others since 1.14. The object may be pickled,
for trainers that score in a process of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainer_client.adapters.texts import completion_text
from trainer_client.async_client import AsyncEvaluatorClient
from trainer_client.errors import EvaluatorError
from trainer_client.outcome import outcome_of, verdict_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from service.wire import Judgement
    from trainer_client.problems import ProblemLike

# Kept short: TRL prints the table of completions to the terminal.
LOGGED_COLUMNS = ("verdict", "passed", "total")


class EvaluatorReward:
    """The reward of a completion is that of the service's judgement against the row's ``problem`` column.

    The column holds the contract's problem as JSON text (:func:`trainer_client.problem_text`). Per batch it logs the
    share of every verdict (``evaluator/AC``, ...) and of unscorable samples, per completion verdict and tests passed.
    """

    def __init__(self, urls: str | Sequence[str], *, column: str = "problem", **settings: Any) -> None:
        """Take the service's ``urls``, the data set's ``column`` and settings of :class:`ClientConfig`."""
        self.client = AsyncEvaluatorClient(urls, **settings)
        self.column = column
        self.__name__ = "evaluator"

    async def __call__(
        self,
        completions: Sequence[Any],
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return a reward per completion, None where nobody could judge.

        Raises:
            EvaluatorError: the data set lacks the column.

        """
        if self.column not in columns:
            named = ", ".join(sorted(columns))
            raise EvaluatorError(f"the data set has no column {self.column!r}; what came: {named}")
        problems: Sequence[ProblemLike] = columns[self.column]
        judgements = await self.client.judge([completion_text(one) for one in completions], problems)
        if log_metric is not None:
            _log_shares(judgements, log_metric)
        if log_extra is not None:
            outcomes: list[dict[str, Any]] = [dict(outcome_of(one)) for one in judgements]
            for column in LOGGED_COLUMNS:
                log_extra(column, [outcome[column] for outcome in outcomes])
        return [self.client.reward_of(one) for one in judgements]


def _log_shares(judgements: Sequence[Judgement], log_metric: Callable[[str, float], None]) -> None:
    # Shares rather than counts: TRL takes the mean over steps and processes.
    for verdict, count in verdict_counts(judgements).items():
        log_metric(f"evaluator/{verdict}", count / len(judgements))
    lost = sum(judgement.reward is None for judgement in judgements)
    log_metric("evaluator/unscorable", lost / len(judgements))
    log_metric("evaluator/share_passed", sum(judgement.score for judgement in judgements) / len(judgements))
