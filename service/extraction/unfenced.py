"""Programs without a fence: between tags such as ``<answer>`` or ``[PYTHON]``, or between lines of prose.

A run of lines ends only at prose, never at a line that may be code: the part of a broken or truncated program
that happens to parse is not the program. Both searches are linear and return a bounded number of texts.
"""

from __future__ import annotations

import re
from keyword import iskeyword
from typing import TYPE_CHECKING

from service.extraction.fences import StringState, fence_of, without_margin
from service.extraction.python_source import starts_statement
from service.extraction.repair import PLAIN_SPACES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from service.extraction.fences import Block

MAX_CANDIDATES = 12

_NAMES = r"answer|final_answer|solution|code|program|python|pre"
_WRAPPER = re.compile(
    rf"<(?P<end>/?)(?P<name>{_NAMES})(?:\s[^<>\n]{{0,80}})?>|\[(?P<end2>/?)(?P<name2>PYTHON|CODE|ANSWER)\]",
    re.IGNORECASE,
)
_CHARS_JUDGED = 400  # of a line: enough to tell prose from code, and a bound on backtracking
_ASSIGNMENT = re.compile(
    r"[(*\[]?[\w.]+(?:\[[^\]]*\])*(?:\s*,\s*\*?[\w.]+(?:\[[^\]]*\])*)*[)\]]?\s*"
    r"(?::[^=]{1,80})?[-+*/|&^%@<>]{0,3}=(?!=)"
)
_FIRST_WORD = re.compile(r"[a-z_]+")
_SENTENCE_ENDS = (".", "!", "?", "\u3002", "\uff01", "\uff1f", "\uff1a")
_PROSE = re.compile(
    r"[-+*\u2022\u2013]\s|\d{1,3}[.)]\s|\*\*|__[A-Z]|>(?!>>)|[<$\\|`]|[-=*_]{3,}$|\[/"  # Markdown, markup
    r"|[^\W\d_][\w'\u2019-]*[,;:]?\s+[^\W\d_]"  # two words
    r"|[^\W\d_][\w'\u2019-]*\s*:?$"  # one word
    r"|[^\x00-\u2e7f]"  # scripts without spaces
)
_INNER_KEYWORDS = frozenset({"and", "as", "in", "is", "or"})  # start no statement that a colon ends
_SOFT_KEYWORDS = frozenset({"match", "case", "type", "print", "exec"})


def outside_blocks(lines: Sequence[str], blocks: Sequence[Block]) -> list[str]:
    """Return the lines of no block; its opener stays where a block stood, so that its neighbours stay apart."""
    outside: list[str] = []
    start = 0
    for block in blocks:
        outside.extend(lines[start : block.first])
        start = block.end
    return [*outside, *lines[start:]]


def wrapped(lines: Sequence[str]) -> list[str]:
    """Return texts between wrapping tags: the last pair first, in the end the outermost pair of each name."""
    text = "\n".join(lines)
    tags = [
        ((m["name"] or m["name2"]).lower(), not (m["end"] or m["end2"]), m.start(), m.end())
        for m in _WRAPPER.finditer(text)
    ]
    spans: list[tuple[int, int]] = []
    next_end: dict[str, int] = {}
    outermost: dict[str, tuple[int, int]] = {}
    for name, opens, start, end in reversed(tags):
        if not opens:
            next_end[name] = start
            outermost.setdefault(name, (end, start))
            continue
        span = (end, next_end.get(name, len(text)))
        spans.append(span)
        outermost[name] = (end, outermost.get(name, span)[1])
    candidates = [*spans[: MAX_CANDIDATES // 2], *list(outermost.values())[: MAX_CANDIDATES // 2]]
    return [_flush(text[a:b]) for a, b in dict.fromkeys(candidates) if a < b and _is_displayed(text, a, b)]


def runs(lines: Sequence[str]) -> list[str]:
    """Return the runs of lines between prose, the longest first, of equally long ones the last first."""
    found = list(_runs(lines))[::-1]
    found.sort(key=len, reverse=True)
    return ["\n".join([*without_margin(run, 0), ""]) for run in found[:MAX_CANDIDATES]]


def _runs(lines: Sequence[str]) -> Iterator[list[str]]:
    run: list[str] = []
    blank_at_end = 0
    state = StringState()
    for line in [*lines, "."]:
        if state.inside or not line.strip() or not _is_prose(line):
            if run or line.strip():
                run.append(line)
                blank_at_end = 0 if line.strip() else blank_at_end + 1
                state.feed(line)
        elif run:
            yield run[: len(run) - blank_at_end]
            run, blank_at_end = [], 0
    if run:
        yield run


def _is_prose(line: str) -> bool:
    """Whether a line that is not blank and in no string is surely no code; in doubt it is code."""
    line = line[:_CHARS_JUDGED].translate(PLAIN_SPACES)
    if fence_of(line, 0) is not None:
        return True
    text = line.strip()
    if line[:1].isspace() and not re.match(r"[-*\u2022]\s|\d{1,3}[.)]\s", text):
        return False
    if (
        text.startswith(("#", "...", ">>>", "@", '"', "'"))
        or starts_statement(text)
        or _ASSIGNMENT.match(text)
    ):
        return False
    if text.endswith(_SENTENCE_ENDS):
        return True
    word = _FIRST_WORD.match(text)
    if word is not None and (iskeyword(word[0]) or word[0] in _SOFT_KEYWORDS):
        return word[0] in _INNER_KEYWORDS and text.endswith(":")
    return _PROSE.match(text) is not None


def _is_displayed(text: str, start: int, end: int) -> bool:
    """Whether the tag before ``start`` begins a line or encloses several: inline code is no program."""
    if "\n" in text[start:end].strip():
        return True
    before = text[max(0, text.rfind("\n", 0, start) + 1, start - _CHARS_JUDGED) : start]
    return not _WRAPPER.sub("", before).strip()


def _flush(text: str) -> str:
    lines = text.split("\n")
    while len(lines) > 1 and not lines[0].strip():
        lines.pop(0)
    if lines and not lines[-1].strip():
        lines[-1] = ""  # the indentation of the closing tag
    return "\n".join(without_margin(lines, 0))
