"""MicroCoder-GRPO in verl's shapes: rows by keys in a queue, and a policy loss by parts of the batch."""

from __future__ import annotations

import math
import statistics
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="verl's rows are tensors")

import torch

from tests.grpo.verl_parts import HAS_VERL, LOSSES, Batch, Config, Queue, install, trainer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

EOS = 9
CUT, ENDED, SHORT = [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, EOS], [1, 2, EOS]
LOOPING = [1, 2, 3, 4, 3, 4]


def row(
    ids: Sequence[int],
    reward: float,
    verdict: str | None = "WA",
    *,
    masked_from: int | None = None,
    padding: bool = False,
) -> dict[str, Any]:
    """Return a row as verl's agent loop puts it: the reward at the last token; a turn of a tool is not learnt."""
    scores = torch.zeros(len(ids))
    scores[-1] = reward
    learnt = torch.ones(len(ids), dtype=torch.int64)
    if masked_from is not None:
        learnt[masked_from:] = 0
    information = {} if verdict is None else {"verdict": verdict}
    return {
        "uid": "unused",
        "responses": torch.tensor(ids),
        "response_mask": learnt,
        "rm_scores": scores,
        "extra_fields": {"reward_extra_info": information},
        "tag": {"is_padding": True} if padding else {},
    }


ROWS = {
    # One prompt: a cut one that is right is masked; ended at the limit, looping or wrong ones are not.
    "a_0_0": row(CUT, 1.0, "AC"),
    "a_1_0": row(ENDED, 1.0, "AC"),
    "a_2_0": row(LOOPING, 1.0, "AC"),
    "a_3_0": row(CUT, 0.0, "WA"),
    # Another one, of which verl has dropped what nobody could judge; with a turn of a tool.
    "b_x_0_0": row(SHORT, 1.0, "AC", masked_from=2),
    "b_x_2_0": row([7], 0.0, "CE"),
    # One of two outputs in a session: the last one's reward is the session's, and it counts once.
    "c_0_0": row([4, 5], 0.25, "WA"),
    "c_0_1": row([4, 5, EOS], 0.5, "WA"),
    "c_1_0": row([4, EOS], 0.0, "WA"),
    # Alone in its group, as all others were dropped.
    "d_3_0": row(SHORT, 1.0, "AC"),
    "pad_0_0": row([EOS], 0.0, None, masked_from=0, padding=True),
}
RIGHT_OF_FOUR = (1 - 0.75) / (statistics.stdev([1, 1, 1, 0]) + 1e-4)
OF_TWO = 0.5 / (statistics.stdev([1, 0]) + 1e-4)
OF_TWO_HALVES = 0.25 / (statistics.stdev([0.5, 0]) + 1e-4)
EXPECTED = {
    "a_0_0": [0.0] * 6,
    "a_1_0": [RIGHT_OF_FOUR] * 6,
    "a_2_0": [RIGHT_OF_FOUR] * 6,
    "a_3_0": [-3 * RIGHT_OF_FOUR] * 6,
    "b_x_0_0": [OF_TWO, OF_TWO, 0.0],
    "b_x_2_0": [-OF_TWO],
    "c_0_0": [OF_TWO_HALVES] * 2,
    "c_0_1": [OF_TWO_HALVES] * 3,
    "c_1_0": [-OF_TWO_HALVES] * 2,
    "d_3_0": [0.0] * 3,
    "pad_0_0": [0.0],
}


def batch_of(rows: dict[str, dict[str, Any]]) -> Batch:
    return Batch(list(rows), [one["tag"] for one in rows.values()])


@pytest.fixture
def queue() -> Queue:
    return Queue({key: dict(one, uid=key.rsplit("_", 2)[0]) for key, one in ROWS.items()})


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, queue: Queue) -> dict[str, Any]:
    return install(monkeypatch, queue)


def test_rows_get_masked_group_advantages(parts: dict[str, Any], queue: Queue) -> None:
    metrics: dict[str, Any] = {}
    trainer = trainer_of(parts["trainer"], EOS)
    returned = trainer._compute_advantage(batch_of(queue.rows), metrics)
    assert returned.keys == list(ROWS)
    for key, expected in EXPECTED.items():
        assert queue.rows[key]["advantages"].tolist() == pytest.approx(expected, rel=1e-5), key
        assert queue.rows[key]["advantages"].dtype == torch.float32
    assert metrics["microcoder/truncated_share"] == pytest.approx(3 / 10)
    assert metrics["microcoder/eligible_share"] == pytest.approx(1 / 10)
    assert metrics["microcoder/masked_share"] == pytest.approx(1 / 10)


def test_without_division_by_the_deviation(parts: dict[str, Any], queue: Queue) -> None:
    trainer = trainer_of(
        parts["trainer"],
        EOS,
        algorithm={"norm_adv_by_std_in_grpo": False},
        trainer={"microcoder": {"rho": 0.0}},
    )
    trainer.trainer_mode = "microcoder"
    trainer._compute_advantage(batch_of(queue.rows), {})
    assert queue.rows["a_0_0"]["advantages"].tolist() == [0.25] * 6
    assert queue.rows["a_3_0"]["advantages"].tolist() == [-0.75] * 6


def masked(parts: dict[str, Any], queue: Queue, step: int, part: int = 0, **settings: Any) -> list[bool]:
    queue.rows = {
        f"p{uid}_{session}_0": row(CUT, float(session), "AC" if session else "WA") | {"uid": f"p{uid}"}
        for uid in range(60)
        for session in range(2)
    }
    trainer = trainer_of(
        parts["trainer"], EOS, trainer={"microcoder": {"rho": 0.5, "repeat_tokens": 2, **settings}}
    )
    trainer.global_steps, trainer.local_trigger_step = step, part
    trainer._compute_advantage(batch_of(queue.rows), {})
    return [not one["advantages"].any() for key, one in queue.rows.items() if "_1_" in key]


