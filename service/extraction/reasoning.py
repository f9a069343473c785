"""The reasoning part of a completion: where it ends, and whether it ends at all.

A closing tag counts wherever it stands, because chat templates put the opening one into the prompt, unless it
is text of a program: inside a fenced block that parses as Python with it. An opening tag counts only at the
start of a line outside fences. What stands before a part that never closes is still an answer; what stands in
it is a draft.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.extraction.fences import Block

_NAMES = r"(?:seed:)?(?:think|thinking|thought|reasoning)"
_CLOSING = re.compile(
    rf"</{_NAMES}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>", re.IGNORECASE
)
_OPENING = re.compile(
    rf"[ \t]*(?:<{_NAMES}>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>analysis<\|message\|>)",
    re.IGNORECASE,
)


def closings(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return line and column after the last closing tag of every line that has one, the last line first."""
    found = []
    for index in range(len(lines) - 1, -1, -1):
        ends = [match.end() for match in _CLOSING.finditer(lines[index])]
        if ends:
            found.append((index, ends[-1]))
    return found


def first_opening(lines: Sequence[str], blocks: Sequence[Block]) -> int | None:
    """Return the first line that begins with an opening tag and is in none of ``blocks`` (in order), or None."""
    start = 0
    for first, end in [*((block.first, block.end) for block in blocks), (len(lines), len(lines))]:
        for index in range(start, first):
            if _OPENING.match(lines[index]):
                return index
        start = end
    return None
