"""Step ``numeric``: numbers pairwise, integers exactly, decimals within the tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from comparators.leaves import near_values
from comparators.numbers import Tolerance
from comparators.pair import Pair, Printed
from comparators.values import first_difference

if TYPE_CHECKING:
    from comparators.comparison import Rules


def accepts(pair: Pair, rules: Rules, /) -> bool:
    """Accept the same tokens in order, or the same value, but for numbers that are equal or near enough."""
    if isinstance(pair, Printed):
        return pair.first_unlike == len(pair.expected_tokens) == len(pair.actual_tokens)
    tolerance = Tolerance(rules.abs_tol, rules.rel_tol)
    return first_difference(pair.expected, pair.actual, near_values(tolerance, mixed=False)) is None
