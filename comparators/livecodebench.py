"""The rules of LiveCodeBench's evaluator, as a baseline: strict about form, and lenient where ``Decimal`` is.

Text is compared line by line, stripped: equal strings, or equal decimals token by token. Values are compared
with ``==``, after a tuple at the top was made a list. Where that evaluator would crash, the answer is no.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from comparators.encoding import decoded
from comparators.leaves import python_equality
from comparators.pair import Pair, Printed
from comparators.values import first_difference

if TYPE_CHECKING:
    from comparators.comparison import Rules


def lines(pair: Pair, rules: Rules, /) -> bool:  # noqa: ARG001  # one protocol for all steps
    """Accept equal lines, each stripped of any Unicode white space."""
    return isinstance(pair, Printed) and _stripped(pair.raw_expected) == _stripped(pair.actual)


def decimals(pair: Pair, rules: Rules, /) -> bool:  # noqa: ARG001  # one protocol for all steps
    """Accept lines that are equal, or whose tokens all are decimals of equal values."""
    if not isinstance(pair, Printed):
        return False
    expected, actual = _stripped(pair.raw_expected), _stripped(pair.actual)
    return len(expected) == len(actual) and all(
        wanted == got or _decimals_equal(wanted, got) for wanted, got in zip(expected, actual, strict=True)
    )


def equal(pair: Pair, rules: Rules, /) -> bool:  # noqa: ARG001  # one protocol for all steps
    """Accept returned values that Python calls equal."""
    if isinstance(pair, Printed):
        return False
    actual = list(pair.actual) if type(pair.actual) is tuple else pair.actual
    return first_difference(pair.expected, actual, python_equality(mixed=False)) is None


def _stripped(text: bytes) -> list[str]:
    return [line.strip() for line in decoded(text).strip().split("\n")]


def _decimals_equal(expected: str, actual: str) -> bool:
    try:
        # Signalling NaNs raise when compared; they are not equal to anything either.
        return [Decimal(token) for token in expected.split()] == [Decimal(token) for token in actual.split()]
    except InvalidOperation:
        return False
