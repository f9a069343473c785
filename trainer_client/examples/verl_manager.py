"""verl's reward manager, which also knows what was cut off; needs verl.

::

    reward.reward_manager.source=importlib
    reward.reward_manager.name=SumsRewardManager
    reward.reward_manager.module.path=verl_manager.py
"""

from trainer_client.adapters.verl import VerlReward
from trainer_client.adapters.verl_manager import EvaluatorRewardManager


class SumsRewardManager(EvaluatorRewardManager):
    """Names the service."""

    evaluator = VerlReward("http://127.0.0.1:8000")


if __name__ == "__main__":
    print(SumsRewardManager.__mro__)
