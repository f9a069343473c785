"""slime: ``--custom-rm-path`` per sample or, with ``--group-rm``, per group.

slime's way to leave a sample out of the loss is ``remove_sample``; it still counts in its group's mean. A whole
group is therefore given the mean of its judged samples there, which leaves mean and order as they are. Where samples
are scored one by one, ``post_process_rewards`` (``--custom-reward-post-process-path``) does the normalisation
without them.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any, Protocol

from trainer_client.adapters.batched import BatchedReward
from trainer_client.outcome import outcome_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.wire import Judgement

METADATA_KEY = "evaluator"
# What slime itself adds to a deviation before it divides.
EPSILON = 1e-6
NORMALISED = frozenset({"grpo", "gspo", "cispo", "reinforce_plus_plus_baseline"})
DIVIDED = frozenset({"grpo", "gspo", "cispo"})


class Sample(Protocol):
    """The fields of slime's ``Sample`` that are used."""

    response: str
    label: str | None
    metadata: dict[str, Any]
    remove_sample: bool
    group_index: int | None
    reward: float | dict[str, Any] | None


class SlimeReward(BatchedReward):
    """``label`` of a sample is the contract's problem as JSON text; its outcome goes into ``metadata``."""

    async def sample(self, args: Any, sample: Sample, **_: Any) -> float:
        """Return the reward of one sample; an unscorable one is removed from the loss, its reward 0.0."""
        del args
        judgement = (await self.judged(sample.response, sample.label or ""))[0]
        noted = self._noted(sample, judgement)
        return 0.0 if noted is None else noted

    async def group(self, args: Any, samples: Sequence[Sample], **_: Any) -> list[float]:
        """Return the rewards of a group; unscorable ones are removed and get the mean of the others."""
        del args
        completions = [sample.response for sample in samples]
        judgements = await self.client.judge(completions, [sample.label or "" for sample in samples])
        rewards = [
            self._noted(sample, judgement) for sample, judgement in zip(samples, judgements, strict=True)
        ]
        mean = _mean(rewards)
        return [mean if reward is None else reward for reward in rewards]

    def _noted(self, sample: Sample, judgement: Judgement) -> float | None:
        sample.metadata = {**(sample.metadata or {}), METADATA_KEY: dict(outcome_of(judgement))}
        if judgement.reward is None:
            sample.remove_sample = True
        return self.client.reward_of(judgement)


def post_process_rewards(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """Return raw and normalised rewards as slime does, unscorable samples left out of mean and deviation.

    Groups are those of ``group_index``. A_i = (r_i - mean) / (std + 1e-6) over the judged samples of a group, 0 for
    the others; ``rewards_normalization``, ``grpo_std_normalization`` and ``advantage_estimator`` of ``args`` hold.
    """
    flat: list[Any] = [one for entry in samples for one in (entry if isinstance(entry, list) else [entry])]
    judged = [None if _left_out(sample) else float(sample.get_reward_value(args)) for sample in flat]
    groups: dict[Any, list[int]] = {}
    for index, sample in enumerate(flat):
        groups.setdefault(sample.group_index, []).append(index)
    raw, normalised = [0.0] * len(flat), [0.0] * len(flat)
    centred = args.rewards_normalization and args.advantage_estimator in NORMALISED
    divided = args.grpo_std_normalization and args.advantage_estimator in DIVIDED
    for members in groups.values():
        rewards = [judged[index] for index in members]
        mean, deviation = _mean(rewards), _deviation(rewards)
        for index, reward in zip(members, rewards, strict=True):
            raw[index] = mean if reward is None else reward
            normalised[index] = raw[index] - mean if centred else raw[index]
            if centred and divided:
                normalised[index] /= deviation + EPSILON
    return raw, normalised


def _left_out(sample: Sample) -> bool:
    outcome = (sample.metadata or {}).get(METADATA_KEY)
    return bool(outcome and outcome["unscorable"])


def _mean(rewards: Sequence[float | None]) -> float:
    judged = [reward for reward in rewards if reward is not None]
    return statistics.fmean(judged) if judged else 0.0


def _deviation(rewards: Sequence[float | None]) -> float:
    """Return the sample deviation of what was judged, as ``torch.std`` computes it; 0 of fewer than two."""
    judged = [reward for reward in rewards if reward is not None]
    return statistics.stdev(judged) if len(judged) > 1 else 0.0
