"""The four profiles: their steps, and where they differ from the default."""

from typing import Any

import pytest

import comparators
from comparators import PROFILES, Rules, compare


def test_exports_are_what_they_say() -> None:
    """Everything in ``__all__`` exists."""
    assert all(hasattr(comparators, name) for name in comparators.__all__)


def test_profiles_name_their_steps_in_order() -> None:
    """The table of profiles holds names, descriptions and steps."""
    assert list(PROFILES) == ["microcoder", "strict", "livecodebench", "published"]
    seven = ["exact", "whitespace", "tokens", "numeric", "structure", "text", "unordered"]
    assert list(PROFILES["microcoder"].steps) == seven
    assert list(PROFILES["published"].steps) == seven
    assert list(PROFILES["strict"].steps) == seven[:2]
    assert all(profile.name == name and profile.description for name, profile in PROFILES.items())


def test_an_unknown_profile_is_an_error_that_names_the_known() -> None:
    """A misspelt profile never compares anything."""
    with pytest.raises(ValueError, match=r"'loose'.*microcoder, strict, livecodebench, published"):
        compare("1", b"1", Rules(profile="loose"))


@pytest.mark.parametrize(("expected", "actual"), [("1", "1"), (1, b"1"), (b"1", b"1")])
def test_printed_output_is_text_against_bytes(expected: Any, actual: Any) -> None:
    """Other types are the caller's mistake."""
    with pytest.raises(TypeError):
        compare(expected, actual, Rules())


PRINTED = [
    # expected, actual, and which of strict, livecodebench, published accept
    ("1\n2\n", "1 \n2", "strict livecodebench published"),
    ("  1\n", "1\n", "livecodebench published"),
    ("1 2\n", "1  2\n", "livecodebench published"),
    ("a b\n", "a  b\n", "published"),
    ("0.5\n", "0.50\n", "livecodebench published"),
    ("0.5\n", "0.5000000001\n", "published"),
    ("0110\n", "110\n", "livecodebench published"),
    ("1_000\n", "1000\n", "livecodebench published"),
    ("100000000\n", "100000001\n", "published"),
    ("1 2 2\n", "2 1\n", "published"),
    ("1 2\n3 4\n", "3 4\n1 2\n", "published"),
    ("0.1234\n", "0.1226\n", "published"),
    ("[1, 2]\n", "1 2\n", "published"),
    ("abc\n", "ABC\n", "published"),
    ("1\n", "2\n", ""),
    ("sNaN\n", "nan\n", ""),
]


@pytest.mark.parametrize(("expected", "actual", "accepting"), PRINTED)
def test_profiles_on_printed_output(expected: str, actual: str, accepting: str) -> None:
    """Each baseline keeps its own rules, false acceptances included."""
    profiles = ["strict", "livecodebench", "published"]
    accepted = [p for p in profiles if compare(expected, actual.encode(), Rules(profile=p)).accepted]
    assert accepted == accepting.split()


RETURNED: list[tuple[Any, Any, str]] = [
    ([1, 2], [1, 2], "strict livecodebench published"),
    ([1, 2], (1, 2), "livecodebench published"),
    ([[1, 2]], [(1, 2)], "published"),
    (1, True, "livecodebench published"),
    (1, 1.0, "livecodebench published"),
    ({"a": {1}}, {"a": {1.0}}, "livecodebench published"),
    (0.3, 0.1 + 0.2, "published"),
    ([1, 2], [2, 1, 1], "published"),
    ({"1": 2}, {1: 2}, "published"),
    ([1], [2], ""),
    (None, 0, ""),
]


@pytest.mark.parametrize(("expected", "actual", "accepting"), RETURNED)
def test_profiles_on_returned_values(expected: Any, actual: Any, accepting: str) -> None:
    """Each baseline keeps its own rules, false acceptances included."""
    profiles = ["strict", "livecodebench", "published"]
    accepted = [p for p in profiles if compare(expected, actual, Rules(kind="returned", profile=p)).accepted]
    assert accepted == accepting.split()


def test_strict_counts_leading_and_inner_white_space() -> None:
    """Drawings keep their indentation, and a leading empty line is a difference."""
    rules = Rules(profile="strict")
    for expected, actual in [("  *\n***\n", b"*\n***\n"), ("4\n", b"\n4\n"), ("a b\n", b"a  b\n")]:
        assert not compare(expected, actual, rules).accepted
        assert compare(expected, actual, Rules()).step == "tokens"
