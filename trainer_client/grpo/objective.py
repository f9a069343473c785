"""The clipped objective of MicroCoder-GRPO: a higher upper bound, averaged over tokens, without KL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

CLIP_LOW = 0.2
CLIP_HIGH = 0.28
"""Those of DAPO (arXiv 2503.14476, section 3.1)."""


@dataclass(frozen=True, slots=True)
class ClippedLoss:
    """``loss``, a scalar with its gradient, and over the same tokens the shares whose gradient the bounds cut."""

    loss: Tensor
    clipped_low: Tensor
    """Share of tokens with a negative advantage whose ratio is below 1 - clip_low; a scalar without gradient."""
    clipped_high: Tensor
    """Share of tokens with a positive advantage whose ratio is above 1 + clip_high."""


def clipped_objective(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    clip_low: float = CLIP_LOW,
    clip_high: float = CLIP_HIGH,
    token_count: float | Tensor | None = None,
) -> ClippedLoss:
    """Return the loss -1/N sum_i sum_t min(rho_it A_i, clip(rho_it, 1 - clip_low, 1 + clip_high) A_i).

    rho_it is the ratio of the probabilities, N the number of tokens of the whole batch: every token weighs the same,
    as in DAPO (arXiv 2503.14476, equation 8), and there is no KL term (beta_0 = 0, arXiv 2603.07777). A sample whose
    advantage the truncation mask has set to 0 adds nothing to the sum and stays part of N, as in the paper's
    formula.

    Args:
        log_probs: (B, T), of the policy under training, at the sampling temperature; gradients flow here only.
        old_log_probs: (B, T), of the policy that sampled, at the same temperature.
        advantages: (B,), or (B, T).
        mask: (B, T), true (or 1) at tokens of the completion; what other places hold has no effect, NaN included.
        clip_low: how far below 1 the ratio counts.
        clip_high: how far above 1.
        token_count: N, where these are not all tokens of the batch (micro-batches, ranks): the losses of the parts
            then add up to the loss of the whole. By default the tokens of ``mask``.

    Raises:
        ValueError: shapes do not fit, a bound or the number of tokens is not positive.

    """
    keep = mask.bool()
    count = _checked_count(log_probs, old_log_probs, advantages, keep, token_count)
    if not 0 < clip_low <= 1 or not clip_high > 0:
        raise ValueError(f"clip_low must be in (0, 1] and clip_high above 0, not {clip_low} and {clip_high}")
    dtype = torch.promote_types(log_probs.dtype, torch.float32)
    weights = (advantages if advantages.dim() > 1 else advantages.unsqueeze(-1)).detach().to(dtype)
    weights = torch.where(keep, weights, 0.0)
    ratio = torch.where(keep, log_probs.to(dtype) - old_log_probs.detach().to(dtype), 0.0).exp()
    bounded = ratio.clamp(1 - clip_low, 1 + clip_high)
    gain = torch.minimum(ratio * weights, bounded * weights)
    low = (ratio < 1 - clip_low) & (weights < 0)
    high = (ratio > 1 + clip_high) & (weights > 0)
    return ClippedLoss(-gain.sum() / count, low.sum(dtype=dtype) / count, high.sum(dtype=dtype) / count)


def _checked_count(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    keep: Tensor,
    token_count: float | Tensor | None,
) -> float | Tensor:
    shape = log_probs.shape
    if len(shape) != 2 or old_log_probs.shape != shape or keep.shape != shape:  # noqa: PLR2004 -- (B, T)
        raise ValueError(
            "log_probs, old_log_probs and mask must all be (B, T), not "
            f"{tuple(shape)}, {tuple(old_log_probs.shape)} and {tuple(keep.shape)}"
        )
    if advantages.shape not in {shape, shape[:1]}:
        raise ValueError(f"advantages must be (B,) or (B, T), not {tuple(advantages.shape)}")
    count = keep.sum() if token_count is None else token_count
    if not count > 0:
        raise ValueError("the number of tokens must be positive: mask, or token_count")
    return count
