"""NeMo Gym: what a resources server's ``verify`` answers; NeMo Gym 0.4.

A rollout that nobody could judge carries ``instance_config.mask_sample``, which NeMo RL turns into a loss weight of
0, and ``mask_sample`` beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainer_client.adapters.batched import BatchedReward
from trainer_client.outcome import outcome_of

if TYPE_CHECKING:
    from trainer_client.problems import ProblemLike


class NemoGymReward(BatchedReward):
    """Judges a rollout's output against a problem of the contract, as an object or JSON text."""

    async def verification(self, output_text: str, problem: ProblemLike) -> dict[str, Any]:
        """Return the fields to add to the request for a verify response: reward, mask and outcome."""
        judgement, reward = await self.judged(output_text, problem)
        masked = reward is None
        return {
            "reward": 0.0 if reward is None else reward,
            "mask_sample": masked,
            "instance_config": {"mask_sample": masked},
            "evaluator": dict(outcome_of(judgement)),
        }
