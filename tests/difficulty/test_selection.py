"""The largest selection that meets the targets, proved by trying all; and which problems it takes."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from tests.difficulty.made import predicted
from trainer_client.difficulty.errors import SettingsError, TargetError
from trainer_client.difficulty.labels import Boundaries, Counts, Label
from trainer_client.difficulty.selection import Targets, enough, limits, most, select, targets_of

BOUNDARIES = Boundaries(medium_from=4, hard_from=7)
PUBLISHED = targets_of("0.25", "0.5")


def _meets(easy: int, medium: int, hard: int, targets: Targets) -> bool:
    total = easy + medium + hard
    return (
        total > 0
        and easy < Fraction(targets.easy_below) * total
        and hard > Fraction(targets.hard_above) * total
    )


@pytest.mark.parametrize(
    "shares",
    [
        ("0.25", "0.5"),
        ("0.1", "0.7"),
        ("1", "0"),
        ("0.5", "0.34"),
        ("0.01", "0.99"),
        ("0.25", "0"),
        ("0.3", "0.3"),
    ],
)
def test_no_selection_is_larger(shares: tuple[str, str]) -> None:
    """Of all selections from up to six of each label; of equally large ones none is nearer to how it was before."""
    targets = targets_of(*shares)
    for easy, medium, hard in product(range(7), repeat=3):
        available = Counts(easy=easy, medium=medium, hard=hard)
        possible = [
            (e, m, h)
            for e, m, h in product(range(easy + 1), range(medium + 1), range(hard + 1))
            if _meets(e, m, h, targets)
        ]
        if not possible:
            with pytest.raises(TargetError):
                most(available, targets)
            continue

        def rank(
            one: tuple[int, int, int], easy: int = easy, medium: int = medium
        ) -> tuple[int, int, int, int]:
            e, m, h = one
            return (-(e + m + h), -h, abs(e * medium - m * easy), e)

        found = most(available, targets)
        assert (found.easy, found.medium, found.hard) == min(possible, key=rank), (available, targets)


@pytest.mark.parametrize("shares", [("0.25", "0.5"), ("0.1", "0.3"), ("0.4", "0.2"), ("0.34", "0.5")])
def test_what_limits_a_selection_is_named(shares: tuple[str, str]) -> None:
    """Without the targets named a larger one would do; without one that is not named no larger one would."""
    targets = targets_of(*shares)
    for easy, medium, hard in product(range(7), range(7), range(1, 7)):
        available = Counts(easy=easy, medium=medium, hard=hard)
        found = most(available, targets)
        said = " and ".join(limits(available, found, targets))
        by = {"hard": "the hard ones" in said, "easy": "easy ones of" in said}
        assert any(by.values()) == (found.total < available.total)
        for name, other in (("easy", "hard"), ("hard", "easy")):
            relaxed = Targets(
                easy_below="1" if name == "easy" else targets.easy_below,
                hard_above="0" if name == "hard" else targets.hard_above,
            )
            larger = most(available, relaxed).total > found.total
            assert larger == (by[name] and not by[other]), (available, targets, said)


def test_shares_are_not_reached() -> None:
    """Easy below a quarter, hard above a half: a quarter and a half exactly do not do."""
    assert most(Counts(easy=25, medium=24, hard=51), PUBLISHED) == Counts(easy=24, medium=24, hard=51)
    assert most(Counts(easy=24, medium=25, hard=51), PUBLISHED) == Counts(easy=24, medium=25, hard=51)
    assert most(Counts(easy=20, medium=30, hard=50), PUBLISHED) == Counts(easy=20, medium=29, hard=50)
    # As many easy as medium ones before; a quarter of 201 is more than the half of what is not hard.
    assert most(Counts(easy=100, medium=100, hard=101), PUBLISHED) == Counts(easy=50, medium=50, hard=101)
    assert most(Counts(easy=300, medium=100, hard=101), PUBLISHED) == Counts(easy=50, medium=50, hard=101)


def _problems(count: int) -> list[float]:
    draw = random.Random(5)  # noqa: S311 -- scores
    return [round(draw.uniform(1, 10), 1) for _ in range(count)]


def test_the_same_seed_chooses_the_same_whatever_the_order() -> None:
    problems = [predicted(f"p{index}", score) for index, score in enumerate(_problems(200))]
    chosen = select(problems, BOUNDARIES, PUBLISHED, seed=1)
    shuffled = random.Random(2).sample(problems, len(problems))  # noqa: S311 -- an order
    again = select(shuffled, BOUNDARIES, PUBLISHED, seed=1)
    assert {one.problem for one in chosen.problems if one.kept} == {
        one.problem for one in again.problems if one.kept
    }
    assert 0 < chosen.after.total < chosen.before.total
    other = select(problems, BOUNDARIES, PUBLISHED, seed=2)
    assert other.after == chosen.after
    assert {one.problem for one in other.problems if one.kept} != {
        one.problem for one in chosen.problems if one.kept
    }


def test_what_is_kept_is_what_was_counted() -> None:
    """Labels of the kept ones add up to the counts, every hard one among them; the order of the file stays."""
    problems = [predicted(f"p{index}", score) for index, score in enumerate(_problems(300))]
    chosen = select(problems, BOUNDARIES, PUBLISHED)
    assert [one.problem for one in chosen.problems] == [one.problem for one in problems]
    assert Counts.of(one.label for one in chosen.problems if one.kept) == chosen.after
    assert all(one.kept for one in chosen.problems if one.label is Label.HARD)
    assert _meets(chosen.after.easy, chosen.after.medium, chosen.after.hard, PUBLISHED)


def test_hardest_first() -> None:
    """Of one label those with the highest scores; the seed decides between equal ones only."""
    problems = [predicted(f"m{index}", 4 + index % 3) for index in range(30)]
    problems += [predicted(f"h{index}", 8) for index in range(18)]
    kept = {}
    for seed in (1, 2):
        chosen = select(problems, BOUNDARIES, PUBLISHED, within="hardest", seed=seed)
        medium = [one for one in chosen.problems if one.label is Label.MEDIUM]
        assert len([one for one in medium if one.kept]) == 17
        assert min(one.score for one in medium if one.kept) >= max(
            one.score for one in medium if not one.kept
        )
        kept[seed] = {one.problem for one in medium if one.kept}
    assert kept[1] != kept[2]
    assert {name for name in kept[1] if int(name[1:]) % 3 == 2} == {
        name for name in kept[2] if int(name[1:]) % 3 == 2
    }


def test_a_random_choice_is_even() -> None:
    """Every easy problem is kept by some seed and left by another."""
    problems = [predicted(f"e{index}", 2) for index in range(12)] + [
        predicted(f"h{index}", 9) for index in range(18)
    ]
    times = dict.fromkeys([one.problem for one in problems[:12]], 0)
    for seed in range(60):
        for one in select(problems, BOUNDARIES, PUBLISHED, seed=seed).problems:
            if one.label is Label.EASY:
                times[one.problem] += one.kept
    assert all(0 < count < 60 for count in times.values())


def test_targets_that_cannot_be_met_say_why() -> None:
    with pytest.raises(TargetError, match="none of 2 problems is labelled hard"):
        select([predicted("a", 1), predicted("b", 5)], BOUNDARIES, PUBLISHED)
    with pytest.raises(TargetError, match="--easy-below 0"):
        targets_of("0", "0.5")
    with pytest.raises(TargetError, match="--hard-above 1"):
        targets_of("0.25", "1")
    with pytest.raises(SettingsError, match="--hard-above: 'half' is no number"):
        targets_of("0.25", "half")
    few = select([predicted("a", 5), predicted("b", 5), predicted("c", 9)], BOUNDARIES, PUBLISHED)
    assert few.after.total == 1
    with pytest.raises(TargetError, match=r"1 of 3 problems can be kept, 2 are wanted: the hard ones \(1\)"):
        enough(few, 2)
    enough(few, 1)
