"""Group advantages against plain loops in float64."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="advantages are tensors")

import torch

from trainer_client.grpo.advantages import advantages_by_group, group_advantages

if TYPE_CHECKING:
    from collections.abc import Sequence

NAN = math.nan
REWARD = st.one_of(st.just(NAN), st.sampled_from([0.0, 1.0]), st.floats(0, 1, width=32))


def straightforward(rewards: Sequence[float], epsilon: float, *, scale: bool) -> list[float]:
    judged = [reward for reward in rewards if not math.isnan(reward)]
    if not judged or min(judged) == max(judged):
        return [0.0] * len(rewards)
    mean = math.fsum(judged) / len(judged)
    divisor = statistics.stdev(judged) + epsilon if scale else 1.0
    return [0.0 if math.isnan(reward) else (reward - mean) / divisor for reward in rewards]


@settings(deadline=None)
@given(
    groups=st.integers(1, 8).flatmap(
        lambda size: st.lists(st.lists(REWARD, min_size=size, max_size=size), min_size=1, max_size=5)
    ),
    epsilon=st.sampled_from([1e-6, 1e-4, 0.5]),
    scale=st.booleans(),
)
def test_agrees_with_plain_loops(groups: list[list[float]], epsilon: float, *, scale: bool) -> None:
    rewards = torch.tensor([reward for group in groups for reward in group], dtype=torch.float64)
    advantages = group_advantages(rewards, len(groups[0]), epsilon=epsilon, scale=scale)
    expected = [one for group in groups for one in straightforward(group, epsilon, scale=scale)]
    assert advantages.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_one_that_nobody_could_judge_is_out_of_mean_and_deviation() -> None:
    """Scored as 0 it would count as a fourth wrong answer, be punished, and raise the reward of the right one."""
    left_out = group_advantages(torch.tensor([1, 0, NAN, 0]), 4)
    assert left_out.tolist() == pytest.approx([1.1545, -0.5773, 0, -0.5773], abs=1e-3)
    as_wrong = group_advantages(torch.tensor([1.0, 0, 0, 0]), 4)
    assert as_wrong.tolist() == pytest.approx([1.5, -0.5, -0.5, -0.5], abs=1e-3)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1, width=32), min_size=2, max_size=7), st.integers(0, 7))
def test_the_others_get_what_a_group_without_it_gets(rewards: list[float], place: int) -> None:
    place = min(place, len(rewards))
    with_one = group_advantages(
        torch.tensor([*rewards[:place], NAN, *rewards[place:]]).double(), len(rewards) + 1
    )
    without = group_advantages(torch.tensor(rewards).double(), len(rewards))
    assert with_one[place] == 0
    assert torch.allclose(torch.cat([with_one[:place], with_one[place + 1 :]]), without)


@pytest.mark.parametrize("rewards", [[NAN] * 4, [NAN, NAN, 1.0, NAN], [NAN, 0.0, NAN, NAN]])
def test_whoever_has_nobody_to_compare_with_has_no_advantage(rewards: list[float]) -> None:
    assert group_advantages(torch.tensor(rewards), 4).tolist() == [0.0] * 4


@pytest.mark.parametrize("reward", [0.0, 1.0, 0.1, 0.3, 1 / 3, 0.7])
@pytest.mark.parametrize("size", [2, 3, 7, 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equal_rewards_give_exactly_none(reward: float, size: int, dtype: torch.dtype) -> None:
    """A mean in floating point need not equal what it is the mean of; the difference is no advantage."""
    rewards = torch.full((size,), reward, dtype=dtype)
    assert group_advantages(rewards, size, epsilon=1e-12).tolist() == [0.0] * size


def test_type_and_order_stay() -> None:
    advantages = group_advantages(torch.tensor([0.0, 1.0, 1.0, 0.0]), 2, scale=False)
    assert advantages.dtype == torch.float32
    assert advantages.tolist() == [-0.5, 0.5, 0.5, -0.5]


@pytest.mark.parametrize(
    ("rewards", "size", "epsilon", "message"),
    [
        pytest.param(torch.ones(5), 2, 1e-4, "5 do not make whole groups of group_size=2", id="half a group"),
        pytest.param(torch.ones(4), 0, 1e-4, "group_size=0", id="no size"),
        pytest.param(torch.ones(2, 2), 2, 1e-4, "of shape \\(B,\\)", id="shape"),
        pytest.param(torch.ones(4, dtype=torch.int64), 2, 1e-4, "floating-point", id="integers"),
        pytest.param(torch.tensor([1.0, math.inf]), 2, 1e-4, "must be finite", id="infinite"),
        pytest.param(torch.ones(4), 2, 0.0, "epsilon must be positive", id="epsilon"),
    ],
)
def test_bad_input_is_refused(rewards: torch.Tensor, size: int, epsilon: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        group_advantages(rewards, size, epsilon=epsilon)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), REWARD), max_size=16), st.booleans())
def test_groups_may_lie_mixed_and_differ_in_size(samples: list[tuple[int, float]], scale: bool) -> None:  # noqa: FBT001
    rewards = torch.tensor([reward for _, reward in samples], dtype=torch.float64)
    advantages = advantages_by_group(rewards, [key for key, _ in samples], scale=scale).tolist()
    for key in {key for key, _ in samples}:
        members = [place for place, (other, _) in enumerate(samples) if other == key]
        expected = straightforward([samples[place][1] for place in members], 1e-4, scale=scale)
        assert [advantages[place] for place in members] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_every_reward_needs_a_group() -> None:
    with pytest.raises(ValueError, match="3 keys for 2 rewards"):
        advantages_by_group(torch.ones(2), [1, 2, 3])
