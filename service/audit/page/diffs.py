"""Two outputs side by side, with what only one of them has marked."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from markupsafe import Markup, escape

# Matching takes quadratic time; beyond this many words the rest is marked as a whole.
MAX_WORDS = 300
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# Blanks that differ are what a reader would look for in vain.
_VISIBLE = str.maketrans({" ": "·", "\t": "⇥", "\r": "␍", "\n": "⏎\n"})


def marked(expected: str, actual: str) -> tuple[Markup, Markup]:
    """Return both texts as HTML, differences in ``<del>`` and ``<ins>``."""
    wanted, got = _WORDS.findall(expected), _WORDS.findall(actual)
    start = _common(wanted, got)
    end = _common(wanted[start:][::-1], got[start:][::-1])
    middle_wanted, middle_got = wanted[start : len(wanted) - end], got[start : len(got) - end]
    left, right = [escape("".join(wanted[:start]))], [escape("".join(got[:start]))]
    for tag, i1, i2, j1, j2 in _opcodes(middle_wanted, middle_got):
        same = tag == "equal"
        left.append(_part(middle_wanted[i1:i2], "del", same=same))
        right.append(_part(middle_got[j1:j2], "ins", same=same))
    left.append(escape("".join(wanted[len(wanted) - end :])))
    right.append(escape("".join(got[len(got) - end :])))
    return Markup("").join(left), Markup("").join(right)


def _opcodes(first: list[str], second: list[str]) -> list[tuple[str, int, int, int, int]]:
    if max(len(first), len(second)) > MAX_WORDS:
        return [("replace", 0, len(first), 0, len(second))]
    return [*SequenceMatcher(None, first, second, autojunk=False).get_opcodes()]


def _part(words: list[str], element: str, *, same: bool) -> Markup:
    text = "".join(words)
    if same or not text:
        return escape(text)
    visible = text.translate(_VISIBLE) if not text.strip() else text
    return Markup("<{0}>{1}</{0}>").format(element, visible)


def _common(first: list[str], second: list[str]) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
