"""The reward manager for verl, on the shapes that verl hands over: verl's own base class where it is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="make test-trainers installs torch")

import torch

from tests.trainer_client.live import PROBLEM, RIGHT, WRONG, serving
from trainer_client import UnscorableError, problem_text
from trainer_client.adapters.verl import VerlReward

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = "verl.experimental.reward_loop.reward_manager.base"
EOS, PAD = 1, 0
WORDS = {2: RIGHT, 3: WRONG}
# Where verl is installed, what it imports announces its own changes.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as (_, address):
        yield address


class StandIn:
    """What verl 0.9's RewardManagerBase offers its subclasses."""

    def __init__(self, config: Any, tokenizer: Any, compute_score: Any) -> None:
        self.config, self.tokenizer, self.compute_score = config, tokenizer, compute_score
        self.loop = asyncio.get_running_loop()


@pytest.fixture
def manager_class(monkeypatch: pytest.MonkeyPatch) -> Any:
    if importlib.util.find_spec("verl") is None:
        parts = BASE.split(".")
        for end in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:end]), ModuleType(".".join(parts[:end])))
        sys.modules[BASE].RewardManagerBase = StandIn  # type: ignore[attr-defined]
    from trainer_client.adapters.verl_manager import EvaluatorRewardManager

    return EvaluatorRewardManager


class Rollout(list[Any]):
    """A DataProto of one sequence: slices to itself, and its item has the tensors of a padded rollout."""

    def __init__(self, ids: list[int], length: int) -> None:
        padded = ids + [PAD] * (length - len(ids))
        prompt = [9, 9]
        mask = [1] * (len(prompt) + len(ids)) + [0] * (length - len(ids))
        batch = {"responses": torch.tensor(padded), "attention_mask": torch.tensor(mask)}
        fields = {"reward_model": {"ground_truth": problem_text(PROBLEM)}, "data_source": "sums"}
        super().__init__([SimpleNamespace(batch=batch, non_tensor_batch=fields)])


def run(manager_class: Any, url: str, rollout: Rollout, **settings: Any) -> dict[str, Any]:
    def decode(ids: list[int], *, skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return "".join(WORDS.get(token, "") for token in ids)

    async def main() -> dict[str, Any]:
        evaluator = VerlReward(url, **settings)
        manager = type("Manager", (manager_class,), {"evaluator": evaluator})(
            None, SimpleNamespace(decode=decode, eos_token_id=EOS), None
        )
        try:
            result: dict[str, Any] = await manager.run_single(rollout)
        finally:
            await evaluator.aclose()
        return result

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("ids", "score", "tokens", "truncated"),
    [
        pytest.param([2, EOS], 1.0, 2, False, id="ended early"),
        pytest.param([9, 3, EOS], 0.0, 3, False, id="ended at the limit"),
        pytest.param([9, 9, 2], 1.0, 3, True, id="cut off"),
    ],
)
def test_a_rollout_is_judged_and_what_was_cut_off_is_known(
    manager_class: Any, url: str, ids: list[int], score: float, tokens: int, *, truncated: bool
) -> None:
    result = run(manager_class, url, Rollout(ids, 3))
    assert result["reward_score"] == score
    information = result["reward_extra_info"]
    assert (information["response_tokens"], information["truncated"]) == (tokens, truncated)
    assert information["verdict"] == ("AC" if score else "WA")


def test_a_rollout_that_nobody_could_judge_raises(manager_class: Any) -> None:
    with pytest.raises(UnscorableError):
        run(manager_class, "http://127.0.0.1:9", Rollout([2, EOS], 3), max_deadline_s=0.3)
