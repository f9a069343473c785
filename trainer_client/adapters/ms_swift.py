"""ms-swift: a reward for ``--external_plugins file.py --reward_funcs NAME``; ms-swift 4.6.

ms-swift takes None but counts it as 0 in the group's mean. An unscorable sample therefore gets the mean of the
judged samples of its group, which gives it no advantage and leaves the mean as it is. It is synchronous on purpose:
ms-swift runs asynchronous rewards on a new event loop each step, which would open all connections anew.
"""

from __future__ import annotations

import logging
import statistics
from typing import TYPE_CHECKING, Any

from trainer_client.adapters.texts import completion_text
from trainer_client.client import EvaluatorClient
from trainer_client.errors import EvaluatorError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_log = logging.getLogger(__name__)


class MsSwiftReward:
    """Judges against the data set's ``problem`` column, the contract's problem as JSON text.

    Groups are told by ``prompt_id`` where ms-swift gives one, else by the problem itself; of a group that has no
    judged sample in this process, the mean of the whole call is taken.
    """

    def __init__(self, urls: str | Sequence[str], *, column: str = "problem", **settings: Any) -> None:
        """Take the service's ``urls``, the data set's ``column`` and settings of :class:`ClientConfig`."""
        self._client = EvaluatorClient(urls, **settings)
        self._column = column

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """Return a reward per completion.

        Raises:
            EvaluatorError: the data set lacks the column.

        """
        if self._column not in columns:
            named = ", ".join(sorted(columns))
            raise EvaluatorError(f"the data set has no column {self._column!r}; what came: {named}")
        problems = columns[self._column]
        rewards = self._client.rewards([completion_text(one) for one in completions], problems)
        lost = rewards.count(None)
        if lost:
            _log.warning(
                "%d of %d samples could not be judged; they get their group's mean", lost, len(rewards)
            )
        return _neutral(rewards, columns.get("prompt_id") or problems)


def _neutral(rewards: Sequence[float | None], groups: Sequence[Hashable]) -> list[float]:
    judged: dict[Hashable, list[float]] = {}
    for reward, group in zip(rewards, groups, strict=True):
        if reward is not None:
            judged.setdefault(group, []).append(reward)
    known = [reward for members in judged.values() for reward in members]
    overall = statistics.fmean(known) if known else 0.0
    means = {group: statistics.fmean(members) for group, members in judged.items()}
    return [
        means.get(group, overall) if reward is None else reward
        for reward, group in zip(rewards, groups, strict=True)
    ]
