"""verifiers (prime-rl): what a task's ``@vf.reward`` calls; verifiers 0.4.

An exception in a reward is recorded on the trace, and prime-rl leaves such traces out of the group's mean and of
the loss. A sample that nobody could judge therefore raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainer_client.adapters.texts import completion_text
from trainer_client.async_client import AsyncEvaluatorClient
from trainer_client.errors import UnscorableError
from trainer_client.micro_batching import WINDOW_S, MicroBatcher
from trainer_client.outcome import outcome_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class VerifiersReward:
    """The task's data has a field ``problem``: the contract's problem as JSON text."""

    def __init__(self, urls: str | Sequence[str], *, window_s: float = WINDOW_S, **settings: Any) -> None:
        """Take the service's ``urls``, the micro-batch's ``window_s`` and settings of :class:`ClientConfig`."""
        self._batcher = MicroBatcher(AsyncEvaluatorClient(urls, **settings), window_s)

    async def reward(self, task: Any, trace: Any) -> float:
        """Return the reward of the trace's last reply, and record the outcome's figures as metrics.

        Raises:
            UnscorableError: nobody could judge it.

        """
        judgement = await self._batcher.judge(completion_text(trace.last_reply or ""), task.problem)
        reward = self._batcher.client.reward_of(judgement)
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
