"""Controls made from an expected text. Each returns None where its truth would be open to doubt."""

from __future__ import annotations

import re
from itertools import pairwise

from comparators import Rules
from service.audit.controls.numerals import DECIMAL, INTEGER, distinct, nudged, outside, rounded

_ALONE = re.compile(r"(?<![\w.+-])-?(?:0|[1-9][0-9]*)(?![\w.])", re.ASCII)
_TOKEN = re.compile(r"\S+")
_BRACKETS_AND_QUOTES = re.compile(r"[][(){}'\"]")
_ANSWERS = frozenset({"yes", "no", "true", "false", "possible", "impossible"})
_MIN_FRACTION = 2


def digit_changed(text: str, rules: Rules) -> str | None:
    """Change the last digit of the first integer, or the first decimal by far more than the tolerance."""
    for token in _TOKEN.finditer(text):
        if DECIMAL.fullmatch(token[0]):
            value = float(token[0])
            other = f"{value + 1:.{_fraction_digits(token[0])}f}"
            if outside(value, float(other), rules):
                return _replaced(text, token, other)
    found = _ALONE.search(text)
    if found is None:
        return None
    digit = (int(found[0][-1]) + 1) % 10
    return _replaced(text, found, f"{found[0][:-1]}{digit}")


def text_changed(text: str, _rules: Rules) -> str | None:
    """Change the last letter of the last word."""
    words = [token for token in _TOKEN.finditer(text) if token[0].isascii() and token[0].isalpha()]
    if not words:
        return None
    word = words[-1]
    return _replaced(text, word, word[0][:-1] + ("y" if word[0][-1] in "xX" else "x"))


def token_dropped(text: str, _rules: Rules) -> str | None:
    """Leave out the last token."""
    tokens = [token for token in _TOKEN.finditer(text) if any(map(str.isalnum, token[0]))]
    return _replaced(text, tokens[-1], "") if tokens else None


def rows_swapped(text: str, rules: Rules) -> str | None:
    """Swap the first two neighbouring lines that differ, or else the first two such tokens."""
    if rules.order != "strict" or _BRACKETS_AND_QUOTES.search(text):
        return None
    lines = text.splitlines()
    for index, (first, second) in enumerate(pairwise(lines)):
        words, others = first.split(), second.split()
        if any(distinct(word, other, rules) for word, other in zip(words, others, strict=False)):
            return "\n".join([*lines[:index], second, first, *lines[index + 2 :]]) + "\n"
    for first_token, second_token in pairwise(_TOKEN.finditer(text)):
        if distinct(first_token[0], second_token[0], rules):
            between = text[first_token.end() : second_token.start()]
            swapped = f"{second_token[0]}{between}{first_token[0]}"
            return text[: first_token.start()] + swapped + text[second_token.end() :]
    return None


def duplicates_removed(text: str, _rules: Rules) -> str | None:
    """Leave out a line, or else a token, that equals the one before it."""
    lines = text.splitlines()
    for index, (first, second) in enumerate(pairwise(lines)):
        if first == second and first.strip():
            return "\n".join(lines[:index] + lines[index + 1 :]) + "\n"
    for first_token, second_token in pairwise(_TOKEN.finditer(text)):
        if first_token[0] == second_token[0]:
            return text[: first_token.end()] + text[second_token.end() :]
    return None


def precision_reduced(text: str, rules: Rules) -> str | None:
    """Round the first decimal until it is wrong."""
    for token in _TOKEN.finditer(text):
        if DECIMAL.fullmatch(token[0]) and _fraction_digits(token[0]) >= _MIN_FRACTION:
            wrong = rounded(float(token[0]), _fraction_digits(token[0]), rules)
            if wrong is not None:
                return _replaced(text, token, repr(wrong))
    return None


def line_added(text: str, _rules: Rules) -> str:
    """Print one more line."""
    return f"{text.rstrip()}\nDEBUG 1\n"


def nothing_printed(text: str, _rules: Rules) -> str | None:
    """Print nothing."""
    return "" if any(map(str.isalnum, text)) else None


def blanks_at_line_ends(text: str, _rules: Rules) -> str:
    """Put a blank behind every line."""
    return "".join(f"{line} \n" for line in text.splitlines())


def blanks_between(text: str, _rules: Rules) -> str | None:
    """Double the blanks between tokens."""
    if _BRACKETS_AND_QUOTES.search(text) or " " not in text.strip():
        return None
    return text.replace(" ", "  ")


def line_ends(text: str, _rules: Rules) -> str | None:
    """End lines as another system does, the last one not at all."""
    lines = text.splitlines()
    return "\r\n".join(lines) if lines else None


def list_syntax(text: str, _rules: Rules) -> str | None:
    """Print a line of numbers as a Python list."""
    tokens = text.split()
    numbers = all(INTEGER.fullmatch(token) or DECIMAL.fullmatch(token) for token in tokens)
    if len(tokens) < _MIN_FRACTION or "\n" in text.strip() or not numbers:
        return None
    return f"[{', '.join(tokens)}]\n"


def number_formats(text: str, _rules: Rules) -> str | None:
    """Print decimals with one more zero."""
    found = _TOKEN.sub(lambda token: f"{token[0]}0" if DECIMAL.fullmatch(token[0]) else token[0], text)
    return found if found != text else None


def within_tolerance(text: str, rules: Rules) -> str | None:
    """Print decimals a little off."""

    def off(token: re.Match[str]) -> str:
        if not DECIMAL.fullmatch(token[0]):
            return token[0]
        return f"{nudged(float(token[0]), rules):.17g}"

    found = _TOKEN.sub(off, text)
    return found if found != text and rules.abs_tol > 0 and "e" not in found else None


def case_of_answers(text: str, _rules: Rules) -> str | None:
    """Print yes, no and their like in the other case."""
    tokens = text.split()
    if not tokens or not all(token.isascii() and token.casefold() in _ANSWERS for token in tokens):
        return None
    return text.lower() if text != text.lower() else text.upper()


def order_changed(text: str, rules: Rules) -> str | None:
    """Print the lines backwards where their order is free."""
    lines = [line for line in text.splitlines() if line.strip()]
    if rules.order == "strict" or lines == lines[::-1]:
        return None
    return "\n".join(reversed(lines)) + "\n"


def _replaced(text: str, found: re.Match[str], other: str) -> str:
    return text[: found.start()] + other + text[found.end() :]


def _fraction_digits(token: str) -> int:
    return len(token.partition(".")[2])
