"""Fenced blocks of a completion, found line by line as people and models write them.

CommonMark's rules are the base: a fence is three or more backticks or tildes, closed by a bare fence of the
same character and at least its length. What differs, because models differ:

- a block closes at its opener's indentation or less; a deeper fence closes it only where nothing else does;
- a fence inside a triple-quoted string of a Python block closes nothing if the longer block parses;
- a Python opener outside a string starts a new block even where the one before was not closed;
- a line of text or a list marker may stand before an opener, and a closer may follow code on its line;
- a Markdown block is no block: what is fenced inside it counts.

Time is linear: every scan beyond the next closer draws on a budget proportional to the completion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FENCE = re.compile(r"([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(.*)", re.DOTALL)
_TAG = re.compile(r"\s*[{.]*([\w+#.-]+)")
_PYTHON_TAG = re.compile(r"(?:i?python|py|pypy|cpython)-?[0-9.]*|[\w.-]+\.py")
_MARKDOWN_TAGS = frozenset({"markdown", "md"})
_OUTSIDE = re.compile(r"\"\"\"|'''|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|#.*|\\.")
_INSIDE = {'"""': re.compile(r'\\.|"""'), "'''": re.compile(r"\\.|'''")}

Kind = Literal["opens", "bare", "trailing"]


@dataclass(frozen=True, slots=True)
class Fence:
    """A line with a fence: ``trailing`` after code, ``bare`` to open or close, ``opens`` with text on it."""

    line: int
    kind: Kind
    indent: int
    character: str
    length: int
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines ``first`` to ``end`` (exclusive) of a fenced block; ``indent`` is its margin in characters.

    ``last_line`` replaces the text of the last line where a fence followed code on it; ``shorter`` is what
    the block is if its regular end turns out wrong.
    """

    tag: str
    first: int
    end: int
    indent: int = 0
    last_line: str | None = None
    shorter: Block | None = None

    @property
    def is_python(self) -> bool:
        """Whether the tag says Python."""
        return is_python_tag(self.tag)


def is_python_tag(tag: str) -> bool:
    """Whether a fence's language word means Python."""
    return _PYTHON_TAG.fullmatch(tag) is not None


class StringState:
    """Whether the end of the lines fed so far is inside a triple-quoted string of Python."""

    def __init__(self) -> None:
        self._quote: str | None = None

    @property
    def inside(self) -> bool:
        """Inside a triple-quoted string."""
        return self._quote is not None

    def feed(self, line: str) -> None:
        """Advance by one line, given without its end."""
        position = 0
        while True:
            pattern = _OUTSIDE if self._quote is None else _INSIDE[self._quote]
            match = pattern.search(line, position)
            if match is None:
                return
            position = match.end()
            if self._quote == match[0]:
                self._quote = None
            elif self._quote is None and match[0] in _INSIDE:
                self._quote = match[0]


def fence_of(line: str, index: int) -> Fence | None:
    """Return the fence on ``line``, or None."""
    if "```" not in line and "~~~" not in line:
        return None
    match = _FENCE.match(line)
    if match:
        blanks, marker, run, info = match[1], match[2] or "", match[3], match[4].strip()
        if run[0] == "~" or "`" not in info:
            kind: Kind = "opens" if info or marker else "bare"
            tag = _TAG.match(info)
            word = tag[1].lower() if tag else info[:1]
            return Fence(index, kind, len(blanks) + len(marker), run[0], len(run), word)
    head, _, info = line.rpartition("```")
    text = head.rstrip("`")
    if "```" in text or not text.strip():
        return None
    indent, length = len(line) - len(line.lstrip()), len(head) - len(text) + 3
    if not info.strip():
        return Fence(index, "trailing", indent, "`", length)
    word = info.strip().lower()
    return Fence(index, "opens", indent, "`", length, word) if is_python_tag(word) else None


@dataclass(frozen=True, slots=True)
class _Ends:
    """Positions, among the fences, of what may end a block; ``implicit``: the next block begins there."""

    regular: int | None = None
    in_string: int | None = None
    irregular: int | None = None
    implicit: int | None = None


