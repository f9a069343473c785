"""Numbers in texts as controls see them: what is one, what lies in a tolerance, and what certainly does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from comparators import Rules

INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+", re.ASCII)
# Edges of a tolerance are the comparators' own tests' matter; controls keep away from them.
OUTSIDE, INSIDE = 10.0, 0.25
LARGEST_EXACT = 1 << 53


def outside(expected: float, actual: float, rules: Rules) -> bool:
    """Whether ``actual`` is wrong beyond doubt."""
    return abs(expected - actual) > OUTSIDE * _tolerance(expected, rules)


def distinct(first: str, second: str, rules: Rules) -> bool:
    """Whether two tokens cannot stand for each other under any rule."""
    if _is_number(first) and _is_number(second):
        return outside(float(first), float(second), rules)
    return first.casefold() != second.casefold() and any(map(str.isalnum, first + second))


def nudged(value: float, rules: Rules) -> float:
    """Return a number well within the tolerance around ``value``."""
    return value + INSIDE * _tolerance(value, rules)


def rounded(value: float, digits: int, rules: Rules) -> float | None:
    """Return ``value`` with the most decimals, fewer than ``digits``, that make it wrong."""
    for fewer in range(digits - 1, -1, -1):
        candidate = round(value, fewer)
        if outside(value, candidate, rules):
            return candidate
    return None


def _tolerance(value: float, rules: Rules) -> float:
    return max(rules.abs_tol, rules.rel_tol * abs(value))


def _is_number(token: str) -> bool:
    return bool(INTEGER.fullmatch(token) or DECIMAL.fullmatch(token))
