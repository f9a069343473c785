"""verl: a reward manager, for runs that want to know which completions were cut off; verl 0.9, which it imports.

A subclass that names the service is what ``reward.reward_manager`` (``source=importlib``) points at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

if TYPE_CHECKING:
    from trainer_client.adapters.verl import VerlReward


class EvaluatorRewardManager(RewardManagerBase):
    """Judges the text of a rollout and reports beside the outcome its length in tokens and whether it was cut off."""

    evaluator: ClassVar[VerlReward]
    """To be set by the subclass."""

    async def run_single(self, data: Any) -> dict[str, Any]:
        """Return ``reward_score`` and ``reward_extra_info`` of the last sequence of ``data``, a DataProto.

        Raises:
            UnscorableError: nobody could judge it; verl drops the trajectory.

        """
        item = data[-1:][0]
        response_ids = item.batch["responses"]
        length = int(item.batch["attention_mask"][-response_ids.shape[-1] :].sum())
        ids = response_ids[:length].tolist()
        text = await self.loop.run_in_executor(
            None, lambda: self.tokenizer.decode(ids, skip_special_tokens=True)
        )
        result = await self.evaluator.score(text, item.non_tensor_batch["reward_model"]["ground_truth"])
        ended = bool(ids) and ids[-1] == self.tokenizer.eos_token_id
        truncated = length == response_ids.shape[-1] and not ended
        information = {**result, "response_tokens": length, "truncated": truncated}
        return {"reward_score": result["score"], "reward_extra_info": information}
