"""verl: the objective of MicroCoder-GRPO as a policy loss; verl 0.9, which it imports.

::

    export VERL_USE_EXTERNAL_MODULES=trainer_client.grpo.verl_trainer,trainer_client.grpo.verl_loss
    actor_rollout_ref.actor.policy_loss.loss_mode=microcoder
    actor_rollout_ref.actor.clip_ratio_low=0.2
    actor_rollout_ref.actor.clip_ratio_high=0.28

verl's own loss differs by a third bound, on the loss of tokens with a negative advantage (``clip_ratio_c``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verl.trainer.ppo.core_algos import register_policy_loss

from trainer_client.grpo.objective import clipped_objective

if TYPE_CHECKING:
    from torch import Tensor


@register_policy_loss("microcoder")
def policy_loss(
    old_log_prob: Tensor,
    log_prob: Tensor,
    advantages: Tensor,
    response_mask: Tensor,
    loss_agg_mode: str = "token-mean",
    config: Any = None,
    rollout_is_weights: Tensor | None = None,
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of a micro-batch and the shares of clipped tokens; all tensors (B, T).

    verl's data-parallel ranks average their gradients, and its tokens are counted over the whole batch: the loss is
    scaled so that parts and ranks add up to the loss of the batch. Weights of verl's rollout correction weigh tokens.

    Raises:
        ValueError: ``loss_agg_mode`` is not ``token-mean``.

    """
    if loss_agg_mode != "token-mean":
        raise ValueError(f"loss_agg_mode must be token-mean, not {loss_agg_mode}")
    if rollout_is_weights is not None:
        advantages = advantages * rollout_is_weights
    info = config.global_batch_info
    ranks, tokens = info.get("dp_size", 1), info.get("batch_num_tokens")
    result = clipped_objective(
        log_prob,
        old_log_prob,
        advantages,
        response_mask,
        clip_low=config.clip_ratio_low,
        clip_high=config.clip_ratio_high,
        token_count=None if tokens is None else tokens / ranks,
    )
    return result.loss, {
        "actor/pg_clipfrac_lower": result.clipped_low.item(),
        "actor/pg_clipfrac": result.clipped_high.item(),
    }