class FenceScanner:
    """Finds the blocks of ``lines``. ``parses`` decides between a short and a long end of a Python block."""

    def __init__(self, lines: Sequence[str], parses: Callable[[str], bool]) -> None:
        self._lines = lines
        self._parses = parses
        self._fences = [f for i, line in enumerate(lines) if (f := fence_of(line, i)) is not None]
        self._lines_ahead = 4 * len(lines) + 1000

    @property
    def fences(self) -> Sequence[Fence]:
        """All lines with a fence, in order."""
        return self._fences

    def text(self, block: Block) -> str:
        """Return a block's text without its margin; it ends in a newline unless the completion ends in it."""
        lines = list(self._lines[block.first : block.end])
        if block.last_line is not None:
            lines[-1] = block.last_line
        closed = block.end < len(self._lines) or block.last_line is not None
        text = "\n".join(without_margin(lines, block.indent))
        return text + "\n" if closed and lines else text

    def blocks(self, start: int = 0) -> list[Block]:
        """Return the blocks from the fence at position ``start`` on, in order, without overlaps."""
        found: list[Block] = []
        position = start
        while position < len(self._fences):
            opener = self._fences[position]
            if opener.kind == "trailing" or opener.tag in _MARKDOWN_TAGS:
                position += 1
                continue
            ends = self._ends(position)
            if opener.kind == "bare" and ends.implicit is not None:
                position = ends.implicit  # a bare fence above a Python opener closed something, or nothing
                continue
            block, position = self._block(opener, ends)
            found.append(block)
        return found

    def _ends(self, position: int) -> _Ends:
        opener = self._fences[position]
        may_be_python = not opener.tag or is_python_tag(opener.tag)
        state, fed = StringState(), opener.line + 1
        in_string = irregular = None
        for j in range(position + 1, len(self._fences)):
            fence = self._fences[j]
            looking_ahead = in_string is not None or irregular is not None
            self._lines_ahead -= looking_ahead
            if fence.character != opener.character or fence.length < opener.length:
                continue
            self._lines_ahead -= fence.line - fed if looking_ahead else 0
            if self._lines_ahead < 0:
                break
            if may_be_python:
                for line in self._lines[fed : fence.line]:
                    state.feed(line)
            fed = fence.line
            if state.inside:
                if in_string is None and _closes(opener, fence):
                    in_string = j
            elif fence.kind == "opens":
                starts_python = is_python_tag(fence.tag) and fence.length == opener.length
                if starts_python and may_be_python and fence.indent <= opener.indent:
                    return _Ends(None, in_string, irregular, implicit=j)
            elif _closes(opener, fence):
                return _Ends(j, in_string, irregular)
            elif irregular is None and may_be_python:
                irregular = j
        return _Ends(None, in_string, irregular)

    def _block(self, opener: Fence, ends: _Ends) -> tuple[Block, int]:
        """Return the block of ``opener`` and the position of the fence at which the search goes on."""
        irregular = None if ends.irregular is None else self._ended(opener, ends.irregular)
        if ends.in_string is not None:
            short = self._ended(opener, ends.in_string)
            if ends.regular is not None:
                long = self._ended(opener, ends.regular)
                if self._parses(self.text(long)):
                    return long, ends.regular + 1
            return short, ends.in_string + 1
        if ends.regular is not None:
            return self._ended(opener, ends.regular, shorter=irregular), ends.regular + 1
        if irregular is not None and ends.irregular is not None:
            return irregular, ends.irregular + 1
        end = len(self._lines) if ends.implicit is None else self._fences[ends.implicit].line
        position = len(self._fences) if ends.implicit is None else ends.implicit
        return Block(opener.tag, opener.line + 1, end, opener.indent), position

    def _ended(self, opener: Fence, position: int, shorter: Block | None = None) -> Block:
        fence = self._fences[position]
        first = opener.line + 1
        if fence.kind != "trailing":
            return Block(opener.tag, first, fence.line, opener.indent, shorter=shorter)
        return Block(opener.tag, first, fence.line + 1, opener.indent, code_before(self._lines[fence.line]))


def code_before(line: str) -> str:
    """Return what stands before the fence at the end of ``line``."""
    return line.rstrip().rstrip("`")


def _closes(opener: Fence, fence: Fence) -> bool:
    return fence.kind == "bare" and fence.indent <= opener.indent


def without_margin(lines: list[str], margin: int) -> list[str]:
    """Remove ``margin`` blanks of every line, then what all lines share if the first is still indented."""
    lines = [_unindented(line, margin) for line in lines] if margin else lines
    first = next((line for line in lines if line.strip()), "")
    if first[:1] not in {" ", "\t"}:
        return lines
    common = min(len(line) - len(line.lstrip(" \t")) for line in lines if line.strip())
    return [_unindented(line, common) for line in lines]


def _unindented(line: str, margin: int) -> str:
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[min(margin, blanks) :]
