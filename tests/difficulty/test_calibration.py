"""Boundaries and pass rates against independent, straightforward computations, and cases whose answer is known."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.difficulty.made import prediction
from trainer_client.difficulty.calibration import boundaries_of, calibrate, correlation_of
from trainer_client.difficulty.errors import CalibrationError, SettingsError
from trainer_client.difficulty.labels import Counts, Label, PassRates, pass_rates
from trainer_client.difficulty.measuring import Measured
from trainer_client.difficulty.pass_at_k import pass_at_k

SCALE = (1, 10)


@pytest.mark.parametrize("completions", range(1, 8))
def test_pass_at_k_is_the_share_of_subsets_with_a_right_one(completions: int) -> None:
    """Counted over all subsets."""
    for correct in range(completions + 1):
        for k in range(1, completions + 1):
            subsets = list(combinations(range(completions), k))
            right = sum(any(one < correct for one in subset) for subset in subsets)
            assert pass_at_k(completions, correct, k) == Fraction(right, len(subsets))


def test_pass_at_k_of_many() -> None:
    """No overflow, no rounding: 1 - (1 - c/n)^k would be biased, 1 minus a product of floats inexact."""
    assert pass_at_k(1000, 1, 100) == Fraction(1, 10)
    assert pass_at_k(200, 0, 100) == 0
    assert pass_at_k(200, 101, 100) == 1


@pytest.mark.parametrize(
    ("completions", "correct", "k"), [(0, 0, 1), (3, 1, 4), (3, 1, 0), (3, 4, 1), (3, -1, 1)]
)
def test_pass_at_k_of_too_few_is_nothing(completions: int, correct: int, k: int) -> None:
    with pytest.raises(ValueError, match="is not from"):
        pass_at_k(completions, correct, k)


def test_measured_labels_at_their_thresholds() -> None:
    """Exactly 7 of 10 is easy, exactly 3 of 10 is not hard, which binary fractions would not get right."""
    rates = pass_rates("0.7", "0.3")
    assert [rates.label(Fraction(correct, 10)) for correct in range(11)] == [
        *[Label.HARD] * 3,
        *[Label.MEDIUM] * 4,
        *[Label.EASY] * 4,
    ]
    assert rates.label(Fraction(299_999, 1_000_000)) is Label.HARD


@pytest.mark.parametrize(
    ("easy_from", "hard_below", "complaint"),
    [
        ("0.2", "0.3", "over --easy-from"),
        ("x", "0.3", "--easy-from"),
        ("0.7", "-1", "--hard-below"),
        ("2", "0", "0 to 1"),
    ],
)
def test_bad_thresholds_are_named(easy_from: str, hard_below: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        pass_rates(easy_from, hard_below)


def test_shares_match_exactly_where_scores_differ() -> None:
    """Twelve different scores and any measured shares: the labels are in number what was measured."""
    scores = [1.5 + 0.6 * step for step in range(12)]
    random.Random(1).shuffle(scores)  # noqa: S311 -- an order
    for easy in range(13):
        for medium in range(13 - easy):
            measured = Counts(easy=easy, medium=medium, hard=12 - easy - medium)
            found = boundaries_of(scores, measured, SCALE)
            assert Counts.of(found.label(score) for score in scores) == measured
            assert found.medium_from <= found.hard_from


@given(
    st.lists(st.integers(2, 18).map(lambda half: half / 2), min_size=1, max_size=9),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_no_boundaries_are_nearer(scores: list[float], easy: int, medium: int) -> None:
    """With equal scores the match may be inexact; no other pair of boundaries does better."""
    easy = min(easy, len(scores))
    medium = min(medium, len(scores) - easy)
    measured = Counts(easy=easy, medium=medium, hard=len(scores) - easy - medium)

    def distance(medium_from: float, hard_from: float) -> int:
        low = sum(score < medium_from for score in scores)
        high = sum(score >= hard_from for score in scores)
        return abs(low - easy) + abs(len(scores) - low - high - medium) + abs(high - measured.hard)

    found = boundaries_of(scores, measured, SCALE)
    grid = [0.75 + half / 2 for half in range(22)]
    best = min(distance(low, high) for low in grid for high in grid if low <= high)
    assert distance(found.medium_from, found.hard_from) == best


def test_boundaries_stand_midway() -> None:
    """A new problem is labelled by the nearer neighbour."""
    found = boundaries_of([2.0, 3.0, 6.0, 9.0], Counts(easy=2, medium=1, hard=1), SCALE)
    assert (found.medium_from, found.hard_from) == (4.5, 7.5)


def _measured(*correct_of_ten: int) -> dict[str, Measured]:
    return {
        f"p{index}": Measured(completions=10, correct=correct) for index, correct in enumerate(correct_of_ten)
    }


def test_a_perfect_judge() -> None:
    """Scores in the order of failing: labels agree, rank correlations are 1."""
    found = calibrate(prediction([2, 3, 5, 6, 8, 9]), _measured(10, 9, 6, 4, 1, 0), PassRates(), 1, least=1)
    assert found.agreement == 1
    assert found.correlation.spearman == pytest.approx(1)
    assert found.correlation.kendall == pytest.approx(1)
    assert [row.predicted for row in found.confusion] == [
        Counts(easy=2, medium=0, hard=0),
        Counts(easy=0, medium=2, hard=0),
        Counts(easy=0, medium=0, hard=2),
    ]
    assert (found.boundaries.medium_from, found.boundaries.hard_from) == (4, 7)


def test_a_judge_that_has_it_backwards() -> None:
    """Shares match all the same; the confusion, the correlation and a warning say that they mean nothing."""
    found = calibrate(prediction([9, 8, 6, 5, 3, 2]), _measured(10, 9, 6, 4, 1, 0), PassRates(), 1, least=1)
    assert found.predicted == found.measured
    assert found.agreement == pytest.approx(2 / 6)
    assert found.confusion[0].predicted == Counts(easy=0, medium=0, hard=2)
    assert found.correlation.spearman == pytest.approx(-1)
    assert any("do not order problems" in warning for warning in found.warnings)


def test_what_could_not_be_judged_is_no_failure() -> None:
    """It leaves n: 3 right of 3 that could be judged is pass@1 of 1; with too few left a problem is left out."""
    measured = {
        "p0": Measured(completions=3, correct=3, unscorable=7),
        "p1": Measured(completions=10, correct=1),
        "p2": Measured(completions=1, correct=0, unscorable=9),
        "p3": Measured(completions=10, correct=0),
    }
    found = calibrate(prediction([2, 8, 5]), measured, PassRates(), 1, least=2)
    assert [(one.problem, one.pass_at_k, one.measured) for one in found.problems] == [
        ("p0", 1.0, Label.EASY),
        ("p1", 0.1, Label.HARD),
    ]
    assert [(one.problem, one.reason) for one in found.left_out] == [
        ("p2", "1 completions (9 more nobody could judge), at least 2 needed"),
        ("p3", "no score"),
    ]
    assert found.unscorable == 16


def test_k_changes_what_is_hard() -> None:
    """3 of 10 right: hard for one attempt, easy for five."""
    one = calibrate(prediction([2, 8]), _measured(10, 2), PassRates(), 1, least=1)
    five = calibrate(prediction([2, 8]), _measured(10, 3), PassRates(), 5, least=1)
    assert one.problems[1].measured is Label.HARD
    assert five.problems[1].measured is Label.EASY
    assert five.problems[1].pass_at_k == pytest.approx(1 - 21 / 252)


def test_an_empty_class_is_said() -> None:
    """Nobody can tell from these where hard begins: nothing is labelled hard, and that is a warning."""
    found = calibrate(prediction([2, 5, 9]), _measured(10, 5, 5), PassRates(), 1, least=1)
    assert found.boundaries.label(10) is Label.MEDIUM
    assert any(warning.startswith("no problem measured hard") for warning in found.warnings)


def test_equal_scores_that_do_not_allow_the_shares_are_said() -> None:
    found = calibrate(prediction([5, 5, 5, 5]), _measured(10, 5, 0, 0), PassRates(), 1, least=1)
    assert found.predicted != found.measured
    assert any("equal scores allow" in warning for warning in found.warnings)
    assert found.correlation.spearman is None


def test_nothing_to_calibrate_on() -> None:
    with pytest.raises(
        CalibrationError, match=r"no problem has both a score and completions enough, such as 'p0'"
    ):
        calibrate(prediction([]), _measured(5), PassRates(), 1, least=1)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=2, max_size=12))
def test_rank_correlations_are_those_of_pairs(pairs: list[tuple[int, int]]) -> None:
    """Kendall's tau-b counted over pairs, Spearman's rho as the correlation of mean ranks."""
    scores, failing = [float(one) for one, _ in pairs], [float(other) for _, other in pairs]
    found = correlation_of(scores, failing)
    if len(set(scores)) == 1 or len(set(failing)) == 1:
        assert found.spearman is None
        return
    signs = [(_sign(b[0] - a[0]), _sign(b[1] - a[1])) for a, b in combinations(pairs, 2)]
    concordance = sum(x * y for x, y in signs)
    untied = sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs)
    assert found.kendall == pytest.approx(concordance / untied**0.5)
    assert found.spearman == pytest.approx(_pearson(_ranks(scores), _ranks(failing)))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _ranks(values: list[float]) -> list[float]:
    return [sum(other < one for other in values) + (values.count(one) + 1) / 2 for one in values]


def _pearson(xs: list[float], ys: list[float]) -> float:
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    variances = sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys)
    return float(covariance / variances**0.5)


def test_boundaries_of_many_problems_part_them_in_order() -> None:
    """A large set with many equal scores, as a scale of integers gives them."""
    draw = random.Random(3)  # noqa: S311 -- scores
    scores = [round(draw.triangular(1, 10), 1) for _ in range(3000)]
    found = boundaries_of(scores, Counts(easy=900, medium=1200, hard=900), SCALE)
    labels = [found.label(score) for score in sorted(scores)]
    order = list(Label)
    assert all(order.index(low) <= order.index(high) for low, high in pairwise(labels))
    counts = Counts.of(labels)
    assert max(abs(counts.easy - 900), abs(counts.hard - 900)) < 40
