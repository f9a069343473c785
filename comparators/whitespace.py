"""Step ``whitespace``: line ends, trailing blanks and trailing empty lines do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from comparators.pair import Pair, Printed

if TYPE_CHECKING:
    from comparators.comparison import Rules


def accepts(pair: Pair, rules: Rules, /) -> bool:  # noqa: ARG001  # one protocol for all steps
    """Accept texts whose lines are equal up to their ends; blanks in returned strings are content."""
    return isinstance(pair, Printed) and tidy_lines(pair.expected) == tidy_lines(pair.actual)


def tidy_lines(text: bytes) -> list[bytes]:
    """Return the lines of ``text`` without trailing blanks (a CR is one) and empty lines at the end."""
    return [line.rstrip() for line in text.rstrip().split(b"\n")]
