"""Diversity of groups, against straightforward computations: counting by hand, a full table, fractions."""

from __future__ import annotations

import importlib.util
import math
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainer_client.grpo.diversity import (
    EDIT_TOKENS,
    METRICS,
    bigram_jaccard,
    diversity,
    edit_distance,
    self_bleu,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HAS_RAPIDFUZZ = importlib.util.find_spec("rapidfuzz") is not None
needs_rapidfuzz = pytest.mark.skipif(not HAS_RAPIDFUZZ, reason="the edit distance needs rapidfuzz")
NAMES = [pytest.param(name, marks=needs_rapidfuzz) if name == "edit_distance" else name for name in METRICS]
COMPLETIONS = st.lists(st.integers(0, 3), max_size=10)
GROUPS = st.lists(COMPLETIONS, min_size=2, max_size=5)


def straightforward_jaccard(a: Sequence[int], b: Sequence[int]) -> float:
    def parts(ids: Sequence[int]) -> list[tuple[int, ...]]:
        return [tuple(pair) for pair in pairwise(ids)] if len(ids) != 1 else [tuple(ids)]

    union: list[tuple[int, ...]] = []
    for part in [*parts(a), *parts(b)]:
        if part not in union:
            union.append(part)
    if not union:
        return 0.0
    return sum(not (part in parts(a) and part in parts(b)) for part in union) / len(union)


def straightforward_edit(a: Sequence[int], b: Sequence[int]) -> float:
    table = [[max(row, column) for column in range(len(b) + 1)] for row in range(len(a) + 1)]
    for row in range(1, len(a) + 1):
        for column in range(1, len(b) + 1):
            table[row][column] = min(
                table[row - 1][column] + 1,
                table[row][column - 1] + 1,
                table[row - 1][column - 1] + (a[row - 1] != b[column - 1]),
            )
    longest = max(len(a), len(b))
    return table[-1][-1] / longest if longest else 0.0


def straightforward_bleu(hypothesis: Sequence[int], references: Sequence[Sequence[int]]) -> float:
    def occurrences(ids: Sequence[int], gram: Sequence[int]) -> int:
        return sum(list(ids[at : at + len(gram)]) == list(gram) for at in range(len(ids)))

    if not hypothesis:
        return float(any(not reference for reference in references))
    precisions = []
    for order in range(1, min(4, len(hypothesis)) + 1):
        grams = {tuple(hypothesis[at : at + order]) for at in range(len(hypothesis) - order + 1)}
        matched = sum(
            min(occurrences(hypothesis, gram), max(occurrences(one, gram) for one in references))
            for gram in grams
        )
        precisions.append(Fraction(matched, len(hypothesis) - order + 1))
    product = math.prod(precisions)
    gap = min((abs(len(one) - len(hypothesis)), len(one)) for one in references)[1]
    brevity = 1.0 if len(hypothesis) > gap else math.exp(1 - gap / len(hypothesis))
    return float(brevity * float(product) ** (1 / len(precisions)))


def mean_of_pairs(
    distance: Callable[[Sequence[int], Sequence[int]], float], group: Sequence[Sequence[int]]
) -> float:
    distances = [distance(a, b) for a, b in combinations(group, 2)]
    return math.fsum(distances) / len(distances)


@settings(deadline=None)
@given(GROUPS)
def test_bigram_jaccard_agrees_with_counting(group: list[list[int]]) -> None:
    assert bigram_jaccard(group) == pytest.approx(mean_of_pairs(straightforward_jaccard, group))


@needs_rapidfuzz
@settings(deadline=None)
@given(GROUPS)
def test_edit_distance_agrees_with_the_full_table(group: list[list[int]]) -> None:
    assert edit_distance(group) == pytest.approx(mean_of_pairs(straightforward_edit, group))


@settings(deadline=None)
@given(GROUPS)
def test_self_bleu_agrees_with_fractions(group: list[list[int]]) -> None:
    expected = [
        1 - straightforward_bleu(ids, [*group[:index], *group[index + 1 :]])
        for index, ids in enumerate(group)
    ]
    assert self_bleu(group) == pytest.approx(math.fsum(expected) / len(expected), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ids", [[], [1], [1, 2], list(range(50)), [3] * 40])
def test_identical_completions_have_no_diversity(name: str, ids: list[int]) -> None:
    assert METRICS[name]([ids] * 4) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_completions_that_share_no_token_are_wholly_unlike(name: str, size: int) -> None:
    group = [[1000 * member + at for at in range(size)] for member in range(4)]
    assert METRICS[name](group) == 1.0


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(group=GROUPS, seed=st.randoms())
def test_the_order_of_completions_and_the_names_of_tokens_do_not_matter(
    name: str, group: list[list[int]], seed: object
) -> None:
    shuffled = list(group)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    renamed = [[100 - token for token in ids] for ids in shuffled]
    value = METRICS[name](group)
    assert 0 <= value <= 1
    assert METRICS[name](renamed) == pytest.approx(value)


@pytest.mark.parametrize("name", NAMES)
def test_every_further_difference_adds_diversity(name: str) -> None:
    text = list(range(60))
    values = [
        METRICS[name]([text, text[: 60 - changed] + [500 + changed] * changed])
        for changed in range(0, 61, 10)
    ]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


@needs_rapidfuzz
def test_the_edit_distance_ends_at_its_bound() -> None:
    text = list(range(EDIT_TOKENS))
    assert edit_distance([[*text, 1], [*text, 2, 3]]) == 0.0
    assert edit_distance([text, [*text[:-1], -1]]) == pytest.approx(1 / EDIT_TOKENS)


def test_diversity_is_the_mean_of_groups_whatever_their_sizes() -> None:
    groups = [[[1, 2, 3], [1, 2, 3]], [[1, 2], [3, 4], [5, 6]]]
    assert diversity(groups) == 0.5
    assert diversity(groups, "self_bleu") == 0.5
    assert diversity(groups, len) == 2.5


@pytest.mark.parametrize(
    ("groups", "metric", "message"),
    [
        pytest.param([[[1], [2]]], "distinct_n", "metric must be one of bigram_jaccard", id="no such metric"),
        pytest.param([], "bigram_jaccard", "at least one group", id="no group"),
        pytest.param([[[1], [2]], [[1]]], "bigram_jaccard", "two completions", id="nothing to compare with"),
    ],
)
def test_what_cannot_be_measured_is_refused(groups: list[list[list[int]]], metric: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        diversity(groups, metric)


def test_the_table_of_metrics_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        METRICS["other"] = len  # type: ignore[index]