def test_the_draw_of_a_step_is_that_of_a_resumed_run(parts: dict[str, Any], queue: Queue) -> None:
    first = masked(parts, queue, step=7)
    assert 10 < sum(first) < 50
    assert masked(parts, queue, step=7) == first
    assert masked(parts, queue, step=8) != first
    assert masked(parts, queue, step=7, part=1) != first
    assert masked(parts, queue, step=7, seed=1) != first


def test_verl_takes_it_for_its_synchronous_trainer(parts: dict[str, Any]) -> None:
    """By any other name verl would use the queue of its asynchronous trainers."""
    trainer = trainer_of(parts["trainer"], EOS)
    assert trainer.config.trainer.v1.trainer_mode == "microcoder"
    assert trainer.trainer_mode == "sync"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"algorithm": {"adv_estimator": "gae"}}, "adv_estimator must be grpo", id="estimator"),
        pytest.param({"algorithm": {"use_kl_in_reward": True}}, "use_kl_in_reward false", id="KL"),
        pytest.param({"trainer": {"microcoder": {"rho": 2}}}, "rho must be in", id="rho"),
        pytest.param({"trainer": {"microcoder": {"roh": 0.3}}}, "roh", id="misspelt"),
        pytest.param({"trainer": {"microcoder": {"non_incorrect": "x"}}}, "NonIncorrect", id="reading"),
    ],
)
def test_settings_are_checked_before_training(
    parts: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        trainer_of(parts["trainer"], EOS, **changes)


def test_rewards_from_elsewhere_are_refused(parts: dict[str, Any], queue: Queue) -> None:
    queue.rows["a_1_0"]["extra_fields"] = {"reward_extra_info": {"acc": 1.0}}
    with pytest.raises(ValueError, match="has no verdict"):
        trainer_of(parts["trainer"], EOS)._compute_advantage(batch_of(queue.rows), {})


def made(seed: int, rows: int = 8, length: int = 5) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    old = -3 * torch.rand(rows, length, generator=generator, dtype=torch.float64)
    new = old + 0.4 * torch.randn(rows, length, generator=generator, dtype=torch.float64)
    advantages = torch.randn(rows, 1, generator=generator, dtype=torch.float64).expand(rows, length)
    mask = torch.arange(length) < torch.randint(1, length + 1, (rows, 1), generator=generator)
    return [old, new, advantages, mask]


def settings(**info: Any) -> Any:
    return SimpleNamespace(clip_ratio_low=0.2, clip_ratio_high=0.28, global_batch_info=info)


def straightforward(
    old: torch.Tensor, new: torch.Tensor, advantages: torch.Tensor, mask: torch.Tensor
) -> float:
    total = 0.0
    for place in mask.nonzero().tolist():
        at = tuple(place)
        ratio, advantage = math.exp((new[at] - old[at]).item()), advantages[at].item()
        total -= min(ratio * advantage, min(max(ratio, 0.8), 1.28) * advantage)
    return total / int(mask.sum())


def test_the_loss_is_the_objective(parts: dict[str, Any]) -> None:
    for seed in range(5):
        loss, metrics = parts["loss"](*made(seed), loss_agg_mode="token-mean", config=settings())
        assert loss.item() == pytest.approx(straightforward(*made(seed)))
        assert set(metrics) == {"actor/pg_clipfrac", "actor/pg_clipfrac_lower"}


def test_ranks_and_micro_batches_add_up_to_the_batch(parts: dict[str, Any]) -> None:
    """Two ranks, whose gradients verl averages, with two micro-batches each, whose gradients it sums."""
    whole = made(11)
    config = settings(
        dp_size=2, batch_num_tokens=int(whole[3].sum()), global_batch_size=8, loss_scale_factor=None
    )
    quarters = [[tensor[start : start + 2] for tensor in whole] for start in range(0, 8, 2)]
    losses = [parts["loss"](*quarter, config=config)[0].item() for quarter in quarters]
    assert sum(losses) / 2 == pytest.approx(straightforward(*whole))


def test_weights_of_the_rollout_correction_weigh_tokens(parts: dict[str, Any]) -> None:
    old, new, advantages, mask = made(12)
    weights = torch.rand(8, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weighted, _ = parts["loss"](old, new, advantages, mask, config=settings(), rollout_is_weights=weights)
    assert weighted.item() == pytest.approx(straightforward(old, new, advantages * weights, mask))


def test_another_average_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be token-mean, not seq-mean-token-mean"):
        parts["loss"](*made(0), loss_agg_mode="seq-mean-token-mean", config=settings())


@pytest.mark.skipif(not HAS_VERL, reason="compares with verl itself")
def test_it_differs_from_verls_own_loss_by_the_third_bound_only(parts: dict[str, Any]) -> None:
    vanilla = import_module(LOSSES).get_policy_loss_fn("vanilla")
    for seed in range(5):
        config = Config(
            clip_ratio=0.2, clip_ratio_low=0.2, clip_ratio_high=0.28, clip_ratio_c=1e9, global_batch_info={}
        )
        expected, _ = vanilla(*made(seed), loss_agg_mode="token-mean", config=config)
        assert parts["loss"](*made(seed), config=config)[0].item() == pytest.approx(expected.item())
