"""verl's reward function.

::

    reward.custom_reward_function.path=verl_reward.py
    reward.custom_reward_function.name=compute_score

A row has the problem as ``reward_model.ground_truth``.
"""

import asyncio

from trainer_client.adapters.verl import VerlReward
from trainer_client.examples.sums import PROBLEM, RIGHT, WRONG

reward = VerlReward("http://127.0.0.1:8000")
compute_score = reward.compute_score


async def main() -> None:
    """Score two completions at once, as verl's reward loop does."""
    scores = await asyncio.gather(*(compute_score("sums", text, PROBLEM, {}) for text in (RIGHT, WRONG)))
    for score in scores:
        print(score)
    await reward.aclose()


if __name__ == "__main__":
    asyncio.run(main())
