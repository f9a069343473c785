"""The chain as MicroCoder's public page describes it, without guards, to reproduce its figures.

Seven fall-backs: equality, white space, tokens, approximate numbers, converted containers, text, sets of
lines with rounding. Its wrong acceptances are kept on purpose: near integers, lost duplicates, rows in any
order. Returned values are compared as values first, then by their printed form. Time is bounded and nothing
raises.
"""

from __future__ import annotations

import math
from functools import wraps
from typing import TYPE_CHECKING, Any

from comparators.encoding import decoded, encoded
from comparators.leaves import python_equality
from comparators.pair import Accepts, Pair, Printed, Returned
from comparators.values import CONTAINERS, first_difference

if TYPE_CHECKING:
    from collections.abc import Callable

    from comparators.comparison import Rules

# The defaults of numpy.allclose, and the decimals that chains of this family round to.
_RELATIVE, _ABSOLUTE = 1e-5, 1e-8
_ROUNDED_DECIMALS = 3

_BRACKETS_AND_QUOTES = bytes.maketrans(b"[](){},'\"", b" " * 9)
# Longer integers have no decimal text in CPython unless a limit is lifted.
_MAX_INTEGER_BITS = 10_000


def _on_text(accepts_text: Callable[[bytes, bytes], bool]) -> Accepts:
    """Make a step of a comparison of texts; returned values are compared by their printed form."""

    @wraps(accepts_text)
    def accepts(pair: Pair, rules: Rules, /) -> bool:  # noqa: ARG001  # one protocol for all steps
        if isinstance(pair, Printed):
            return accepts_text(pair.expected, pair.actual)
        return pair.is_bounded and accepts_text(_shown(pair.expected), _shown(pair.actual))

    return accepts


def exact(pair: Pair, rules: Rules, /) -> bool:  # noqa: ARG001  # one protocol for all steps
    """Accept identical texts, and values that Python calls equal once tuples are lists."""
    if isinstance(pair, Returned):
        return first_difference(pair.expected, pair.actual, python_equality(mixed=True)) is None
    return pair.actual in (pair.raw_expected, pair.expected)


@_on_text
def whitespace(expected: bytes, actual: bytes) -> bool:
    """Accept equal lines, stripped, empty ones dropped."""
    return _lines(expected) == _lines(actual)


@_on_text
def tokens(expected: bytes, actual: bytes) -> bool:
    """Accept equal tokens."""
    return expected.split() == actual.split()


@_on_text
def numeric(expected: bytes, actual: bytes) -> bool:
    """Accept numbers that are close, integers included."""
    return _all_close(expected.split(), actual.split())


@_on_text
def structure(expected: bytes, actual: bytes) -> bool:
    """Accept equal or close contents once brackets, commas and quotes are blanks."""
    wanted, got = (text.translate(_BRACKETS_AND_QUOTES).split() for text in (expected, actual))
    return wanted == got or _all_close(wanted, got)


@_on_text
def text(expected: bytes, actual: bytes) -> bool:
    """Accept equal words in any case once brackets, commas and quotes are blanks."""
    wanted, got = (
        decoded(side).casefold().encode("utf-8", "surrogateescape").translate(_BRACKETS_AND_QUOTES).split()
        for side in (expected, actual)
    )
    return wanted == got


@_on_text
def unordered(expected: bytes, actual: bytes) -> bool:
    """Accept equal sets of lines, a line being a set of words or of rounded numbers."""
    wanted, got = (
        [line.split() for line in _lines(side.translate(_BRACKETS_AND_QUOTES))] for side in (expected, actual)
    )
    if _as_sets(wanted) == _as_sets(got):
        return True
    rounded = _rounded(wanted), _rounded(got)
    return None not in rounded and rounded[0] == rounded[1]


def _lines(text: bytes) -> list[bytes]:
    return [stripped for line in text.split(b"\n") if (stripped := line.strip())]


def _as_sets(rows: list[list[bytes]]) -> set[frozenset[bytes]]:
    return {frozenset(row) for row in rows}


def _rounded(rows: list[list[bytes]]) -> set[frozenset[str]] | None:
    numbers = [_floats(row) for row in rows]
    if any(row is None for row in numbers):
        return None
    # As text: chosen numbers could collide in a hash table.
    return {
        frozenset(f"{number:.{_ROUNDED_DECIMALS}f}" for number in row) for row in numbers if row is not None
    }


def _all_close(expected: list[bytes], actual: list[bytes]) -> bool:
    if len(expected) != len(actual):
        return False
    wanted, got = _floats(expected), _floats(actual)
    return wanted is not None and got is not None and all(map(_close, wanted, got))


def _close(expected: float, actual: float) -> bool:
    if math.isinf(expected) or math.isinf(actual):
        return expected == actual
    return abs(expected - actual) <= _ABSOLUTE + _RELATIVE * abs(expected)


def _floats(tokens: list[bytes]) -> list[float] | None:
    try:
        return [float(decoded(token)) for token in tokens]
    except ValueError:
        return None


def _shown(value: Any) -> bytes:
    """Print a value: the elements of a container on lines of their own, what is inside them as words."""
    rows = value if type(value) in CONTAINERS else [value]
    if type(rows) is dict:
        rows = list(rows.items())
    return b"\n".join(b" ".join(_words(row)) for row in rows)


def _words(value: Any) -> list[bytes]:
    words = []
    pending = [value]
    while pending:
        node = pending.pop()
        if type(node) in CONTAINERS:
            children = [part for item in node.items() for part in item] if type(node) is dict else list(node)
            pending.extend(reversed(children))
        elif type(node) is str:
            words.append(encoded(node))
        elif type(node) is int and node.bit_length() > _MAX_INTEGER_BITS:
            words.append(hex(node).encode())
        elif type(node) in (int, float, complex, bool, bytes, type(None)):
            words.append(str(node).encode())
        else:
            # Anything but plain data is equal to nothing, itself included.
            words.append(b"object at %d" % id(node))
    return words
