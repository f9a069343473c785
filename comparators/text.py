"""Step ``text``: words alike but for case that is no content, for Unicode normal forms, for outer quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from comparators.leaves import near_values
from comparators.literals import folded_tokens, structures
from comparators.numbers import Tolerance
from comparators.pair import AlikeTokens, Pair, Printed
from comparators.structure import structures_alike
from comparators.values import first_difference

if TYPE_CHECKING:
    from comparators.comparison import Rules

_QUOTES = (b'"', b"'")


def accepts(pair: Pair, rules: Rules, /) -> bool:
    """Accept words alike but for case, where they are yes/no-like or the problem ignores case.

    Printed words may also be in another Unicode normal form, and the whole answer in quotes. Returned strings
    are compared by content: only ``ignore_case`` makes a difference to them.
    """
    if not isinstance(pair, Printed):
        if not rules.ignore_case:
            return False
        likeness = near_values(Tolerance(rules.abs_tol, rules.rel_tol), mixed=True, fold=True)
        return first_difference(pair.expected, pair.actual, likeness) is None
    alike = folded_tokens(rules)
    if pair.tokens_alike(alike):
        return True
    if rules.ignore_case and structures_alike(pair, alike, structures(rules, alike, fold_case=True)):
        return True
    return _quoted_alike(pair, alike)


def _quoted_alike(pair: Printed, alike: AlikeTokens) -> bool:
    expected, actual = pair.expected.strip(), pair.actual.strip()
    bare_expected, bare_actual = _without_quotes(expected), _without_quotes(actual)
    if (bare_expected, bare_actual) == (expected, actual):
        return False
    wanted, got = bare_expected.split(), bare_actual.split()
    # Nothing between quotes is not the same as no answer.
    return bool(wanted) and len(wanted) == len(got) and all(map(alike, wanted, got))


def _without_quotes(text: bytes) -> bytes:
    """Remove one pair of equal quotes around ``text`` where the same quote does not occur within."""
    for quote in _QUOTES:
        if len(text) > 1 and text.startswith(quote) and text.endswith(quote) and quote not in text[1:-1]:
            return text[1:-1]
    return text
