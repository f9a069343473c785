"""Which of a completion's blocks, or of its parts without a fence, is the program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from service.extraction.python_source import (
    Parser,
    defines,
    defines_anything,
    is_program,
    looks_like_python,
    may_print,
)
from service.extraction.repair import Reading, read
from service.extraction.unfenced import runs, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.extraction.fences import Block, FenceScanner

_TAG_LINES = frozenset({"python", "python3", "py"})


class Rank(IntEnum):
    """How good a candidate is; of equal ones the last in the completion is taken."""

    NOTHING = 0
    OTHER_LANGUAGE = 1  # a program under a tag such as `text` or `code`
    UNTAGGED_BROKEN = 2  # does not parse, but reads like Python: better a CE than no code
    TAGGED_BROKEN = 3
    SESSION = 4  # typed at prompts: a program only where there is no other
    UNTAGGED = 5
    TAGGED = 6
    DEFINING = 7  # defines functions or classes, where tests are to call some
    WANTED = 8  # defines the entry point that was asked for


@dataclass(frozen=True, slots=True)
class Goal:
    """What the tests need of the program: an entry point, some definition (``is_called``), or output."""

    entry_point: str | None
    is_called: bool

    @property
    def highest(self) -> Rank:
        """The rank that nothing can surpass."""
        if not self.is_called:
            return Rank.TAGGED
        return Rank.DEFINING if self.entry_point is None else Rank.WANTED

    def rank(self, reading: Reading, lowest: Rank) -> Rank:
        """Return the rank of a program that is at least ``lowest`` by where it stands."""
        if self.is_called and self.entry_point is not None and defines(reading.tree, self.entry_point):
            return Rank.WANTED
        if reading.is_session:
            return Rank.SESSION
        return Rank.DEFINING if self.is_called and defines_anything(reading.tree) else lowest


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate's text and how good it is."""

    block: Block | None
    text: str
    rank: Rank


def choose(scanner: FenceScanner, blocks: Sequence[Block], parser: Parser, goal: Goal) -> Choice:
    """Return the best of ``blocks``, parsing from the last one backwards and no more than needed."""
    best = Choice(None, "", Rank.NOTHING)
    for block in reversed(blocks):
        choice = _judge(scanner, block, parser, goal)
        if choice.rank > best.rank:
            best = choice
        if best.rank is goal.highest:
            break
    return best


def choose_unfenced(lines: Sequence[str], parser: Parser, goal: Goal, below: Rank) -> tuple[str, str] | None:
    """Return the best program without a fence, and how it was found; None if no better than ``below``.

    A run between prose must show that it is what the tests need, as nothing marks it as code.
    """
    best = Choice(None, "", below)
    for text in wrapped(lines):
        reading = _program(without_tag_line(text), parser)
        if reading is not None and (rank := goal.rank(reading, Rank.TAGGED)) > best.rank:
            best = Choice(None, reading.code, rank)
            if rank is goal.highest:
                break
    if best.rank > below:
        return best.text, "wrapped"
    if not goal.is_called and below > Rank.OTHER_LANGUAGE:
        return None
    for text in runs(lines):
        reading = _program(text, parser)
        if reading is None:
            continue
        is_best = goal.rank(reading, Rank.UNTAGGED) is goal.highest
        if is_best if goal.is_called else may_print(reading.tree):
            return reading.code, "unfenced"
    return None


def _program(text: str, parser: Parser) -> Reading | None:
    reading = read(text, parser)
    return reading if reading is not None and is_program(reading.tree) else None


def _judge(scanner: FenceScanner, block: Block, parser: Parser, goal: Goal) -> Choice:
    texts = [without_tag_line(scanner.text(cut)) for cut in (block, block.shorter) if cut is not None]
    text = texts[0]
    if not text.strip():
        return Choice(block, text, Rank.NOTHING)
    for candidate in texts:
        reading = read(candidate, parser)
        if reading is None or not is_program(reading.tree):
            text = candidate if reading is not None else text
            continue
        if block.tag and not block.is_python:
            return Choice(block, reading.code, Rank.OTHER_LANGUAGE)
        lowest = Rank.TAGGED if block.is_python else Rank.UNTAGGED
        return Choice(block, reading.code, goal.rank(reading, lowest))
    if block.is_python:
        return Choice(block, text, Rank.TAGGED_BROKEN)
    broken = not block.tag and looks_like_python(text)
    return Choice(block, text, Rank.UNTAGGED_BROKEN if broken else Rank.NOTHING)


def without_tag_line(text: str) -> str:
    """Drop a first line that is only a language's name: the tag of a fence that the prompt opened."""
    first, newline, rest = text.partition("\n")
    return rest if newline and first.strip().lower() in _TAG_LINES else text
