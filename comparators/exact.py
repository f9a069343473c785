"""Step ``exact``: identical bytes, or identical plain values of identical types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from comparators.leaves import identical
from comparators.pair import Pair, Printed
from comparators.values import first_difference

if TYPE_CHECKING:
    from comparators.comparison import Rules


def accepts(pair: Pair, rules: Rules, /) -> bool:  # noqa: ARG001  # one protocol for all steps
    """Accept identical bytes; for values, the same types and contents throughout."""
    if isinstance(pair, Printed):
        return pair.raw_expected == pair.actual
    return first_difference(pair.expected, pair.actual, identical()) is None
