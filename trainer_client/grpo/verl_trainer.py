"""verl: its synchronous trainer with advantages and truncation mask of MicroCoder-GRPO; verl 0.9, which it imports.

::

    export VERL_USE_EXTERNAL_MODULES=trainer_client.grpo.verl_trainer
    trainer.v1.trainer_mode=microcoder
    +trainer.microcoder.rho=0.3          # and repeat_tokens, non_incorrect, seed

The verdicts are those of ``trainer_client.adapters.verl`` (``VerlReward`` or a reward manager). Clip and KL are verl's
settings: ``verl_loss`` has the objective without verl's third bound. The temperature is one for sampling and
log-probabilities there; a stage ends by a restart with ``trainer.resume_mode=auto`` and the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import transfer_queue
from tensordict import TensorDict
from verl.trainer.ppo.v1 import PPOTrainerSync, register_trainer

from trainer_client.grpo.advantages import advantages_by_group
from trainer_client.grpo.repeats import REPEAT_TOKENS
from trainer_client.grpo.truncation_mask import NonIncorrect, TruncationMask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

FIELDS = ["rm_scores", "responses", "response_mask", "extra_fields"]


@register_trainer("microcoder")
class MicroCoderTrainer(PPOTrainerSync):
    """Replaces the advantages that verl computed; everything else is verl's."""

    def __init__(self, config: Any) -> None:
        """Set up.

        Raises:
            ValueError: the advantage estimator is not ``grpo``, KL goes into the reward, or a setting of
                ``trainer.microcoder`` is out of range.
            TypeError: a setting of ``trainer.microcoder`` is unknown.

        """
        if config.algorithm.adv_estimator != "grpo" or config.algorithm.use_kl_in_reward:
            raise ValueError("algorithm: adv_estimator must be grpo and use_kl_in_reward false")
        self._scale = config.algorithm.get("norm_adv_by_std_in_grpo", True)
        self._mask = _mask(
            config.actor_rollout_ref.rollout.response_length, **config.trainer.get("microcoder", {})
        )
        super().__init__(config)

    @property
    def trainer_mode(self) -> str:
        """What verl asks to tell its own trainers apart: every name but this one stands for an asynchronous one."""
        return "sync"

    @trainer_mode.setter
    def trainer_mode(self, value: str) -> None:
        """Ignore the registered name, which verl stores here."""

    def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:
        batch = super()._compute_advantage(batch, metrics)
        data = transfer_queue.kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=FIELDS
        )
        real = [not tag.get("is_padding", False) for tag in batch.tags]
        verdicts = [
            _verdict(fields) if is_real else None
            for fields, is_real in zip(_objects(data["extra_fields"]), real, strict=True)
        ]
        # The step and the part of it: what a resumed run knows, as verl's checkpoints hold nothing of ours.
        self._mask.reseed(self.global_steps, self.local_trigger_step)
        self._mask.end_ids = frozenset({self.tokenizer.eos_token_id})
        draw = self._mask.draw([ids.tolist() for ids in data["responses"].unbind()], verdicts)
        for name in ("truncated", "eligible", "masked"):
            shares = getattr(draw, name)[torch.tensor(real)].double()
            metrics[f"microcoder/{name}_share"] = shares.mean().item()
        scores = torch.stack([row.sum().double() for row in data["rm_scores"].unbind()])
        advantages = _advantages(scores, batch.keys, scale=self._scale).masked_fill(draw.masked, 0.0)
        rows = [
            value * tokens.to(value.dtype).float()
            for value, tokens in zip(advantages, data["response_mask"].unbind(), strict=True)
        ]
        nested = torch.nested.as_nested_tensor(rows, layout=torch.jagged)
        return transfer_queue.kv_batch_put(
            keys=batch.keys,
            partition_id=batch.partition_id,
            fields=TensorDict({"advantages": nested}, batch_size=len(batch)),
        )


def _mask(
    max_length: int,
    rho: float = 0.3,
    repeat_tokens: int = REPEAT_TOKENS,
    non_incorrect: str = NonIncorrect.CORRECT,
    seed: int = 0,
) -> TruncationMask:
    """Return the mask of ``trainer.microcoder``'s settings; an unknown one is a TypeError that names it."""
    return TruncationMask(max_length, rho, repeat_tokens, NonIncorrect(non_incorrect), seed)


def _advantages(scores: Tensor, keys: Sequence[str], *, scale: bool) -> Tensor:
    """Return the advantages (B,) of rows by their keys, ``{uid}_{session}_{index}``.

    A session with several outputs counts once in its group, by its last one, and all its rows get the same.
    """
    parts = [key.rsplit("_", 2) for key in keys]
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for row, (uid, session, index) in enumerate(parts):
        last[uid, session] = max(last.get((uid, session), (-1, -1)), (int(index), row))
    rows = [row for _, row in last.values()]
    place = {session: position for position, session in enumerate(last)}
    advantages = advantages_by_group(scores[rows], [uid for uid, _ in last], scale=scale)
    return advantages[[place[uid, session] for uid, session, _ in parts]]


def _objects(column: Any) -> list[Any]:
    """Return a column that holds no tensors: by the queue's kind a list, a stack of tensordict's, or an array."""
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _verdict(extra_fields: Any) -> str:
    information = extra_fields.get("reward_extra_info", {})
    if "verdict" not in information:
        raise ValueError("reward_extra_info has no verdict: rewards must come from VerlReward or its manager")
    return str(information["verdict"])
