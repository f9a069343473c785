"""slime's reward model; ``label`` of a sample is its problem.

::

    --group-rm --custom-rm-path slime_reward.group_rm

or, per sample,

::

    --custom-rm-path slime_reward.custom_rm
    --custom-reward-post-process-path trainer_client.adapters.slime.post_process_rewards
"""

import asyncio
from types import SimpleNamespace

from trainer_client.adapters.slime import SlimeReward
from trainer_client.examples.sums import PROBLEM, RIGHT, WRONG

reward = SlimeReward("http://127.0.0.1:8000")
custom_rm = reward.sample
group_rm = reward.group


async def main() -> None:
    """Score a group of two, as slime's rollout does."""
    group = [
        SimpleNamespace(
            response=text, label=PROBLEM, metadata={}, remove_sample=False, group_index=0, reward=None
        )
        for text in (RIGHT, WRONG)
    ]
    print(await group_rm(None, group))
    await reward.aclose()


if __name__ == "__main__":
    asyncio.run(main())
