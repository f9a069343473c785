"""verifiers (prime-rl): what a task's ``@vf.reward`` calls; verifiers 0.4.

An exception in a reward is recorded on the trace, and prime-rl leaves such traces out of the group's mean and of
the loss. A sample that nobody could judge therefore raises.
"""

from __future__ import annotations

from typing import Any

from trainer_client.adapters.batched import BatchedReward
from trainer_client.adapters.texts import completion_text
from trainer_client.errors import UnscorableError
from trainer_client.outcome import outcome_of


class VerifiersReward(BatchedReward):
    """The task's data has a field ``problem``: the contract's problem as JSON text."""

    async def reward(self, task: Any, trace: Any) -> float:
        """Return the reward of the trace's last reply, and record the outcome's figures as metrics.

        Raises:
            UnscorableError: nobody could judge it.

        """
        judgement, reward = await self.judged(completion_text(trace.last_reply or ""), task.problem)
        if reward is None:
            raise UnscorableError(judgement)
        outcome = outcome_of(judgement)
        trace.record_metrics(
            {
                "share_passed": outcome["share_passed"],
                "has_code": float(outcome["has_code"]),
                "judging_s": outcome["duration_s"],
            }
        )
        return reward
