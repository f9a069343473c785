"""Number literals and how near two numbers are.

Two kinds of expected number, told apart by how they are written:

- an integer, ``-?(0|[1-9][0-9]*)``: equal only to its exact value at any size, also as ``3.0`` or ``3e0``;
- a decimal, with a fraction or an exponent: equal within the tolerance, absolute or relative.

Anything else (``+5``, ``007``, ``1_000``, ``nan``) is a word. Digits are compared as text, because ``int`` of
a long text is quadratic and limited; ``float`` of a long text is linear.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass

# An exponent of more digits is no number that anybody prints; the bound keeps arithmetic on exponents cheap.
_EXPONENT = rb"[eE][+-]?[0-9]{1,18}"
_WHOLE = rb"(?:0|[1-9][0-9]*)"
_INTEGER = rb"-?" + _WHOLE
# Without a point the mantissa must not be 0, or `0e12` and `0e34`, which are hashes or names, would be equal.
_UNSIGNED_DECIMAL = (
    rb"(?:(?:" + _WHOLE + rb"\.[0-9]*|\.[0-9]+)(?:" + _EXPONENT + rb")?|[1-9][0-9]*" + _EXPONENT + rb")"
)
_DECIMAL = rb"[+-]?" + _UNSIGNED_DECIMAL

# Where a decimal is expected, a sign and leading zeros change nothing: `+0.5` and `00.5` are one half.
_REAL = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:" + _EXPONENT + rb")?"

is_integer = re.compile(_INTEGER).fullmatch
is_decimal = re.compile(_DECIMAL).fullmatch
_is_real = re.compile(_REAL).fullmatch
is_infinity = re.compile(rb"-?inf(?:inity)?", re.IGNORECASE).fullmatch

# A number inside a token starts where no word and no other number runs into it, so that versions, addresses
# and names with digits stay words; what follows may be a unit or punctuation.
_EMBEDDED = re.compile(
    rb"((?<![\w.])" + _DECIMAL + rb"(?![0-9]|\.[0-9])|(?<![\w.])" + _INTEGER + rb"(?![\w.]))"
)

# Up to this many characters, `canonical` spells an integer plainly: quick for the integers that occur.
_PLAIN_DIGITS = 64

# Differences of doubles carry the rounding of their operands: up to four units in the last place at the edge.
_ROUNDING = 4 * sys.float_info.epsilon


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a decimal may be off, absolutely or relatively to the expected value. Both 0: not at all."""

    absolute: float
    relative: float

    def at(self, expected: float) -> float:
        """Return the distance allowed from ``expected``, finite."""
        return min(max(self.absolute, self.relative * abs(expected)), sys.float_info.max)


def near(expected: float, actual: float, tolerance: Tolerance) -> bool:
    """Whether two finite numbers are within the tolerance; an infinity or NaN is near nothing."""
    if not (math.isfinite(expected) and math.isfinite(actual)):
        return False
    allowed = tolerance.at(expected)
    if allowed <= 0:
        return expected == actual
    return abs(expected - actual) <= allowed + _ROUNDING * max(abs(expected), abs(actual))


def literal_near(expected: bytes, actual: bytes, tolerance: Tolerance) -> bool:
    """Whether two tokens are equal as text or as numbers."""
    if expected == actual:
        return True
    if is_decimal(expected):
        if not _is_real(actual):
            return False
        # With no tolerance at all the digits decide: distinct literals can be the same double.
        if tolerance.at(1.0) > 0 and near(float(expected), float(actual), tolerance):
            return True
        return canonical(expected) == canonical(actual)
    if is_integer(expected):
        # Integers of one value are spelt alike, but for -0.
        if is_decimal(actual) or (is_integer(actual) and expected[-1:] == actual[-1:] == b"0"):
            return canonical(expected) == canonical(actual)
        return False
    if is_infinity(expected) and is_infinity(actual):
        return expected.startswith(b"-") == actual.startswith(b"-")
    return _embedded_near(expected, actual, tolerance)


def _embedded_near(expected: bytes, actual: bytes, tolerance: Tolerance) -> bool:
    """Whether words such as ``3.14cm`` or ``x=0.5,`` are equal but for decimals within the tolerance."""
    if b"." not in expected and b"e" not in expected and b"E" not in expected:
        return False
    expected_parts, actual_parts = _EMBEDDED.split(expected), _EMBEDDED.split(actual)
    # Every second part is a number, the others are the text around the numbers.
    if len(expected_parts) != len(actual_parts) or expected_parts[::2] != actual_parts[::2]:
        return False
    return all(
        wanted == got or (is_decimal(wanted) is not None and literal_near(wanted, got, tolerance))
        for wanted, got in zip(expected_parts[1::2], actual_parts[1::2], strict=True)
    )


def canonical(literal: bytes) -> bytes:
    """Return one spelling per value of number literals: a plain integer, or digits and an exponent."""
    if len(literal) <= _PLAIN_DIGITS and is_integer(literal):
        return literal if literal != b"-0" else b"0"
    mantissa, _, exponent = literal.lower().partition(b"e")
    whole, _, fraction = mantissa.lstrip(b"+-").partition(b".")
    power = int(exponent or b"0") - len(fraction)
    digits = (whole + fraction).lstrip(b"0")
    significant = digits.rstrip(b"0")
    if not significant:
        return b"0"
    power += len(digits) - len(significant)
    sign = b"-" if literal.startswith(b"-") else b""
    if power >= 0 and len(sign) + len(significant) + power <= _PLAIN_DIGITS:
        return sign + significant + b"0" * power
    return b"%b%be%d" % (sign, significant, power)


def value_near(expected: object, actual: object, tolerance: Tolerance) -> bool:
    """Whether two returned numbers of built-in types are equal or near.

    A truth value is the integer 0 or 1, as in Python: it is accepted exactly where that integer is.
    """
    match expected, actual:
        case int(), int() | float():
            # Between int and float Python compares exact values, whatever their size.
            return expected == actual
        case float(), float():
            return expected == actual or near(expected, actual, tolerance)
        case float(), int():
            return expected == actual or near(expected, _as_float(actual), tolerance)
        case complex(), complex():
            return expected == actual or (
                value_near(expected.real, actual.real, tolerance)
                and value_near(expected.imag, actual.imag, tolerance)
            )
    return False


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf
