"""The conditional truncation mask: exactly the samples that meet all four conditions, at the stated rate."""

from __future__ import annotations

import io
import math
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="the mask is a tensor")

import torch

from service.wire import Verdict
from trainer_client.grpo.advantages import group_advantages
from trainer_client.grpo.truncation_mask import NonIncorrect, TruncationDraw, TruncationMask

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH, M, END = 12, 3, 99
FRESH = list(range(LENGTH))
LOOPING = [*range(LENGTH - 2 * M), *[1, 2, 3] * 2]
VERDICTS = [*(verdict for verdict in Verdict if verdict is not Verdict.SKIPPED), None]


def mask(rho: float = 0.3, seed: int = 0, **settings_: Any) -> TruncationMask:
    return TruncationMask(LENGTH, rho, M, seed=seed, **settings_)


def straightforward(ids: Sequence[int], verdict: str | None, accepted: set[str], *, drawn: bool) -> bool:
    is_cut = len(ids) == LENGTH and ids[-1] != END
    repeats = len(ids) >= 2 * M and list(ids[-M:]) == list(ids[-2 * M : -M])
    return is_cut and verdict in accepted and not repeats and drawn


@pytest.mark.parametrize(
    ("reading", "accepted"),
    [
        (NonIncorrect.CORRECT, {"AC"}),
        (NonIncorrect.CORRECT_OR_UNANSWERED, {"AC", "NC", "CE"}),
    ],
)
def test_exactly_those_that_meet_all_four_conditions(reading: NonIncorrect, accepted: set[str]) -> None:
    """Every combination of lengths, ends, loops, verdicts and draws."""
    texts = [FRESH, FRESH[:-1], [*FRESH[:-1], END], LOOPING, LOOPING[1:], []]
    samples = list(product(texts, VERDICTS)) * 20
    draw = mask(0.5, end_ids={END}, non_incorrect=reading).draw(*zip(*samples, strict=True))
    expected = [
        straightforward(ids, verdict, accepted, drawn=drawn)
        for (ids, verdict), drawn in zip(samples, draw.drawn.tolist(), strict=True)
    ]
    assert draw.masked.tolist() == expected
    met = {verdict for (_, verdict), masked in zip(samples, expected, strict=True) if masked}
    assert met == accepted
    # One condition less would have masked others.
    for name in ("truncated", "non_incorrect", "not_repeating", "drawn"):
        others = [getattr(draw, other) for other in CONDITIONS if other != name]
        assert torch.stack(others).all(0).sum() > draw.masked.sum()


CONDITIONS = ("truncated", "non_incorrect", "not_repeating", "drawn")


@settings(deadline=None)
@given(
    samples=st.lists(
        st.tuples(st.lists(st.integers(0, 2), max_size=LENGTH), st.sampled_from(VERDICTS)), max_size=30
    ),
    rho=st.floats(0, 1),
)
def test_masked_means_all_conditions(samples: list[tuple[list[int], str | None]], rho: float) -> None:
    draw = mask(rho).draw([ids for ids, _ in samples], [verdict for _, verdict in samples])
    conditions = torch.stack([getattr(draw, name) for name in CONDITIONS])
    assert torch.equal(draw.masked, conditions.all(0))
    assert torch.equal(draw.eligible, conditions[:3].all(0))
    assert [len(field) for field in (draw.masked, draw.eligible, *conditions)] == [len(samples)] * 6


@pytest.mark.parametrize("rho", [0.1, 0.3, 0.9])
def test_eligible_samples_are_masked_at_the_stated_rate(rho: float) -> None:
    count = 20_000
    draw = mask(rho, seed=1).draw([FRESH] * count, ["AC"] * count)
    share = draw.masked.double().mean().item()
    assert abs(share - rho) < 5 * math.sqrt(rho * (1 - rho) / count)


@pytest.mark.parametrize(("rho", "expected"), [(0.0, 0), (1.0, 500)])
def test_nothing_and_everything(rho: float, expected: int) -> None:
    assert int(mask(rho).draw([FRESH] * 500, ["AC"] * 500).masked.sum()) == expected


@pytest.mark.parametrize("reading", list(NonIncorrect))
@pytest.mark.parametrize("verdict", ["IE", None])
def test_what_nobody_could_judge_is_never_masked(reading: NonIncorrect, verdict: str | None) -> None:
    draw = mask(1.0, non_incorrect=reading).draw([FRESH], [verdict])
    assert not draw.eligible.any()


def test_a_masked_sample_has_no_advantage_and_stays_in_the_baseline() -> None:
    advantages = group_advantages(torch.tensor([1.0, 1.0, 0.0, 0.0]), 4)
    draw = mask(1.0).draw([FRESH, FRESH[1:], FRESH, FRESH], ["AC", "AC", "WA", "TLE"])
    masked = advantages.masked_fill(draw.masked, 0.0)
    assert masked[0] == 0
    assert torch.equal(masked[1:], advantages[1:])


