"""verl: an asynchronous ``compute_score`` for ``reward.custom_reward_function``; verl 0.9.

verl calls per sample as each rollout ends, so samples are judged in micro-batches. A sample that nobody could judge
raises: verl then drops that trajectory and takes the baseline over the rest of its group. A score of 0 would be
learnt from, and None or NaN would end the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainer_client.adapters.batched import BatchedReward
from trainer_client.errors import UnscorableError
from trainer_client.outcome import outcome_of

if TYPE_CHECKING:
    from trainer_client.problems import ProblemLike


class VerlReward(BatchedReward):
    """``ground_truth`` of a row is the contract's problem as JSON text."""

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
        judgement, reward = await self.judged(completion, problem)
        if reward is None:
            raise UnscorableError(judgement)
        return {"score": reward, "acc": judgement.reward, **outcome_of(judgement)}
