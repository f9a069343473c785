"""The reasoning part of a completion: where it ends, and whether it ends at all.

A closing tag counts wherever it stands, because chat templates put the opening one into the prompt, unless it
is text of a program: inside a fenced block that parses as Python with it. An opening tag counts only at the
start of a line outside fences.
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


def opens_outside(lines: Sequence[str], blocks: Sequence[Block]) -> bool:
    """Whether an opening tag stands at the start of a line that belongs to none of ``blocks`` (in order)."""
    start = 0
    for block in blocks:
        if any(_OPENING.match(line) for line in lines[start : block.first]):
            return True
        start = block.end
    return any(_OPENING.match(line) for line in lines[start:])
