"""What every step is given, one pair of outputs with the views that steps share, and the protocol of steps.

Text is compared as UTF-8 bytes. Bytes keep three promises for free: an invalid byte equals only itself, only
ASCII white space separates tokens, and only ASCII digits are digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from comparators.encoding import encoded
from comparators.numbers import Tolerance, literal_near
from comparators.scan import count_brackets, scan
from comparators.values import is_bounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from comparators.comparison import Rules

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Reading a structure costs far more than its text: a flood of brackets is not read at all.
_SPARE_BRACKETS = 16


@dataclass(frozen=True)
class Printed:
    """The expected text and what a program printed, both as bytes; views are computed once, on demand."""

    raw_expected: bytes
    actual: bytes
    tolerance: Tolerance

    @cached_property
    def expected(self) -> bytes:
        """The expected text without a byte order mark, which is an artefact of the data file."""
        return self.raw_expected.removeprefix(_BYTE_ORDER_MARK)

    @cached_property
    def expected_tokens(self) -> list[bytes]:
        """What ASCII white space separates."""
        return self.expected.split()

    @cached_property
    def actual_tokens(self) -> list[bytes]:
        """What ASCII white space separates."""
        return self.actual.split()

    @cached_property
    def expected_rows(self) -> list[list[bytes]]:
        """The tokens of each line that has any."""
        return rows_of(self.expected)

    @cached_property
    def actual_rows(self) -> list[list[bytes]]:
        """The tokens of each line that has any."""
        return rows_of(self.actual)

    @cached_property
    def expected_items(self) -> list[Any] | None:
        """What ``scan`` reads in the expected text."""
        return scan(self.expected)

    @cached_property
    def actual_items(self) -> list[Any] | None:
        """What ``scan`` reads in the printed text; None where it is not worth reading."""
        return None if self.floods_brackets else scan(self.actual)

    @cached_property
    def floods_brackets(self) -> bool:
        """Whether the printed text has far more brackets than any spelling of the answer."""
        expected = count_brackets(self.expected) + len(self.expected_rows)
        return count_brackets(self.actual) > 2 * expected + _SPARE_BRACKETS

    @cached_property
    def first_unlike(self) -> int:
        """The index of the first token neither equal nor near; where there is none, the lesser count."""
        pairs = zip(self.expected_tokens, self.actual_tokens, strict=False)
        for index, (wanted, got) in enumerate(pairs):
            if wanted != got and not literal_near(wanted, got, self.tolerance):
                return index
        return min(len(self.expected_tokens), len(self.actual_tokens))

    def tokens_alike(self, alike: AlikeTokens) -> bool:
        """Whether tokens are pairwise equal, near, or alike, which is asked where they are neither."""
        count = len(self.expected_tokens)
        if count != len(self.actual_tokens):
            return False
        return all(
            self.expected_tokens[index] == self.actual_tokens[index]
            or alike(self.expected_tokens[index], self.actual_tokens[index])
            for index in range(self.first_unlike, count)
        )


@dataclass(frozen=True)
class Returned:
    """The expected value and the value that a program returned."""

    expected: Any
    actual: Any

    @cached_property
    def is_bounded(self) -> bool:
        """Whether both values can be written out: a container that holds itself cannot."""
        return is_bounded(self.expected) and is_bounded(self.actual)


type Pair = Printed | Returned
type AlikeTokens = Callable[[bytes, bytes], bool]


class Accepts(Protocol):
    """One step: it never raises, never mutates, and takes n log n time at most."""

    def __call__(self, pair: Pair, rules: Rules, /) -> bool:
        """Whether the step accepts the pair."""
        ...


def printed(expected: str, actual: bytes, tolerance: Tolerance) -> Printed:
    """Pair an expected text with printed bytes; a lone surrogate in ``expected`` equals no character."""
    return Printed(encoded(expected), actual, tolerance)


def rows_of(text: bytes) -> list[list[bytes]]:
    """Return the tokens of each line of ``text`` that has any."""
    return [tokens for line in text.split(b"\n") if (tokens := line.split())]
