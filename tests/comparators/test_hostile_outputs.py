"""Big and hostile outputs: nothing raises, and time grows with the size, never with its square."""

import time
import unicodedata
from typing import Any

import pytest

from comparators import PROFILES, Rules, compare

# Quadratic handling of any of these takes minutes.
GENEROUS_S = 10.0

RULES = [("microcoder", "elements"), *((profile, "strict") for profile in PROFILES)]

PRINTED = {
    "a million digits, the last one wrong": ("9" * 10**6, b"9" * (10**6 - 1) + b"8"),
    "a million digits of a fraction": ("1.5", b"1." + b"3" * 10**6),
    "an exponent of a million digits": ("1.5", b"1e" + b"9" * 10**6),
    "an exponent that no double holds": ("5", b"1e999999999"),
    "open brackets": ("1", b"[" * 10**5),
    "open brackets of all kinds": ("1", b"[({" * 30_000),
    "deep lists": ("[" * 10**5 + "1" + "]" * 10**5, b"[" * 10**5 + b"2" + b"]" * 10**5),
    "deep dictionaries": ('{"a":' * 30_000 + "1" + "}" * 30_000, b'{"a":' * 30_000 + b"2" + b"}" * 30_000),
    "deep sets": ("{" * 30_000 + "1" + "}" * 30_000, b"{" * 30_000 + b"2" + b"}" * 30_000),
    "quotes": ("'a'", b"'" * 10**5),
    "an open string of escapes": ("x", b'["' + b'\\"' * 10**5),
    "zero bytes": ("1", b"\0" * 10**6),
    "blanks before a word": ("1", b" " * 10**6 + b"x"),
    "empty lines before a word": ("1", b"\n" * 10**6 + b"x"),
    "invalid UTF-8": ("\u00e9", b"\xe9\xff" * 10**5),
    "lone surrogates": ("\ud800\udfff", b"\xed\xa0\x80"),
    "combining characters out of order": (
        "a" + "\u0301\u0316" * 10**5,
        ("a" + "\u0316\u0301" * 10**5).encode(),
    ),
    "numbers that run into each other": ("x=" + "1.1." * 10**5, b"x=" + b"1.1." * 10**5 + b"1"),
    "signs": ("-+" * 10**5 + ".e", b"+-" * 10**5 + b".e"),
    "a flood of brackets": ("[[1]]", b"[" + b"[]," * 3_000_000 + b"[1]]"),
    "a flood of brackets in one of two lines": ("x\n[1]", b"x\n[" + b"[]," * 3_000_000 + b"1]"),
    "many lists": ("[1]\n" * 10**4, b"[2]\n" * 10**4),
}


@pytest.mark.parametrize(("profile", "order"), RULES)
@pytest.mark.parametrize(("expected", "actual"), PRINTED.values(), ids=PRINTED.keys())
def test_hostile_output_is_judged_in_bounded_time(
    profile: str, expected: str, actual: bytes, order: Any
) -> None:
    """Every profile answers, with one short printable line."""
    start_s = time.process_time()
    comparison = compare(expected, actual, Rules(profile=profile, order=order))
    assert time.process_time() - start_s < GENEROUS_S
    assert comparison.accepted or (comparison.feedback.isprintable() and len(comparison.feedback) < 500)


def _nested(leaf: Any, depth: int) -> Any:
    value = leaf
    for _ in range(depth):
        value = [value]
    return value


def _circular() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def _shared(depth: int) -> Any:
    value: Any = [0]
    for _ in range(depth):
        value = [value, value]
    return value


RETURNED = {
    "deep lists": (_nested(1, 10**5), _nested(2, 10**5)),
    "circular lists": (_circular(), _circular()),
    "shared lists": (_shared(100), _shared(100)),
    "integers that collide in hash tables": (
        [index * (2**61 - 1) for index in range(20_000)],
        [index * (2**61 - 1) for index in range(20_000, 0, -1)],
    ),
    "keys that collide in hash tables": (
        {str(index): 1 for index in range(2_000)},
        {index * (2**61 - 1): 1 for index in range(2_000)},
    ),
    "huge integers": ([1 << 10**6], [(1 << 10**6) + 1]),
    "a huge integer as a key": ({"1": 1}, {1 << 10**6: 1}),
    "lone surrogates": ("\ud800", "\udfff"),
}


@pytest.mark.parametrize(("profile", "order"), RULES)
@pytest.mark.parametrize(("expected", "actual"), RETURNED.values(), ids=RETURNED.keys())
def test_hostile_value_is_judged_in_bounded_time(
    profile: str, expected: Any, actual: Any, order: Any
) -> None:
    """Every profile answers, with one short printable line."""
    start_s = time.process_time()
    comparison = compare(expected, actual, Rules(kind="returned", profile=profile, order=order))
    assert time.process_time() - start_s < GENEROUS_S
    assert comparison.accepted or (comparison.feedback.isprintable() and len(comparison.feedback) < 500)


def test_a_hundred_thousand_tokens_take_a_fraction_of_a_second() -> None:
    """The exact path and the numeric path are quick."""
    values = [f"{index / 7:.9f}" for index in range(100_000)]
    expected = "\n".join(values)
    for actual, step, limit_s in [
        (" ".join(values), "tokens", 0.5),
        ("\n".join(value[:-1] for value in values), "numeric", 3.0),
    ]:
        start_s = time.process_time()
        assert compare(expected, actual.encode(), Rules()).step == step
        assert time.process_time() - start_s < limit_s


def test_every_character_that_combines_counts_towards_the_bound_on_normalisation() -> None:
    """Runs of combining characters are bounded before they reach the quadratic reordering of normal forms."""
    hidden = {
        character
        for character in map(chr, range(0x110000))
        if not unicodedata.combining(character)
        and unicodedata.combining(unicodedata.normalize("NFD", character)[0])
    }
    for character in hidden:
        expected, actual = "a" + character * 40, "a" + unicodedata.normalize("NFD", character * 40)
        assert not compare(expected, actual.encode(), Rules()).accepted
