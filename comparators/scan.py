"""Reads printed structures: the items of a text, some of which are lists, tuples, sets or dictionaries.

Items are: ``bytes`` for a bare literal or word, ``str`` for the content of a quoted string, ``list``,
``tuple``, ``SetLiteral`` and ``dict`` for brackets. Python's and JSON's spellings are read alike, and so are
the lists that numpy prints with blanks between elements. One pass, an explicit stack and no evaluation, for
text of any depth and size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from comparators.encoding import decoded
from comparators.values import SetLiteral

CONSTANTS = MappingProxyType({b"true": b"True", b"false": b"False", b"null": b"None"})

_BRACKET_OR_QUOTE = re.compile(rb"""[\[({"']""")
_BLANKS = re.compile(rb"[ \t\n\r\f\v]*+")
_QUOTED = re.compile(rb""""[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+'""", re.DOTALL)
_EMPTY_SET = re.compile(rb"set\(\)")
# Within brackets a word ends where the next element or bracket begins; a colon ends it only within braces.
_WORDS = MappingProxyType(
    {
        b"": re.compile(rb"[^ \t\n\r\f\v]++"),
        b"[": (_listed_word := re.compile(rb"""[^ \t\n\r\f\v\[\](){},"']++""")),
        b"(": _listed_word,
        b"{": re.compile(rb"""[^ \t\n\r\f\v\[\](){},:"']++"""),
    }
)
# Words in a row, each followed by a comma: read at once, since long lists of numbers are what is printed most.
_RUN = re.compile(rb"""(?:[^ \t\n\r\f\v\[\](){},"']++[ \t\n\r\f\v]*+,[ \t\n\r\f\v]*+)++""")
_CLOSERS = MappingProxyType({b"[": b"]", b"(": b")", b"{": b"}", b"": b""})
_JSON_KEYS = MappingProxyType({constant: text for text, constant in CONSTANTS.items()})

_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(
    rf"\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"  # a surrogate pair, in JSON
    rf"|\\u{_HEX}{{4}}|\\U0(?:00{_HEX}|010){_HEX}{{4}}|\\x{_HEX}{{2}}|\\.",
    re.DOTALL,
)
_ESCAPED = MappingProxyType(
    {
        "\\n": "\n",
        "\\t": "\t",
        "\\r": "\r",
        "\\b": "\b",
        "\\f": "\f",
        '\\"': '"',
        "\\'": "'",
        "\\/": "/",
        "\\\\": "\\",
    }
)


def has_structure(text: bytes) -> bool:
    """Whether ``text`` has any bracket or quote; without, its items are its tokens."""
    return _BRACKET_OR_QUOTE.search(text) is not None


def count_brackets(text: bytes) -> int:
    """Return how many brackets open in ``text``."""
    return text.count(b"[") + text.count(b"(") + text.count(b"{")


def scan(text: bytes) -> list[Any] | None:
    """Return the items of ``text``, or None where brackets, quotes or separators do not fit."""
    if not has_structure(text):
        return [CONSTANTS.get(word, word) for word in text.split()]
    frame = _Frame(b"")
    outer: list[_Frame] = []
    position = 0
    while True:
        start, position = position, _BLANKS.match(text, position).end()  # type: ignore[union-attr]  # matches always
        if position == len(text):
            return None if outer else frame.items
        head = text[position : position + 1]
        if frame.opener and head in b"])},:":
            position += 1
            if head in b",:":
                if not (frame.comma() if head == b"," else frame.colon()):
                    return None
                continue
            item = frame.closed() if head == frame.closer else None
            if item is None:
                return None
            frame = outer.pop()
            # Whether an item may stand here was checked when the bracket opened.
            frame.items.append(item)
            continue
        if not frame.begins_item(blank=position > start):
            return None
        if head in b"[({":
            outer.append(frame)
            frame = _Frame(head)
            position += 1
            continue
        end = _leaves(text, position, head, frame)
        if end is None:
            return None
        position = end


def _leaves(text: bytes, position: int, head: bytes, frame: _Frame) -> int | None:
    """Read a leaf, or a run of them, into ``frame`` and return where it ends; None where none can be read."""
    if head in b"\"'":
        quoted = _QUOTED.match(text, position)
        if quoted is None:
            return None
        frame.items.append(_unescaped(decoded(quoted[0][1:-1])))
        return quoted.end()
    if head == b"s" and (empty_set := _EMPTY_SET.match(text, position)):
        frame.items.append(SetLiteral())
        return empty_set.end()
    if frame.opener in (b"[", b"(") and not frame.by_blanks and (run := _RUN.match(text, position)):
        frame.take_run(run[0])
        return run.end()
    word = _WORDS[frame.opener].match(text, position)
    if word is None:
        return None
    frame.items.append(CONSTANTS.get(word[0], word[0]))
    return word.end()


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(escape: re.Match[str]) -> str:
    text = escape[0]
    if text in _ESCAPED:
        return _ESCAPED[text]
    if len(text) == 12:  # noqa: PLR2004  # a surrogate pair, as JSON spells characters beyond 16 bits
        high, low = int(text[2:6], 16), int(text[8:], 16)
        return chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF))
    if len(text) == 2:  # noqa: PLR2004  # no known escape: kept as it stands
        return text
    character = chr(int(text.lstrip("\\uUx"), 16))
    # A lone surrogate would be mistaken for the invalid byte that it stands for in decoded text.
    return text if "\ud800" <= character <= "\udfff" else character


@dataclass(slots=True)
class _Frame:
    """An open bracket, or with no opener the whole text, and what was read inside it."""

    opener: bytes
    items: list[Any] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)
    commas: int = 0
    by_blanks: bool = False
    # Whether an item has to come next: after a comma, after a colon, and at the beginning.
    wants_item: bool = True

    @property
    def closer(self) -> bytes:
        return _CLOSERS[self.opener]

    def begins_item(self, *, blank: bool) -> bool:
        """Note that an item begins; False where nothing separates it from the one before."""
        if self.wants_item:
            self.wants_item = False
            return True
        # Blanks separate items at the top, and in lists without commas.
        self.by_blanks = blank and (not self.opener or (self.opener == b"[" and not self.commas))
        return self.by_blanks

    def take_run(self, run: bytes) -> None:
        """Take the words of a run; an item is wanted after it, as its last comma was read."""
        words = run.split(b",")
        words.pop()
        self.items.extend([CONSTANTS.get(word, word) for word in map(bytes.strip, words)])
        self.commas += len(words)
        self.wants_item = True

    def comma(self) -> bool:
        """Note a comma; False where none may stand."""
        if self.wants_item or self.by_blanks:
            return False
        self.commas += 1
        self.wants_item = True
        return True

    def colon(self) -> bool:
        """Turn the last item into a key; False where it cannot be one."""
        if self.opener != b"{" or self.wants_item or len(self.items) != len(self.keys) + 1:
            return False
        self.keys.append(self.items.pop())
        self.wants_item = True
        return True

    def closed(self) -> Any:
        """Return the container; None where its contents do not fit its brackets."""
        size = len(self.items)
        if self.opener == b"(":
            # Without a comma, parentheses only group: `(a+b)` is an expression, `(1,)` a tuple.
            fits = self.commas == (1 if size == 1 else max(size - 1, 0)) and self.wants_item == (size <= 1)
            return tuple(self.items) if fits else None
        if self.wants_item and (size or self.keys):
            return None
        if self.opener == b"[":
            return self.items
        if self.keys or not size:
            return self._dictionary()
        return SetLiteral(self.items)

    def _dictionary(self) -> dict[str, Any] | None:
        if len(self.keys) != len(self.items):
            return None
        texts = [_key_text(key) for key in self.keys]
        mapping = {text: item for text, item in zip(texts, self.items, strict=True) if text is not None}
        # A key that is a container, or two keys of one text, make it no dictionary.
        return mapping if len(mapping) == len(self.items) else None


def _key_text(key: object) -> str | None:
    if isinstance(key, bytes):
        return decoded(_JSON_KEYS.get(key, key))
    return key if isinstance(key, str) else None
