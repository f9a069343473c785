"""Which of a completion's blocks is the program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from service.extraction.python_source import Parser, defines, is_program, looks_like_python

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
    UNTAGGED = 4
    TAGGED = 5
    WANTED = 6  # defines the entry point that was asked for


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate's text and how good it is."""

    block: Block | None
    text: str
    rank: Rank


def choose(scanner: FenceScanner, blocks: Sequence[Block], parser: Parser, wanted: str | None) -> Choice:
    """Return the best of ``blocks``, parsing from the last one backwards and no more than needed."""
    best = Choice(None, "", Rank.NOTHING)
    highest = Rank.TAGGED if wanted is None else Rank.WANTED
    for block in reversed(blocks):
        choice = _judge(scanner, block, parser, wanted)
        if choice.rank > best.rank:
            best = choice
        if best.rank is highest:
            break
    return best


def _judge(scanner: FenceScanner, block: Block, parser: Parser, wanted: str | None) -> Choice:
    texts = [without_tag_line(scanner.text(cut)) for cut in (block, block.shorter) if cut is not None]
    text = texts[0]
    if not text.strip():
        return Choice(block, text, Rank.NOTHING)
    for candidate in texts:
        tree = parser.parse(candidate)
        if tree is None or not is_program(tree):
            text = candidate if tree is not None else text
            continue
        if wanted is not None and (block.is_python or not block.tag) and defines(tree, wanted):
            return Choice(block, candidate, Rank.WANTED)
        rank = Rank.TAGGED if block.is_python else Rank.OTHER_LANGUAGE if block.tag else Rank.UNTAGGED
        return Choice(block, candidate, rank)
    if block.is_python:
        return Choice(block, text, Rank.TAGGED_BROKEN)
    broken = not block.tag and looks_like_python(text)
    return Choice(block, text, Rank.UNTAGGED_BROKEN if broken else Rank.NOTHING)


def without_tag_line(text: str) -> str:
    """Drop a first line that is only a language's name: the tag of a fence that the prompt opened."""
    first, newline, rest = text.partition("\n")
    return rest if newline and first.strip().lower() in _TAG_LINES else text
