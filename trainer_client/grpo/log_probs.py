"""Log-probabilities of the policy that sampled: at its temperature."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def scaled_log_probs(logits: Tensor, ids: Tensor, temperature: float) -> Tensor:
    """Return log softmax(logits / T)[ids], the log-probabilities under pi^T.

    Both policies of the objective are those of the sampling temperature (pi^{T(D)}, arXiv 2603.07777): where the
    loss takes them at another temperature than the sampler, their ratio is that of two policies neither of which
    wrote the completion.

    Args:
        logits: (B, T, V), ``logits[:, t]`` predicts ``ids[:, t]``.
        ids: (B, T), token ids.
        temperature: of the sampling, above 0.

    Returns:
        (B, T), in float32 at least; gradients flow to ``logits``.

    Raises:
        ValueError: shapes do not fit, or the temperature is not above 0.

    """
    if logits.dim() != 3 or ids.shape != logits.shape[:2]:  # noqa: PLR2004 -- (B, T, V)
        raise ValueError(
            f"logits must be (B, T, V) and ids (B, T), not {tuple(logits.shape)} and {tuple(ids.shape)}"
        )
    if not (math.isfinite(temperature) and temperature > 0):
        raise ValueError(f"temperature must be above 0, not {temperature}")
    scaled = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    chosen = scaled.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    # Not log_softmax and then gather: the normaliser alone needs no second tensor of (B, T, V).
    return chosen - scaled.logsumexp(dim=-1)
