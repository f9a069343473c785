"""slime: rewards become advantages, and the truncation mask takes some out; ``--custom-reward-post-process-path``.

A file of the user's names the settings::

    post_process = MicroCoderPostProcess(rho=0.3, seed=0)

and ``--custom-reward-post-process-path file.post_process`` points at it. The verdicts are those that
``trainer_client.adapters.slime`` has left in the samples' metadata. slime takes the clip by ``--eps-clip`` and
``--eps-clip-high``, needs no KL (``--kl-loss-coef 0``), and uses ``--rollout-temperature`` for log-probabilities too.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

import torch

from trainer_client.adapters.slime import METADATA_KEY
from trainer_client.grpo.advantages import advantages_by_group
from trainer_client.grpo.repeats import REPEAT_TOKENS
from trainer_client.grpo.truncation_mask import NonIncorrect, TruncationMask

if TYPE_CHECKING:
    from collections.abc import Sequence

TRUNCATED = "truncated"
"""The value of slime's ``Sample.Status`` for completions that were cut off."""


class MicroCoderPostProcess:
    """A function of ``args`` and samples, as slime calls it; a rollout's draw depends on the seed and its samples."""

    def __init__(
        self,
        rho: float = 0.3,
        repeat_tokens: int = REPEAT_TOKENS,
        non_incorrect: NonIncorrect = NonIncorrect.CORRECT,
        seed: int = 0,
    ) -> None:
        # slime's samples say themselves whether they were cut off: the length is never asked.
        self._mask = TruncationMask(1, rho, repeat_tokens, non_incorrect, seed)

    def __call__(self, args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
        """Return raw rewards and masked advantages, in the order of ``samples`` (groups flattened).

        The advantage of a sample that nobody could judge is 0, and its raw reward, which slime takes for statistics
        only, the mean of its group's others (0 without any). What the mask decided goes into each sample's metadata
        as ``masked``.

        Raises:
            ValueError: slime is not set to GRPO with normalised rewards, or a sample has no outcome of the
                service, no index or no group.

        """
        if args.advantage_estimator != "grpo" or not args.rewards_normalization:
            raise ValueError(
                "slime needs --advantage-estimator grpo, without --disable-rewards-normalization"
            )
        flat: list[Any] = [
            one for entry in samples for one in (entry if isinstance(entry, list) else [entry])
        ]
        outcomes = [_outcome(sample) for sample in flat]
        rewards = [
            math.nan if outcome["unscorable"] else float(sample.get_reward_value(args))
            for sample, outcome in zip(flat, outcomes, strict=True)
        ]
        advantages = advantages_by_group(
            torch.tensor(rewards, dtype=torch.float64),
            [sample.group_index for sample in flat],
            scale=args.grpo_std_normalization,
        )
        # slime counts samples over the whole run and saves the count: a resumed run draws the same.
        self._mask.reseed(min((sample.index for sample in flat), default=0))
        draw = self._mask.draw(
            [sample.tokens[len(sample.tokens) - sample.response_length :] for sample in flat],
            [outcome["verdict"] for outcome in outcomes],
            [sample.status.value == TRUNCATED for sample in flat],
        )
        for outcome, masked in zip(outcomes, draw.masked.tolist(), strict=True):
            outcome["masked"] = masked
        return _filled(rewards, flat), advantages.masked_fill(draw.masked, 0.0).tolist()


def _filled(rewards: Sequence[float], samples: Sequence[Any]) -> list[float]:
    judged: dict[Any, list[float]] = {sample.group_index: [] for sample in samples}
    for reward, sample in zip(rewards, samples, strict=True):
        if not math.isnan(reward):
            judged[sample.group_index].append(reward)
    means = {group: statistics.fmean(values) if values else 0.0 for group, values in judged.items()}
    return [
        means[sample.group_index] if math.isnan(reward) else reward
        for reward, sample in zip(rewards, samples, strict=True)
    ]


def _outcome(sample: Any) -> dict[str, Any]:
    if sample.index is None or sample.group_index is None:
        raise ValueError("a sample has no index or no group_index: without them it has no group and no draw")
    outcome: dict[str, Any] | None = (sample.metadata or {}).get(METADATA_KEY)
    if outcome is None:
        raise ValueError(f"a sample's metadata has no {METADATA_KEY!r}: rewards must come from SlimeReward")
    return outcome
