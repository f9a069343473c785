"""The four formulas of the report."""

from __future__ import annotations

import math
from statistics import NormalDist

CONFIDENCE = 0.95


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return Wilson's score interval for a proportion; (0, 1) without trials.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # At the ends the bounds are exact; rounding must not move them.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return low, high


def cohen_kappa(both_yes: int, only_first: int, only_second: int, both_no: int) -> float | None:
    """Return the agreement of two judges beyond chance; None where chance alone makes them agree fully.

    J. Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20 (1960).
    """
    total = both_yes + only_first + only_second + both_no
    if total == 0:
        return None
    observed = (both_yes + both_no) / total
    first_yes, second_yes = both_yes + only_first, both_yes + only_second
    expected = (first_yes * second_yes + (total - first_yes) * (total - second_yes)) / (total * total)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def mcnemar(only_first_right: int, only_second_right: int) -> float:
    """Return the two-sided exact p-value that two judges on the same items are right equally often.

    Q. McNemar, Psychometrika 12 (1947), as the exact binomial test on the items where one of them is wrong.
    """
    trials, fewer = only_first_right + only_second_right, min(only_first_right, only_second_right)
    if trials == 0:
        return 1.0
    # Integers: a tail of many thousands of trials underflows in doubles.
    term = tail = 1
    for successes in range(1, fewer + 1):
        term = term * (trials - successes + 1) // successes
        tail += term
    return min(1.0, 2 * tail / 2**trials) if trials < _MAX_EXACT else min(1.0, _ratio(2 * tail, trials))


_MAX_EXACT = 1000


def _ratio(numerator: int, power: int) -> float:
    """Return ``numerator / 2**power`` for integers beyond the range of doubles."""
    shift = max(numerator.bit_length() - 64, 0)
    return math.ldexp(numerator >> shift, shift - power)
