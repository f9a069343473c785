"""OpenRLHF's reward function: ``--reward.remote_url openrlhf_reward.py``; labels are problems."""

from trainer_client.adapters.openrlhf import OpenRLHFReward
from trainer_client.examples.sums import PROBLEM, RIGHT, WRONG

reward_func = OpenRLHFReward("http://127.0.0.1:8000")

if __name__ == "__main__":
    for text in (RIGHT, WRONG):
        print(reward_func([f"Add.\n{text}"], ["Add.\n"], [PROBLEM]))
