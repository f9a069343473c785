"""Log-probabilities at the temperature of sampling, against exponentials summed in plain loops."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="log-probabilities are tensors")

import torch

from trainer_client.grpo.log_probs import scaled_log_probs

TEMPERATURES = st.floats(0.1, 3.0)


def made(seed: int, vocabulary: int = 7) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 4 * torch.randn(3, 5, vocabulary, generator=generator, dtype=torch.float64)
    return logits, torch.randint(vocabulary, (3, 5), generator=generator)


@settings(deadline=None)
@given(st.integers(0, 2**20), TEMPERATURES)
def test_agrees_with_plain_loops(seed: int, temperature: float) -> None:
    logits, ids = made(seed)
    result = scaled_log_probs(logits, ids, temperature)
    for row in range(3):
        for place in range(5):
            weights = [math.exp(logit / temperature) for logit in logits[row, place].tolist()]
            expected = math.log(weights[int(ids[row, place])] / math.fsum(weights))
            assert result[row, place].item() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 2**20), TEMPERATURES)
def test_agrees_with_log_softmax_of_divided_logits(seed: int, temperature: float) -> None:
    logits, ids = made(seed)
    expected = torch.log_softmax(logits / temperature, -1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    assert torch.allclose(scaled_log_probs(logits, ids, temperature), expected)


def test_another_temperature_is_another_policy() -> None:
    """The trap: log-probabilities at T = 1 of what was sampled at another temperature."""
    logits, ids = made(1)
    cold, warm = (scaled_log_probs(logits, ids, temperature) for temperature in (0.6, 1.2))
    assert not torch.isclose(cold, warm).any()
    every = torch.arange(7).expand(3, 5, 7)
    for temperature in (0.6, 1.2):
        shares = [scaled_log_probs(logits, every[..., token], temperature).exp() for token in range(7)]
        assert torch.allclose(torch.stack(shares).sum(0), torch.ones(3, 5, dtype=torch.float64))


def test_it_is_the_policy_that_sampled() -> None:
    """Sampling from logits / T meets each token as often as its log-probability says."""
    logits, _ = made(2, vocabulary=4)
    temperature, draws = 1.7, 40_000
    chances = torch.softmax(logits[0, 0] / temperature, -1)
    drawn = torch.multinomial(chances, draws, replacement=True, generator=torch.Generator().manual_seed(0))
    for token in range(4):
        ids = torch.full((3, 5), token)
        chance = scaled_log_probs(logits, ids, temperature)[0, 0].exp().item()
        deviation = math.sqrt(chance * (1 - chance) / draws)
        assert abs((drawn == token).double().mean().item() - chance) < 5 * deviation


@pytest.mark.parametrize("temperature", [0.6, 1.0, 1.8])
def test_gradients(temperature: float) -> None:
    logits, ids = made(3)
    assert torch.autograd.gradcheck(
        lambda values: scaled_log_probs(values, ids, temperature), logits.requires_grad_()
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_summed_in_float32(dtype: torch.dtype) -> None:
    logits, ids = made(4)
    logits = logits.to(dtype)
    result = scaled_log_probs(logits, ids, 1.2)
    assert result.dtype == torch.float32
    assert torch.allclose(result.double(), scaled_log_probs(logits.double(), ids, 1.2), atol=1e-5)


@pytest.mark.parametrize(
    ("logits", "ids", "temperature", "message"),
    [
        pytest.param(torch.zeros(2, 3, 4), torch.zeros(2, 4, dtype=torch.long), 1.0, "\\(B, T\\)", id="ids"),
        pytest.param(
            torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.long), 1.0, "\\(B, T, V\\)", id="logits"
        ),
        pytest.param(torch.zeros(1, 1, 2), torch.zeros(1, 1, dtype=torch.long), 0.0, "above 0", id="greedy"),
        pytest.param(
            torch.zeros(1, 1, 2), torch.zeros(1, 1, dtype=torch.long), math.nan, "above 0", id="NaN"
        ),
    ],
)
def test_bad_input_is_refused(
    logits: torch.Tensor, ids: torch.Tensor, temperature: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        scaled_log_probs(logits, ids, temperature)
