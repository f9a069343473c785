"""The report's formulas give textbook values, and hold at their edges."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.audit.statistics import cohen_kappa, mcnemar, wilson

Z = 1.959963984540054


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (8, 10, 0.4902, 0.9433),
        (10, 10, 0.7225, 1.0),
        (1, 1000, 0.0002, 0.0056),
        (0, 0, 0, 1),
    ],
)
def test_wilson_intervals_are_those_of_tables(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


@settings(deadline=None)
@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n))))
def test_wilson_bounds_are_where_the_score_test_turns(counts: tuple[int, int]) -> None:
    """At each inner bound p, the observed share lies exactly z standard errors of p away."""
    successes, trials = counts
    share = successes / trials
    for bound in wilson(successes, trials):
        if 0 < bound < 1:
            assert abs(share - bound) == pytest.approx(Z * math.sqrt(bound * (1 - bound) / trials), rel=1e-6)


def test_kappa_of_the_textbook_example() -> None:
    assert cohen_kappa(20, 5, 10, 15) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("counts", "kappa"), [((5, 0, 0, 5), 1.0), ((0, 5, 5, 0), -1.0), ((1, 1, 1, 1), 0.0)]
)
def test_kappa_of_clear_cases(counts: tuple[int, int, int, int], kappa: float) -> None:
    assert cohen_kappa(*counts) == pytest.approx(kappa)


@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (7, 0, 0, 0), (0, 0, 0, 3)])
def test_kappa_is_unknown_where_chance_explains_everything(counts: tuple[int, int, int, int]) -> None:
    assert cohen_kappa(*counts) is None


@pytest.mark.parametrize(
    ("ours", "theirs", "p_value"),
    [(10, 2, 158 / 4096), (2, 10, 158 / 4096), (0, 0, 1.0), (5, 5, 1.0), (6, 0, 2 / 64), (1, 0, 1.0)],
)
def test_mcnemar_is_the_exact_binomial_test(ours: int, theirs: int, p_value: float) -> None:
    assert mcnemar(ours, theirs) == pytest.approx(p_value)


def test_mcnemar_of_thousands_neither_overflows_nor_jumps() -> None:
    """Where the way of computing changes, the value does not."""
    assert mcnemar(530, 469) == pytest.approx(mcnemar(531, 470), rel=0.05)
    assert mcnemar(9000, 9000) == 1.0
    assert 0 <= mcnemar(20_000, 10) < 1e-300
