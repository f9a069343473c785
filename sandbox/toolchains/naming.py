"""What a program's file and its entry must be called, where the language decides that by the source's own words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandbox.toolchains.languages import LanguageData

# Comments, text blocks, strings and characters, in which words mean nothing.
_NO_CODE = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')


@dataclass(frozen=True, slots=True)
class Names:
    """``unit`` names the source file, ``entry`` is what is started."""

    unit: str
    entry: str


def names(data: LanguageData, source: str) -> Names:
    """Return the names for ``source``; the language's usual ones where its text shows none."""
    if not data.unit_patterns:
        return Names(data.unit, data.unit)
    code = _NO_CODE.sub(" ", source)
    unit = _first(data.unit_patterns, code) or data.unit
    entry = _first(data.entry_patterns, code) or unit
    package = re.search(data.package_pattern, code, re.MULTILINE) if data.package_pattern else None
    return Names(unit, f"{package[1]}.{entry}" if package else entry)


def _first(patterns: tuple[str, ...], code: str) -> str | None:
    for pattern in patterns:
        found = re.search(pattern, code)
        if found:
            return found[1]
    return None