def draws(one: TruncationMask, count: int) -> list[list[bool]]:
    return [one.draw([FRESH, LOOPING, FRESH[1:]], ["AC"] * 3).masked.tolist() for _ in range(count)]


def test_the_same_seed_draws_the_same_and_another_seed_does_not() -> None:
    assert draws(mask(seed=3), 50) == draws(mask(seed=3), 50)
    assert draws(mask(seed=3), 50) != draws(mask(seed=4), 50)


@pytest.mark.parametrize("stop", [0, 1, 17, 49])
def test_a_resumed_run_draws_as_an_uninterrupted_one(stop: int) -> None:
    """The state goes through a file that is read with nothing but tensors allowed."""
    whole = draws(mask(seed=5), 50)
    interrupted = mask(seed=5)
    before = draws(interrupted, stop)
    file = io.BytesIO()
    torch.save(interrupted.state_dict(), file)
    file.seek(0)
    resumed = mask(seed=999)
    resumed.load_state_dict(torch.load(file, weights_only=True))
    assert before + draws(resumed, 50 - stop) == whole


def test_a_draw_depends_on_its_place_alone() -> None:
    """Which samples are eligible, and what else draws random numbers, does not move the draws that follow."""
    first, second = mask(seed=6), mask(seed=6)
    first.draw([FRESH] * 4, ["AC"] * 4)
    torch.rand(100)
    second.draw([LOOPING, [], FRESH[1:], FRESH], ["AC", "WA", None, "IE"])
    assert draws(first, 20) == draws(second, 20)


def test_drawing_leaves_the_generator_of_everything_else_alone() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    draws(mask(), 10)
    assert torch.equal(torch.rand(3), expected)


def test_reseeding_begins_anew_from_what_a_resumed_run_knows() -> None:
    one, other = mask(seed=8), mask(seed=8)
    draws(one, 7)
    one.reseed(40, 1)
    other.reseed(40, 1)
    assert draws(one, 30) == draws(other, 30)
    seen = []
    for numbers in ((40, 1), (40, 2), (41, 1), (401,), (2**32 + 40, 1)):
        one.reseed(*numbers)
        seen.append(draws(one, 30))
    other = mask(seed=9)
    other.reseed(40, 1)
    seen.append(draws(other, 30))
    assert all(a != b for index, a in enumerate(seen) for b in seen[:index])


def test_a_new_stage_has_a_new_maximum_length() -> None:
    one = mask(1.0)
    one.max_length = LENGTH + 1
    assert not one.draw([FRESH], ["AC"]).masked.any()
    assert one.draw([[*FRESH, 50]], ["AC"]).masked.all()


def test_a_trainer_that_knows_what_was_cut_off_decides_instead_of_the_length() -> None:
    draw = mask(1.0).draw([FRESH, FRESH[:5], [*FRESH, 1, 2]], ["AC"] * 3, [False, True, True])
    assert draw.masked.tolist() == [False, True, True]


def test_no_samples_are_a_draw_as_well() -> None:
    draw = mask().draw([], [])
    assert isinstance(draw, TruncationDraw)
    assert draw.masked.shape == (0,)


@pytest.mark.parametrize(
    ("ids", "verdicts", "cut_off", "message"),
    [
        pytest.param([FRESH], [], None, "must have the same length", id="verdicts"),
        pytest.param([FRESH], ["AC"], [], "must have the same length", id="cut off"),
        pytest.param([[*FRESH, 1]], ["AC"], None, "13 tokens is longer than max_length=12", id="too long"),
        pytest.param([FRESH], ["OK"], None, "'OK' is no verdict of a submission", id="no verdict"),
        pytest.param([FRESH], ["SKIPPED"], None, "'SKIPPED' is no verdict", id="of a test only"),
    ],
)
def test_bad_input_is_refused(
    ids: list[list[int]], verdicts: list[str], cut_off: list[bool] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        mask().draw(ids, verdicts, cut_off)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"max_length": 0}, "max_length must be at least 1"),
        ({"rho": 1.1}, "rho must be in \\[0, 1\\], not 1.1"),
        ({"rho": math.nan}, "rho must be in"),
        ({"repeat_tokens": 0}, "repeat_tokens must be at least 1"),
        ({"non_incorrect": "maybe"}, "'maybe' is not a valid NonIncorrect"),
    ],
)
def test_settings_out_of_range_are_refused(settings_: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TruncationMask(**({"max_length": LENGTH} | settings_))


@pytest.mark.parametrize("state", [{}, {"generator": torch.zeros(3), "other": 1}, {"seed": 1}])
def test_another_state_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has the key 'generator'"):
        mask().load_state_dict(state)
