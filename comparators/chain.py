"""The comparison chain: steps in order, the first that accepts ends it."""

from __future__ import annotations

from typing import Any

from comparators.comparison import Comparison, Rules
from comparators.feedback import explain
from comparators.numbers import Tolerance
from comparators.pair import Pair, Returned, printed
from comparators.profiles import PROFILES


def compare(expected: Any, actual: Any, rules: Rules | None = None) -> Comparison:
    """Compare what a program printed or returned with what is expected, by the steps of ``rules.profile``.

    Printed: ``expected`` is ``str``, ``actual`` the ``bytes`` that were written. Returned: two plain values;
    a value of any but the exact built-in types equals nothing. Neither is changed, and no content of either
    makes this raise.

    Raises:
        ValueError: ``rules.profile`` names no profile.
        TypeError: for printed output, ``expected`` is no ``str`` or ``actual`` no ``bytes``.

    """
    rules = rules or Rules()
    profile = PROFILES.get(rules.profile)
    if profile is None:
        raise ValueError(f"unknown profile {rules.profile!r}; the profiles are {', '.join(PROFILES)}")
    if rules.kind == "printed":
        if not (isinstance(expected, str) and isinstance(actual, bytes)):
            raise TypeError("printed output is compared as an expected str and actual bytes")
        pair: Pair = printed(expected, actual, Tolerance(rules.abs_tol, rules.rel_tol))
    else:
        pair = Returned(expected, actual)
    for name, accepts in profile.steps.items():
        if accepts(pair, rules):
            return Comparison(accepted=True, step=name, feedback="")
    return Comparison(accepted=False, step=None, feedback=explain(pair, rules))
