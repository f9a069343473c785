"""OpenRLHF: a ``reward_func`` for ``--reward.remote_url file.py``; OpenRLHF 0.11.

OpenRLHF calls with one sample at a time, in threads, so samples are judged in micro-batches. It has no way to leave
a sample out: what raises is logged and ends the step later, where rewards are put together. ``unscorable_reward``
is for those who prefer a run that goes on; it is learnt from like any other reward.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from trainer_client.client import EvaluatorClient
from trainer_client.errors import EvaluatorError, UnscorableError
from trainer_client.micro_batching import WINDOW_S, MicroBatcher
from trainer_client.outcome import verdict_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.wire import Judgement
    from trainer_client.problems import ProblemLike


class OpenRLHFReward:
    """``labels`` are the contract's problems as JSON text; a completion is a query without its prompt."""

    def __init__(
        self,
        urls: str | Sequence[str],
        *,
        unscorable_reward: float | None = None,
        window_s: float = WINDOW_S,
        **settings: Any,
    ) -> None:
        """Take the service's ``urls`` and settings of :class:`ClientConfig`.

        ``unscorable_reward`` None raises over a sample that nobody could judge.
        """
        self._client = EvaluatorClient(urls, **settings)
        self._batcher = MicroBatcher(self._client.asynchronous, window_s)
        self._unscorable_reward = unscorable_reward

    def __call__(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[ProblemLike], **_: Any
    ) -> dict[str, Any]:
        """Return ``rewards``, ``scores`` and ``extra_logs``: numbers for one sample, else lists of them.

        Raises:
            UnscorableError: nobody could judge a sample, and there is no ``unscorable_reward``.

        """
        judgements = self.judge(queries, prompts, labels)
        rewards = [self.reward_of(judgement) for judgement in judgements]
        logs = {name: [one[name] for one in map(_logged, judgements)] for name in _logged(judgements[0])}
        if len(rewards) == 1:
            return {
                "rewards": rewards[0],
                "scores": rewards[0],
                "extra_logs": {name: values[0] for name, values in logs.items()},
            }
        return {"rewards": rewards, "scores": rewards, "extra_logs": logs}

    def judge(
        self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[ProblemLike]
    ) -> list[Judgement]:
        """Judge completions of ``prompts``, which ``queries`` begin with.

        Raises:
            EvaluatorError: the lists differ in length, or are empty.

        """
        if not queries or not len(queries) == len(prompts) == len(labels):
            raise EvaluatorError(
                f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels: "
                "there must be as many of each, and at least one"
            )
        completions = [query.removeprefix(prompt) for query, prompt in zip(queries, prompts, strict=True)]
        return self._client.run(self._judge(completions, labels))

    def reward_of(self, judgement: Judgement) -> float:
        """Return the reward; raises UnscorableError as :meth:`__call__` does."""
        reward = self._client.reward_of(judgement)
        if reward is None:
            reward = self._unscorable_reward
        if reward is None:
            raise UnscorableError(judgement)
        return reward

    async def _judge(self, completions: Sequence[str], problems: Sequence[ProblemLike]) -> list[Judgement]:
        return await asyncio.gather(*map(self._batcher.judge, completions, problems))


def _logged(judgement: Judgement) -> dict[str, float]:
    # Only numbers: OpenRLHF makes tensors of them.
    shares = {f"evaluator_{verdict}": float(count) for verdict, count in verdict_counts([judgement]).items()}
    return {**shares, "share_passed": judgement.score, "judging_s": judgement.duration_s}
