"""What adapters of trainers that score sample by sample have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainer_client.async_client import AsyncEvaluatorClient
from trainer_client.micro_batching import WINDOW_S, MicroBatcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.wire import Judgement
    from trainer_client.problems import ProblemLike


class BatchedReward:
    """Judges single samples together with those that come at the same time."""

    def __init__(self, urls: str | Sequence[str], *, window_s: float = WINDOW_S, **settings: Any) -> None:
        """Take the service's ``urls``, the seconds to wait for company, and settings of :class:`ClientConfig`."""
        self.client = AsyncEvaluatorClient(urls, **settings)
        self._batcher = MicroBatcher(self.client, window_s)

    async def judged(self, completion: str, problem: ProblemLike) -> tuple[Judgement, float | None]:
        """Return a completion's judgement and reward, None where nobody could judge."""
        judgement = await self._batcher.judge(completion, problem)
        return judgement, self.client.reward_of(judgement)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self.client.aclose()
