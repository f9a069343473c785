"""How unlike the completions of one prompt are: 0 for identical ones, 1 for ones that share nothing.

The paper chooses the temperature by the diversity of the initial outputs and gives no definition of it. What is
known of its curves fits measures between samples, bounded by 1 (docs/GRPO.md), so there are three of those to choose
from. Thresholds hold for one metric only.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from math import exp, log
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

type Metric = Callable[[Sequence[Sequence[int]]], float]
"""From the token ids of a prompt's completions, two at least, to a number in [0, 1]."""

type _Gram = tuple[int, ...]

EDIT_TOKENS = 4096
BLEU_ORDER = 4


def bigram_jaccard(group: Sequence[Sequence[int]]) -> float:
    """Return the mean over pairs of 1 - |A and B| / |A or B|, A and B their sets of pairs of neighbouring tokens.

    A completion of one token is its own only element, an empty one has none. Linear in the tokens of a group.
    """
    return _mean(_jaccard_distance(a, b) for a, b in combinations([_bigrams(ids) for ids in group], 2))


def edit_distance(group: Sequence[Sequence[int]]) -> float:
    """Return the mean over pairs of Levenshtein's distance in tokens, divided by the longer one's length.

    Only the first ``EDIT_TOKENS`` tokens of each count: the cost grows with the product of the lengths.
    """
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 -- other metrics do not need it

    cut = [list(ids[:EDIT_TOKENS]) for ids in group]
    return _mean(Levenshtein.normalized_distance(a, b) for a, b in combinations(cut, 2))


def self_bleu(group: Sequence[Sequence[int]]) -> float:
    """Return the mean of 1 - BLEU of each completion against all others of its group (Zhu et al., SIGIR 2018).

    BLEU is that of Papineni et al. (ACL 2002) with n-grams up to ``BLEU_ORDER`` (or the completion's length, if that
    is less) in equal weights, without smoothing: a completion that shares no n-gram of some order has the distance
    1. Linear in the tokens of a group.
    """
    tables = [_two_largest(group, order) for order in range(1, BLEU_ORDER + 1)]
    lengths = [len(ids) for ids in group]
    return _mean(1 - _bleu(index, ids, tables, lengths) for index, ids in enumerate(group))


METRICS: Mapping[str, Metric] = MappingProxyType(
    {"bigram_jaccard": bigram_jaccard, "edit_distance": edit_distance, "self_bleu": self_bleu}
)


def diversity(groups: Sequence[Sequence[Sequence[int]]], metric: str | Metric = "bigram_jaccard") -> float:
    """Return the mean of a metric over groups.

    Args:
        groups: for each prompt the token ids of its completions, two at least; the same number everywhere is not
            needed.
        metric: a name of ``METRICS``, or a function of one group.

    Raises:
        ValueError: there is no such metric, no group, or a group of fewer than two completions.

    """
    if isinstance(metric, str):
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, not {metric!r}")
        metric = METRICS[metric]
    if not groups or any(len(group) < 2 for group in groups):  # noqa: PLR2004 -- a pair
        raise ValueError("groups: diversity needs at least one group, and two completions in each")
    return _mean(metric(group) for group in groups)


def _bigrams(ids: Sequence[int]) -> frozenset[_Gram]:
    return frozenset(pairwise(ids)) if len(ids) > 1 else frozenset(zip(ids, strict=True))


def _jaccard_distance(a: frozenset[_Gram], b: frozenset[_Gram]) -> float:
    common = len(a & b)
    union = len(a) + len(b) - common
    return 1 - common / union if union else 0.0


def _ngrams(ids: Sequence[int], order: int) -> Counter[_Gram]:
    return Counter(zip(*(ids[start:] for start in range(order)), strict=False))


def _two_largest(group: Sequence[Sequence[int]], order: int) -> dict[_Gram, tuple[int, int, int]]:
    """Return for each n-gram its largest count, whose it is, and the largest count of anybody else."""
    found: dict[_Gram, tuple[int, int, int]] = {}
    for index, ids in enumerate(group):
        for gram, count in _ngrams(ids, order).items():
            largest, owner, second = found.get(gram, (0, -1, 0))
            found[gram] = (count, index, largest) if count > largest else (largest, owner, max(second, count))
    return found


def _bleu(
    index: int,
    ids: Sequence[int],
    tables: Sequence[dict[_Gram, tuple[int, int, int]]],
    lengths: Sequence[int],
) -> float:
    others = [*lengths[:index], *lengths[index + 1 :]]
    if not ids:
        return float(0 in others)
    orders = min(len(ids), BLEU_ORDER)
    total = 0.0
    for order in range(1, orders + 1):
        matched = 0
        for gram, count in _ngrams(ids, order).items():
            largest, owner, second = tables[order - 1][gram]
            matched += min(count, second if owner == index else largest)
        if not matched:
            return 0.0
        total += log(matched / (len(ids) - order + 1))
    nearest = min(others, key=lambda length: (abs(length - len(ids)), length))
    brevity = min(0.0, 1 - nearest / len(ids))
    return exp(brevity + total / orders)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
