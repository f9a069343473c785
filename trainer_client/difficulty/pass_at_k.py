"""pass@k: the chance that at least one of k completions is right."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def pass_at_k(completions: int, correct: int, k: int) -> Fraction:
    """Return the unbiased estimate from ``correct`` right ones among ``completions``, exactly.

    ``1 - C(n - c, k) / C(n, k)``, the share of subsets of size k that hold a right one: Chen et al., "Evaluating Large
    Language Models Trained on Code" (arXiv 2107.03374), equation 1.

    Raises:
        ValueError: ``k`` is not from 1 to ``completions``, or ``correct`` not from 0 to ``completions``.

    """
    if not 1 <= k <= completions:
        raise ValueError(f"k: {k} is not from 1 to {completions}, the number of completions")
    if not 0 <= correct <= completions:
        raise ValueError(f"correct: {correct} is not from 0 to {completions}, the number of completions")
    return 1 - Fraction(comb(completions - correct, k), comb(completions, k))
