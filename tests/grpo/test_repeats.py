"""Repetition at the end of a completion."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainer_client.grpo.repeats import tail_repeats


def straightforward(ids: list[int], m: int) -> bool:
    if len(ids) < 2 * m:
        return False
    return all(ids[len(ids) - 1 - back] == ids[len(ids) - 1 - back - m] for back in range(m))


@settings(deadline=None)
@given(st.lists(st.integers(0, 1), max_size=16), st.integers(1, 6))
def test_agrees_with_token_by_token(ids: list[int], m: int) -> None:
    assert tail_repeats(ids, m) == straightforward(ids, m)


@settings(deadline=None)
@given(st.lists(st.integers(), max_size=9), st.lists(st.integers(), min_size=1, max_size=9))
def test_a_block_written_twice_at_the_end_repeats(before: list[int], block: list[int]) -> None:
    assert tail_repeats([*before, *block, *block], len(block))


@pytest.mark.parametrize("period", [1, 2, 4, 32, 128])
def test_a_loop_whose_period_divides_m_repeats_once_it_fills_the_last_tokens(period: int) -> None:
    text = [9, 8, 7]
    loop = list(range(period)) * (256 // period)
    assert tail_repeats([*text, *loop])
    assert not tail_repeats([*text, *loop[:-1], 77])
    assert not tail_repeats([77, *loop[1:]])


def test_what_is_shorter_than_twice_m_does_not_repeat() -> None:
    assert not tail_repeats([1] * 255)
    assert tail_repeats([1] * 256)
    assert not tail_repeats([], 1)


def test_m_must_be_positive() -> None:
    with pytest.raises(ValueError, match="m must be at least 1"):
        tail_repeats([1, 1], 0)
