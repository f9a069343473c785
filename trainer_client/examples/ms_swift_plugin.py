"""ms-swift's plugin: ``--external_plugins ms_swift_plugin.py --reward_funcs evaluator``.

The data set's column ``problem`` holds problems.
"""

from importlib.util import find_spec
from typing import Any

from trainer_client.adapters.ms_swift import MsSwiftReward
from trainer_client.examples.sums import PROBLEM, RIGHT, WRONG

if find_spec("swift"):
    from swift.rewards import ORM, orms
else:
    ORM, orms = object, {}


class Evaluator(ORM):
    """The reward as ms-swift makes it."""

    def __init__(self, args: Any = None, **_: Any) -> None:
        """Name the service."""
        self.args = args
        self.reward = MsSwiftReward("http://127.0.0.1:8000")

    def __call__(self, completions: list[Any], **columns: Any) -> list[float]:
        """Return rewards."""
        return self.reward(completions, **columns)


orms["evaluator"] = Evaluator

if __name__ == "__main__":
    print(orms["evaluator"]()([RIGHT, WRONG], problem=[PROBLEM, PROBLEM]))
