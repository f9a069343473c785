"""From a model's completion to the program in it: ``extract(completion, ...) -> Extraction``.

Pure text work: nothing is run, nothing is raised, and time is linear in the completion. The order of things:

1. line ends become newlines, special tokens of chat templates are cut from the end;
2. a completion that is a Python program as it stands is taken whole;
3. everything up to the last closing tag of a reasoning part is dropped; a part that never closes leaves no
   code;
4. of the fenced blocks the last is taken that is Python, parses, does something, and defines the entry point
   where one is asked for; blocks tagged as Python go before untagged ones, both before another language's;
5. where no block parses, the last one meant as Python is taken, so that the verdict is CE and not NC.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.extraction.choice import Rank, choose, without_tag_line
from service.extraction.fences import Block, FenceScanner, StringState, code_before, without_margin
from service.extraction.python_source import Parser, is_program, looks_like_python
from service.extraction.reasoning import closings, opens_outside

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Extraction", "extract"]

_LONGEST_TOKEN_CHARS = 48
_END_TOKEN = re.compile(
    r"(?:<\|[^|<>\n]{1,40}\|>|<\uff5c[^\uff5c<>\n]{1,40}\uff5c>|</s>|<eos>|<end_of_turn>)$"
)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The program found, or None, and in a word how: which rule chose it, or why there is none.

    ``reason`` with code: ``whole_text``, ``fenced``, ``prefilled_fence``, ``does_not_parse``.
    Without: ``empty``, ``truncated_reasoning``, ``no_code``.
    """

    code: str | None
    reason: str


def extract(
    completion: str, *, language: str = "python", entry_point: str | None = None, mode: str = "stdio"
) -> Extraction:
    """Return the program in ``completion``. Never raises, whatever the text.

    ``entry_point`` (``function`` or ``Class.method``) directs the choice in modes ``call`` and ``assert``.
    For a language other than Python tags alone decide, as nothing here can parse it.
    """
    text = _without_end_tokens(_with_newlines(completion))
    if not text.strip():
        return Extraction(None, "empty")
    parser = Parser()
    if language == "python" and (whole := _whole_program(text, parser)) is not None:
        return Extraction(whole, "whole_text")
    lines = text.split("\n")
    scanner = FenceScanner(lines, parser.parses)
    blocks = scanner.blocks()
    answer = _after_reasoning(scanner, lines, blocks, parser)
    if answer is not lines:
        lines = answer
        whole = _whole_program("\n".join(lines), parser) if language == "python" else None
        if whole is not None:
            return Extraction(whole, "whole_text")
        scanner = FenceScanner(lines, parser.parses)
        blocks = scanner.blocks()
    if opens_outside(lines, blocks):
        return Extraction(None, "truncated_reasoning")
    if language != "python":
        return _by_tag(scanner, blocks, language)
    return _python_program(scanner, lines, blocks, parser, None if mode == "stdio" else entry_point)


def _python_program(
    scanner: FenceScanner, lines: list[str], blocks: list[Block], parser: Parser, wanted: str | None
) -> Extraction:
    head, position = _prefilled(scanner, lines, parser)
    if head is not None:
        blocks = [head, *scanner.blocks(position)]
    choice = choose(scanner, blocks, parser, wanted)
    if choice.rank is Rank.NOTHING:
        unfenced = lines[: scanner.fences[0].line] if scanner.fences else lines
        broken = without_tag_line("\n".join(unfenced).lstrip("\n"))
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
    tree = parser.parse(code)
    return code if tree is not None and is_program(tree) else None


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
        tree = parser.parse(without_tag_line(scanner.text(block)))
        if tree is not None and is_program(tree):
            return block, position + 1
        break
    return None, 0


def _by_tag(scanner: FenceScanner, blocks: Sequence[Block], language: str) -> Extraction:
    for tag in (language, ""):
        for block in reversed(blocks):
            if block.tag == tag and (text := scanner.text(block)).strip():
                return Extraction(text, "fenced")
    return Extraction(None, "no_code")


def _with_newlines(completion: str) -> str:
    """Treat line ends as Python's own tokenizer does, to which a carriage return is one."""
    return completion.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


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
