"""verl: an asynchronous ``compute_score`` for ``reward.custom_reward_function``; verl 0.9.

verl calls per sample as each rollout ends, so samples are judged in micro-batches. A sample that nobody could judge
raises: verl then drops that trajectory and takes the baseline over the rest of its group. A score of 0 would be
learnt from, and None or NaN would end the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainer_client.async_client import AsyncEvaluatorClient
from trainer_client.errors import UnscorableError
from trainer_client.micro_batching import WINDOW_S, MicroBatcher
from trainer_client.outcome import outcome_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainer_client.problems import ProblemLike


class VerlReward:
    """``ground_truth`` of a row is the contract's problem as JSON text."""

    def __init__(self, urls: str | Sequence[str], *, window_s: float = WINDOW_S, **settings: Any) -> None:
        """Take the service's ``urls``, the micro-batch's ``window_s`` and settings of :class:`ClientConfig`."""
        self._batcher = MicroBatcher(AsyncEvaluatorClient(urls, **settings), window_s)

    async def compute_score(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: ProblemLike,
        extra_info: dict[str, Any] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Return ``score`` (the reward), ``acc`` and the fields of an outcome, always the same keys.

        Raises:
            UnscorableError: nobody could judge the sample.

        """
        del data_source, extra_info
        return await self.score(solution_str, ground_truth)

    async def score(self, completion: str, problem: ProblemLike) -> dict[str, Any]:
        """Return what :meth:`compute_score` does."""
        judgement = await self._batcher.judge(completion, problem)
        reward = self._batcher.client.reward_of(judgement)
        if reward is None:
            raise UnscorableError(judgement)
        return {"score": reward, "acc": judgement.reward, **outcome_of(judgement)}
