"""From a model's completion to the program in it: ``extract(completion, ...) -> Extraction``.

Pure text work: nothing is run, nothing is raised, and time is linear in the completion. The order of things:

1. line ends become newlines, special tokens of chat templates are cut from both ends;
2. a completion that is a Python program as it stands is taken whole;
3. everything up to the last closing tag of a reasoning part is dropped; of a part that never closes everything
   from its opening tag on, and a complete program must stand before it;
4. of the fenced blocks the last is taken that is Python, parses, does something, and defines the entry point
   where one is asked for, or anything where tests call it; blocks tagged as Python go before untagged ones,
   both before another language's;
5. where no block will do, a program between tags such as ``<answer>`` is taken, then one between lines of prose;
6. where nothing parses, the last block meant as Python is taken, so that the verdict is CE and not NC.

What does not parse is tried once more with plain spaces, without HTML entities, without interactive prompts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox import CodeMarks
from service.extraction.choice import Goal, Rank, choose, choose_unfenced, without_tag_line
from service.extraction.fences import Block, FenceScanner, StringState, code_before, without_margin
from service.extraction.marked import find_marked
from service.extraction.python_source import Parser, is_program, looks_like_python
from service.extraction.reasoning import closings, first_opening
from service.extraction.repair import read
from service.extraction.unfenced import outside_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Extraction", "extract"]

_LONGEST_TOKEN_CHARS = 48
_END_TOKEN = re.compile(
    r"(?:<\|[^|<>\n]{1,40}\|>|<\uff5c[^\uff5c<>\n]{1,40}\uff5c>|</s>|<eos>|<end_of_turn>)$"
)
# What a chat template puts before an answer, where it is not cut off.
_HEADER = re.compile(
    r"\s*(?:(?:<s>|<\|begin_of_text\|>)\s*)*+"
    r"(?:<\|im_start\|>\s*(?:assistant\b)?|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|assistant\|>"
    r"|<\uff5cAssistant\uff5c>|<start_of_turn>model\b)[ \t]*"
)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The program found, or None, and in a word how: which rule chose it, or why there is none.

    ``reason`` with code: ``whole_text``, ``fenced``, ``prefilled_fence``, ``wrapped`` (between tags),
    ``unfenced`` (between prose), ``does_not_parse``.
    Without: ``empty``, ``truncated_reasoning``, ``no_code``.
    """

    code: str | None
    reason: str


def extract(
    completion: str,
    *,
    language: str = "python",
    entry_point: str | None = None,
    mode: str = "stdio",
    marks: CodeMarks | None = None,
) -> Extraction:
    """Return the program in ``completion``. Never raises, whatever the text.

    ``entry_point`` (``function`` or ``Class.method``) directs the choice in modes ``call`` and ``assert``.
    For a language other than Python ``marks`` decide, as nothing here can parse it; without marks, a tag that is
    the language's name.
    """
    other = None if language == "python" else marks or CodeMarks((language,))
    text = _without_end_tokens(_without_header(_with_newlines(completion)))
    if not text.strip():
        return Extraction(None, "empty")
    parser = Parser()
    if other is None and (whole := _whole_program(text, parser)) is not None:
        return Extraction(whole, "whole_text")
    goal = Goal(None if mode == "stdio" else entry_point, is_called=mode != "stdio")
    lines = text.split("\n")
    scanner = FenceScanner(lines, parser.parses)
    answer = _after_reasoning(scanner, lines, scanner.blocks(), parser)
    if answer is not lines:
        if other is None and (whole := _whole_program("\n".join(answer), parser)) is not None:
            return Extraction(whole, "whole_text")
        scanner = FenceScanner(answer, parser.parses)
    opening = first_opening(answer, scanner.blocks())
    if opening is None:
        return _answer(scanner, answer, parser, other, goal)
    return _before_reasoning(answer[:opening], parser, other, goal)


def _before_reasoning(lines: list[str], parser: Parser, other: CodeMarks | None, goal: Goal) -> Extraction:
    """Return the complete program in what stands before a reasoning part that never closes."""
    text = "\n".join([*lines, ""])
    if other is None and (whole := _whole_program(text, parser)) is not None:
        return Extraction(whole, "whole_text")
    found = _answer(FenceScanner(lines, parser.parses), lines, parser, other, goal)
    is_complete = found.code is not None and found.reason != "does_not_parse"
    return found if is_complete else Extraction(None, "truncated_reasoning")


