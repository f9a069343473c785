"""Programs of other languages than Python, which nothing here can parse: found by their marks alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from service.extraction.fences import code_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox import CodeMarks
    from service.extraction.fences import FenceScanner

# Blanks and comments, as these languages have them; possessive, so that no text takes more than linear time.
_COMMENTS = re.compile(r"(?>\s+|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+")


def find_marked(scanner: FenceScanner, lines: Sequence[str], marks: CodeMarks) -> tuple[str | None, str]:
    """Return a program and how it was found, or None and why there is none.

    A text that begins as code, behind comments, is one up to its first fence, which the prompt had opened or which is
    not there. Else it is the last block with one of the language's tags, else the last without any.
    """
    if marks.beginning is not None and _begins(marks.beginning, "\n".join(lines)):
        return _before_fences(scanner, lines), "prefilled_fence" if scanner.fences else "whole_text"
    blocks = scanner.blocks()
    for tags in (marks.fence_tags, ("",)):
        for block in reversed(blocks):
            if block.tag in tags and (text := scanner.text(block)).strip():
                return text, "fenced"
    return None, "no_code"


def _begins(pattern: str, text: str) -> bool:
    comments = _COMMENTS.match(text)
    return re.compile(pattern).match(text, comments.end() if comments else 0) is not None


def _before_fences(scanner: FenceScanner, lines: Sequence[str]) -> str:
    if not scanner.fences:
        return "\n".join(lines)
    fence = scanner.fences[0]
    last = [code_before(lines[fence.line])] if fence.kind == "trailing" else []
    return "\n".join([*lines[: fence.line], *last, ""])
