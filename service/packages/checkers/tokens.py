"""The format's default output validator, for flags that the comparison options have no words for.

Tokens are compared one by one. With a tolerance, a token of the answer that reads as a number, an integer
included, accepts any number near it; other tokens must be equal, without regard to case unless
``case_sensitive``.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_PIECES = re.compile(r"[ \t\n\v\f\r]+|[^ \t\n\v\f\r]+")


def compare_tokens(
    expected: str,
    actual: str,
    *,
    case_sensitive: bool,
    space_change_sensitive: bool,
    tolerances: tuple[float, float] | None,
) -> tuple[bool, str]:
    """Compare two texts; ``tolerances``: the absolute and the relative one, None where numbers are text."""
    pieces = [_PIECES.findall(text) for text in (expected, actual)]
    if not space_change_sensitive:
        pieces = [[piece for piece in row if not piece.isspace()] for row in pieces]
    for place, (want, got) in enumerate(zip(*pieces, strict=False)):
        if not _same(want, got, case_sensitive, tolerances):
            return False, f"piece {place}: expected {want[:60]!r}, found {got[:60]!r}"
    if len(pieces[0]) != len(pieces[1]):
        return False, f"expected {len(pieces[0])} pieces of text, found {len(pieces[1])}"
    return True, ""


def _same(want: str, got: str, case_sensitive: bool, tolerances: tuple[float, float] | None) -> bool:  # noqa: FBT001
    if want == got:
        return True
    if tolerances is not None and _NUMBER.fullmatch(want):
        if not _NUMBER.fullmatch(got):
            return False
        absolute, relative = tolerances
        difference = abs(float(want) - float(got))
        return difference <= absolute or difference <= relative * abs(float(want))
    return not case_sensitive and want.lower() == got.lower()