def _answer(
    scanner: FenceScanner, lines: list[str], parser: Parser, other: CodeMarks | None, goal: Goal
) -> Extraction:
    """Return the program of an answer that holds no reasoning part."""
    if other is not None:
        return Extraction(*find_marked(scanner, lines, other))
    return _python_program(scanner, lines, parser, goal)


def _python_program(scanner: FenceScanner, lines: list[str], parser: Parser, goal: Goal) -> Extraction:
    head, position = _prefilled(scanner, lines, parser)
    blocks = scanner.blocks() if head is None else [head, *scanner.blocks(position)]
    choice = choose(scanner, blocks, parser, goal)
    if choice.rank < goal.highest:
        unfenced = choose_unfenced(outside_blocks(lines, blocks), parser, goal, choice.rank)
        if unfenced is not None:
            return Extraction(*unfenced)
    if choice.rank is Rank.NOTHING:
        before_fences = lines[: scanner.fences[0].line] if scanner.fences else lines
        broken = without_tag_line("\n".join(before_fences).lstrip("\n"))
        return (
            Extraction(broken, "does_not_parse") if looks_like_python(broken) else Extraction(None, "no_code")
        )
    if choice.rank in {Rank.TAGGED_BROKEN, Rank.UNTAGGED_BROKEN}:
        return Extraction(choice.text, "does_not_parse")
    return Extraction(choice.text, "prefilled_fence" if choice.block is head else "fenced")


def _whole_program(text: str, parser: Parser) -> str | None:
    lines = text.split("\n")
    first = next(index for index, line in enumerate([*lines, "."]) if line.strip())
    code = without_tag_line("\n".join(without_margin(lines[first:], 0)))
    reading = read(code, parser)
    return reading.code if reading is not None and is_program(reading.tree) else None


def _after_reasoning(
    scanner: FenceScanner, lines: list[str], blocks: Sequence[Block], parser: Parser
) -> list[str]:
    """Return the lines behind the last closing tag that is no program's; ``lines`` itself without one."""
    blocks = list(blocks)
    skipped_from = len(lines)
    for line, column in closings(lines):
        if line >= skipped_from:
            continue
        while blocks and blocks[-1].first > line:
            blocks.pop()
        if blocks and line < blocks[-1].end and parser.parses(scanner.text(blocks[-1])):
            skipped_from = blocks[-1].first
            continue
        return [lines[line][column:], *lines[line + 1 :]]
    return lines


def _prefilled(scanner: FenceScanner, lines: Sequence[str], parser: Parser) -> tuple[Block | None, int]:
    """Return what precedes the first closing fence if it is a program: the prompt had opened its fence.

    The second value is the position of the fence from which the search for other blocks goes on.
    """
    state, fed = StringState(), 0
    for position, fence in enumerate(scanner.fences):
        for line in lines[fed : fence.line]:
            state.feed(line)
        fed = fence.line
        if state.inside:
            continue
        if fence.kind == "opens":
            break
        if fence.kind == "trailing":
            block = Block("python", 0, fence.line + 1, last_line=code_before(lines[fence.line]))
        else:
            block = Block("python", 0, fence.line)
        reading = read(without_tag_line(scanner.text(block)), parser)
        if reading is not None and is_program(reading.tree):
            return block, position + 1
        break
    return None, 0


def _with_newlines(completion: str) -> str:
    """Treat line ends as Python's own tokenizer does, to which a carriage return is one."""
    return completion.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _without_header(text: str) -> str:
    header = _HEADER.match(text)
    return text if header is None else text[header.end() :]


def _without_end_tokens(text: str) -> str:
    cut = len(text)
    while True:
        end = cut
        while end and text[end - 1].isspace():
            end -= 1
        match = _END_TOKEN.search(text, max(0, end - _LONGEST_TOKEN_CHARS), end)
        if match is None:
            return text[:cut]
        cut = match.start()
