"""How printed literals and words are compared: as tokens, and as leaves of printed structures."""

from __future__ import annotations

import math
import unicodedata
from functools import partial
from typing import TYPE_CHECKING, Any

from comparators.encoding import decoded
from comparators.multiset import Number, pair_off
from comparators.numbers import Tolerance, canonical, is_decimal, is_integer, literal_near
from comparators.scan import CONSTANTS
from comparators.values import Likeness

if TYPE_CHECKING:
    from collections.abc import Callable

    from comparators.comparison import Rules
    from comparators.pair import AlikeTokens

_ANSWER_WORDS = frozenset({"yes", "no", "true", "false", "possible", "impossible"})
_PUNCTUATION = ".,:;!?"

# Unicode's Stream-Safe Text Format (UAX #15) allows 30 combining characters in a row. Longer runs come from
# no language, and normalising them takes quadratic time.
_MAX_COMBINING_RUN = 30
# These combine although their own class says otherwise: each decomposes into two combining characters.
_HIDDEN_COMBINING = "\u0f73\u0f75\u0f81"


def near_tokens(tolerance: Tolerance) -> AlikeTokens:
    """Make the comparison of tokens that accepts equal text, near numbers and spellings of constants."""

    def alike(expected: bytes, actual: bytes) -> bool:
        wanted, got = CONSTANTS.get(expected, expected), CONSTANTS.get(actual, actual)
        return wanted == got or literal_near(wanted, got, tolerance)

    return alike


def folded_tokens(rules: Rules) -> AlikeTokens:
    """Make the comparison of tokens that also accepts another case (where allowed) or Unicode normal form."""
    tolerance = Tolerance(rules.abs_tol, rules.rel_tol)

    def alike(expected: bytes, actual: bytes) -> bool:
        if expected == actual or literal_near(expected, actual, tolerance):
            return True
        wanted, got = decoded(expected), decoded(actual)
        return fold(wanted, ignore_case=rules.ignore_case) == fold(got, ignore_case=rules.ignore_case)

    return alike


def fold(word: str, *, ignore_case: bool) -> str:
    """Return one spelling of words that are alike: composed, and in lower case where case is no content."""
    if not word.isascii() and _is_stream_safe(word):
        word = unicodedata.normalize("NFC", word)
    folded = word.casefold()
    return folded if ignore_case or folded.rstrip(_PUNCTUATION) in _ANSWER_WORDS else word


def _is_stream_safe(text: str) -> bool:
    run = 0
    for character in text:
        if unicodedata.combining(character) or character in _HIDDEN_COMBINING:
            run += 1
            if run > _MAX_COMBINING_RUN:
                return False
        else:
            run = 0
    return True


def is_typed(bare: bytes) -> bool:
    """Whether a bare literal is a number or a constant, and so differs from the string of the same text."""
    return bare in CONSTANTS.values() or is_integer(bare) is not None or is_decimal(bare) is not None


def structures(rules: Rules, alike: AlikeTokens, *, fold_case: bool = False) -> Likeness:
    """Make the likeness of printed structures: bare literals as tokens, quoted strings by content.

    A bare word may be quoted on the other side; a number or constant may not, as ``"1"`` is not 1.
    """

    def compare_leaves(expected: str | bytes, actual: str | bytes) -> bool:
        if isinstance(expected, bytes) and isinstance(actual, bytes):
            return alike(expected, actual)
        if isinstance(expected, bytes):
            return not is_typed(expected) and decoded(expected) == actual
        if isinstance(actual, bytes):
            return not is_typed(actual) and decoded(actual) == expected
        return expected == actual or (fold_case and expected.casefold() == actual.casefold())

    tolerance = Tolerance(rules.abs_tol, rules.rel_tol)
    return Likeness(
        compare_leaves, partial(pair_off, read=read_literal(rules), tolerance=tolerance), mixed=True
    )


def read_literal(rules: Rules) -> Callable[[Any], Number | str | None]:
    """Make the reader of printed leaves for ``multiset.pair_off``."""
    tolerant = Tolerance(rules.abs_tol, rules.rel_tol).at(1.0) > 0

    def read(leaf: str | bytes) -> Number | str | None:
        if isinstance(leaf, str):
            typed = is_typed(leaf.encode("utf-8", "surrogateescape"))
            return f"'{leaf}" if typed else f"={fold(leaf, ignore_case=rules.ignore_case)}"
        if is_integer(leaf):
            return Number(canonical(leaf), float(leaf), exact=True)
        if is_decimal(leaf):
            value = float(leaf)
            # Only what an integer may equal, or what no double holds, has to be told by its digits.
            plain = tolerant and math.isfinite(value) and not value.is_integer()
            return Number(leaf if plain else canonical(leaf), value, exact=False)
        return f"={fold(decoded(leaf), ignore_case=rules.ignore_case)}"

    return read
