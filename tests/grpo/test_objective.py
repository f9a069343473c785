"""The clipped objective against plain loops in float64, and its gradients."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="the objective is a tensor")

import torch

from trainer_client.grpo.objective import ClippedLoss, clipped_objective

ROWS, LENGTH = 4, 6


def made(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    old = -3 * torch.rand(ROWS, LENGTH, generator=generator, dtype=torch.float64)
    new = old + 0.5 * torch.randn(ROWS, LENGTH, generator=generator, dtype=torch.float64)
    advantages = torch.randn(ROWS, generator=generator, dtype=torch.float64)
    lengths = torch.randint(1, LENGTH + 1, (ROWS, 1), generator=generator)
    return new, old, advantages, torch.arange(LENGTH) < lengths


def straightforward(
    new: torch.Tensor,
    old: torch.Tensor,
    advantages: torch.Tensor,
    mask: torch.Tensor,
    low: float,
    high: float,
) -> tuple[float, float, float]:
    total, tokens, clipped_low, clipped_high = 0.0, 0, 0, 0
    for row in range(ROWS):
        for place in range(LENGTH):
            if not mask[row, place]:
                continue
            advantage = advantages[row].item()
            ratio = math.exp(new[row, place].item()) / math.exp(old[row, place].item())
            total += min(ratio * advantage, min(max(ratio, 1 - low), 1 + high) * advantage)
            tokens += 1
            clipped_low += advantage < 0 and ratio < 1 - low
            clipped_high += advantage > 0 and ratio > 1 + high
    return -total / tokens, clipped_low / tokens, clipped_high / tokens


def figures(result: ClippedLoss) -> tuple[float, float, float]:
    return result.loss.item(), result.clipped_low.item(), result.clipped_high.item()


@settings(deadline=None)
@given(st.integers(0, 2**20), st.sampled_from([0.1, 0.2, 1.0]), st.sampled_from([0.2, 0.28, 0.5]))
def test_agrees_with_plain_loops(seed: int, low: float, high: float) -> None:
    new, old, advantages, mask = made(seed)
    result = clipped_objective(new, old, advantages, mask, clip_low=low, clip_high=high)
    assert figures(result) == pytest.approx(straightforward(new, old, advantages, mask, low, high), rel=1e-9)


@settings(deadline=None)
@given(st.integers(0, 2**20))
def test_advantages_may_be_given_per_token(seed: int) -> None:
    new, old, advantages, mask = made(seed)
    per_token = advantages.unsqueeze(-1).expand(ROWS, LENGTH)
    assert figures(clipped_objective(new, old, per_token, mask)) == figures(
        clipped_objective(new, old, advantages, mask)
    )


@pytest.mark.parametrize("seed", range(8))
def test_gradients(seed: int) -> None:
    new, old, advantages, mask = made(seed)
    assert torch.autograd.gradcheck(
        lambda values: clipped_objective(values, old, advantages, mask).loss, new.requires_grad_()
    )


def test_the_upper_bound_is_the_higher_one() -> None:
    """A token that gains may grow until 1.28, one that loses may shrink until 0.8; beyond no gradient is left."""
    ratios = torch.tensor([[0.79, 0.81, 1.27, 1.29]], dtype=torch.float64)
    mask = torch.ones(1, 4, dtype=torch.bool)
    for advantage, moving in ((1.0, [True, True, True, False]), (-1.0, [False, True, True, True])):
        new = ratios.log().requires_grad_()
        result = clipped_objective(new, torch.zeros(1, 4), torch.tensor([advantage]), mask)
        (gradient,) = torch.autograd.grad(result.loss, new)
        assert (gradient != 0).tolist() == [moving]
        assert result.clipped_low.item() == (0.25 if advantage < 0 else 0)
        assert result.clipped_high.item() == (0.25 if advantage > 0 else 0)


def test_on_policy_the_gradient_is_that_of_the_policy_gradient() -> None:
    """Where both policies are one the loss is minus the mean advantage, and every token has A / N."""
    _, old, advantages, mask = made(5)
    new = old.clone().requires_grad_()
    result = clipped_objective(new, old, advantages, mask)
    (gradient,) = torch.autograd.grad(result.loss, new)
    tokens = int(mask.sum())
    assert torch.allclose(gradient, -(advantages.unsqueeze(-1) * mask) / tokens)
    assert result.loss.item() == pytest.approx(-(advantages * mask.sum(1)).sum().item() / tokens)


def test_every_token_weighs_the_same_in_a_short_and_in_a_long_completion() -> None:
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 1]])
    new = torch.zeros(2, 4, requires_grad=True)
    loss = clipped_objective(new, torch.zeros(2, 4), torch.tensor([1.0, 1.0]), mask).loss
    (gradient,) = torch.autograd.grad(loss, new)
    assert torch.equal(gradient, -mask / 5)


def test_a_masked_sample_adds_nothing_and_stays_in_the_number_of_tokens() -> None:
    new, old, advantages, mask = made(6)
    without = advantages.clone()
    without[1] = 0.0
    new.requires_grad_()
    (gradient,) = torch.autograd.grad(clipped_objective(new, old, without, mask).loss, new)
    (before,) = torch.autograd.grad(clipped_objective(new, old, advantages, mask).loss, new)
    others = torch.tensor([0, 2, 3])
    assert not gradient[1].any()
    assert before[1].any()
    assert torch.equal(gradient[others], before[others])


@settings(deadline=None)
@given(st.integers(0, 2**20), st.integers(1, ROWS - 1))
def test_parts_of_a_batch_add_up_to_the_whole(seed: int, cut: int) -> None:
    new, old, advantages, mask = made(seed)
    whole = clipped_objective(new, old, advantages, mask)
    count = mask.sum()
    parts = [
        clipped_objective(new[rows], old[rows], advantages[rows], mask[rows], token_count=count)
        for rows in (slice(cut), slice(cut, ROWS))
    ]
    sums = tuple(map(sum, zip(*map(figures, parts), strict=True)))
    assert sums == pytest.approx(figures(whole), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("rubbish", [math.nan, math.inf, -math.inf, 1e30])
def test_places_outside_the_mask_have_no_effect(rubbish: float) -> None:
    new, old, advantages, mask = made(7)
    spoilt = new.masked_fill(~mask, rubbish).requires_grad_()
    result = clipped_objective(spoilt, old.masked_fill(~mask, -rubbish), advantages, mask)
    assert figures(result) == figures(clipped_objective(new, old, advantages, mask))
    (gradient,) = torch.autograd.grad(result.loss, spoilt)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("name", ["old", "advantages"])
def test_gradients_flow_to_the_policy_under_training_only(name: str) -> None:
    new, old, advantages, mask = made(8)
    given_ = {"old": old, "advantages": advantages}
    given_[name].requires_grad_()
    new.requires_grad_()
    loss = clipped_objective(new, given_["old"], given_["advantages"], mask).loss
    loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
    assert given_[name].grad is None
    assert new.grad is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"old_log_probs": torch.zeros(2, 4)}, "must all be \\(B, T\\)", id="old"),
        pytest.param({"mask": torch.ones(2)}, "must all be \\(B, T\\)", id="mask"),
        pytest.param({"advantages": torch.ones(3)}, "advantages must be", id="advantages"),
        pytest.param({"mask": torch.zeros(2, 3)}, "number of tokens must be positive", id="nothing to learn"),
        pytest.param({"token_count": 0}, "number of tokens must be positive", id="count"),
        pytest.param({"clip_low": 1.5}, "clip_low must be in \\(0, 1\\]", id="low"),
        pytest.param({"clip_high": 0.0}, "clip_high above 0", id="high"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {
        "log_probs": torch.zeros(2, 3),
        "old_log_probs": torch.zeros(2, 3),
        "advantages": torch.ones(2),
        "mask": torch.ones(2, 3),
    }
    with pytest.raises(ValueError, match=message):
        clipped_objective(**(arguments | changes))  # type: ignore[arg-type, unused-ignore]
