"""Group advantages that leave unscorable samples out of the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from torch import Tensor


def group_advantages(
    rewards: Tensor, group_size: int, *, epsilon: float = 1e-4, scale: bool = True
) -> Tensor:
    """Return A_i = (r_i - mean) / (std + epsilon) over the scorable samples of each group.

    The advantage of GRPO (arXiv 2402.03300, section 4.1.2), which the paper takes over (arXiv 2603.07777) before it
    multiplies with the truncation mask. ``std`` is the sample deviation (divided by n - 1), as trainers compute it.
    ``epsilon`` keeps groups of equal rewards at 0. With ``scale=False`` only the mean is taken off.

    Args:
        rewards: (B,), floating point, the ``group_size`` completions of a prompt next to each other; NaN where
            nobody could judge. Such a sample is no part of mean and deviation, and its advantage is 0. So is that
            of the only scorable sample of a group: it has nothing to be better than.
        group_size: completions of one prompt.
        epsilon: added to the deviation.
        scale: divide by the deviation.

    Returns:
        (B,), of the type of ``rewards``, finite.

    Raises:
        ValueError: ``rewards`` has another shape or type, or an infinite value; a group is incomplete.

    """
    _check(rewards, group_size, epsilon)
    groups = rewards.reshape(-1, group_size)
    scorable = ~groups.isnan()
    count = scorable.sum(dim=1, keepdim=True)
    mean = groups.nan_to_num(nan=0.0).sum(dim=1, keepdim=True) / count.clamp(min=1)
    centred = torch.where(scorable, groups - mean, 0.0)
    # Rounding in the mean must not become an advantage of a group whose rewards are all equal.
    low = groups.nan_to_num(nan=torch.inf).amin(dim=1, keepdim=True)
    high = groups.nan_to_num(nan=-torch.inf).amax(dim=1, keepdim=True)
    centred = torch.where(low < high, centred, 0.0)
    if scale:
        variance = centred.square().sum(dim=1, keepdim=True) / (count - 1).clamp(min=1)
        centred = centred / (variance.sqrt() + epsilon)
    return centred.reshape(-1)


def advantages_by_group(
    rewards: Tensor, groups: Sequence[Hashable], *, epsilon: float = 1e-4, scale: bool = True
) -> Tensor:
    """Return the advantages of :func:`group_advantages` where groups may differ in size and lie mixed.

    Args:
        rewards: (B,), as there.
        groups: B keys, equal for the completions of one prompt.
        epsilon: as there.
        scale: as there.

    Raises:
        ValueError: as there, or the numbers of rewards and keys differ.

    """
    if len(groups) != len(rewards):
        raise ValueError(f"groups: {len(groups)} keys for {len(rewards)} rewards")
    members: dict[Hashable, list[int]] = {}
    for index, key in enumerate(groups):
        members.setdefault(key, []).append(index)
    size = max(map(len, members.values()), default=1)
    # Every group is filled up with samples that count for nothing.
    places = torch.tensor(
        [place for found in members.values() for place in (*found, *[-1] * (size - len(found)))],
        dtype=torch.long,
        device=rewards.device,
    )
    filled = places >= 0
    padded = torch.full((len(places),), torch.nan, dtype=rewards.dtype, device=rewards.device)
    padded[filled] = rewards[places[filled]]
    advantages = torch.empty_like(rewards)
    advantages[places[filled]] = group_advantages(padded, size, epsilon=epsilon, scale=scale)[filled]
    return advantages


def _check(rewards: Tensor, group_size: int, epsilon: float) -> None:
    if rewards.dim() != 1 or not rewards.is_floating_point():
        raise ValueError(
            f"rewards must be a floating-point tensor of shape (B,), not {rewards.dtype} of {tuple(rewards.shape)}"
        )
    if group_size < 1 or rewards.numel() % group_size:
        raise ValueError(f"rewards: {rewards.numel()} do not make whole groups of group_size={group_size}")
    if rewards.isinf().any():
        raise ValueError("rewards must be finite, or NaN where nobody could judge")
    if epsilon <= 0:
        raise ValueError(f"epsilon must be positive, not {epsilon}")
