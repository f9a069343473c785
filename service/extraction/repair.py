"""Programs that only their transport damaged: odd spaces, HTML entities, prompts of an interactive session.

A text that parses is never touched, and a repair counts only if what it makes of the text parses. At most
four variants of a text are tried, each made in linear time and parsed within the budget of the completion.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.extraction.fences import without_margin

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from service.extraction.python_source import Parser

_ODD_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"
PLAIN_SPACES = str.maketrans(_ODD_SPACES, " " * len(_ODD_SPACES), _ZERO_WIDTH)
# Strings and comments come first and are kept: there such a character is data. Possessive, so that an
# unclosed quote is read once.
_KEPT_OR_ODD = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?'
    r"|'''(?:[^'\\]|\\.|'(?!''))*+(?:''')?"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'(?:[^'\\\n]|\\.)*+'?"
    r"|#[^\n]*+"
    rf"|(?P<odd>[{_ODD_SPACES}{_ZERO_WIDTH}]++)",
    re.DOTALL,
)
_ODD = re.compile(rf"[{_ODD_SPACES}{_ZERO_WIDTH}]")
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#[0-9]{1,5}|#[xX][0-9A-Fa-f]{1,4});")
_PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |$)")


@dataclass(frozen=True, slots=True)
class Reading:
    """Code that parses, its tree, and whether it was typed at prompts: then it is more likely a usage."""

    code: str
    tree: ast.Module
    is_session: bool = False


def read(text: str, parser: Parser) -> Reading | None:
    """Return ``text`` as Python, repaired only where it does not parse as it is; None if nothing helps."""
    tree = parser.parse(text)
    if tree is not None:
        return Reading(text, tree)
    for variant, is_session in _variants(text):
        tree = parser.parse(variant)
        if tree is not None:
            return Reading(variant, tree, is_session)
    return None


def _variants(text: str) -> Iterator[tuple[str, bool]]:
    spaced = _with_plain_spaces(text)
    unescaped = _with_plain_spaces(_ENTITY.sub(lambda entity: html.unescape(entity[0]), text))
    tried = [text]
    for variant in (spaced, unescaped):
        if variant not in tried:
            tried.append(variant)
            yield variant, False
    for variant in tried:
        typed = _without_prompts(variant)
        if typed is not None:
            yield typed, True
            return


def _with_plain_spaces(text: str) -> str:
    if _ODD.search(text) is None:
        return text
    plain = _KEPT_OR_ODD.sub(lambda m: m[0].translate(PLAIN_SPACES) if m["odd"] else m[0], text)
    return "\n".join(without_margin(plain.split("\n"), 0))


def _without_prompts(text: str) -> str | None:
    """Return what was typed at ``>>>`` and ``...``; None unless every line of code stands at one."""
    lines = text.split("\n")
    if not text.lstrip().startswith(">>>"):
        return None
    if not all(_PROMPT.match(line) for line in lines if line.strip()):
        return None
    return "\n".join(line[4:] for line in lines)
