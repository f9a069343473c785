"""Printed output under the default profile: what is accepted, by which step, and what is refused."""

import pytest

from comparators import Rules, compare

ACCEPTED = [
    ("exact", "1 2\n", "1 2\n"),
    ("exact", "", ""),
    ("exact", "nan\n", "nan\n"),
    ("exact", "\ufeff8\n", "\ufeff8\n"),
    ("whitespace", "1 2\n", "1 2"),
    ("whitespace", "4\n5\n", "4 \r\n5\r\n\n\n"),
    ("whitespace", "4\r\n5\r\n", "4\n5\n"),
    ("whitespace", "", "\n"),
    ("whitespace", "\ufeff8\n", "8\n"),
    ("tokens", "4 5\n", "4\t  5\n"),
    ("tokens", "4\n", "\n4\n"),
    ("tokens", "4 5 6\n", "4\n5\n6\n"),
    ("tokens", "4\n5\n6\n", "4 5 6\n"),
    ("tokens", "4 5\n6 7\n", "4 5 6\n7\n"),
    ("tokens", "4\n5\n", "4\r5\r"),
    ("numeric", "0.666666666\n", "0.6666667\n"),
    ("numeric", "1.50\n", "1.5\n"),
    ("numeric", "4.0\n", "4\n"),
    ("numeric", "4\n", "4.0\n"),
    ("numeric", "5000\n", "5E+3\n"),
    ("numeric", "1000000000000000000\n", "1e+18\n"),
    ("numeric", "0\n", "-0\n"),
    ("numeric", "0.0\n", "-0.0\n"),
    ("numeric", "0.000002\n", "2e-06\n"),
    ("numeric", "2.5e3\n", "2500\n"),
    ("numeric", "0.5\n", "+.5\n"),
    ("numeric", "0.5\n", "00.5\n"),
    ("numeric", "7.000000\n", "7.000001\n"),
    ("numeric", "123456789.5\n", "123456790.1\n"),
    ("numeric", "-inf\n", "-Infinity\n"),
    ("numeric", "1e999999999\n", "10e999999998\n"),
    ("numeric", "Length: 2.7182818\n", "Length: 2.718282\n"),
    ("numeric", "2.50kg\n", "2.5kg\n"),
    ("numeric", "y=0.666667,\n", "y=0.6666667,\n"),
    ("numeric", "(0.25,-1.00)\n", "(0.250000,-1)\n"),
    ("numeric", "It is 0.5.\n", "It is 0.50.\n"),
    ("structure", "[7, 8]\n", "[7,8]\n"),
    ("structure", "7 8\n", "[7, 8]\n"),
    ("structure", "[7, 8]\n", "7 8\n"),
    ("structure", "7 8\n", "(7, 8)\n"),
    ("structure", "7\n8\n", "[7, 8]\n"),
    ("structure", "1 2\n3 4\n", "[[1, 2], [3, 4]]\n"),
    ("structure", "2\n5 6\n", "2\n[5, 6]\n"),
    ("structure", "x y\n", "['x', 'y']\n"),
    ("structure", "['x', 'y']\n", '["x", "y"]\n'),
    ("structure", "[x, y]\n", "['x', 'y']\n"),
    ("structure", "[[1 2]\n [3 4]]\n", "[[1, 2], [3, 4]]\n"),
    ("structure", '{"a": [1, null, true]}\n', "{'a': (1, None, True)}\n"),
    ("structure", '{"1": 0.5}\n', "{1: 0.50000001}\n"),
    ("structure", "{1, 2}\n", "{2, 1}\n"),
    ("structure", "[{1, 2}, {0.5}]\n", "[{2, 1}, {0.50000001}]\n"),
    ("structure", "null\n", "None\n"),
    ("structure", "true false\n", "True False\n"),
    ("structure", "'q'\n", '"q"\n'),
    ("structure", '"caf\\u00e9 \\ud83d\\ude00"\n', "'caf\u00e9 \U0001f600'\n"),
    ("structure", "(1,)\n", "[1]\n"),
    ("text", "YES\n", "Yes\n"),
    ("text", "Case 1: Impossible.\n", "Case 1: IMPOSSIBLE.\n"),
    ("text", "caf\u00e9\n", "cafe\u0301\n"),
    ("text", "two words\n", '"two words"\n'),
    ("text", "'two words'\n", "two words\n"),
]

REFUSED = [
    # integers and their syntax
    ("10000000000000000\n", "10000000000000001\n"),
    ("9" * 60, "9" * 59 + "8"),
    ("9" * 5000, "9" * 4999 + "8"),
    ("6\n", "+6\n"),
    ("6\n", "006\n"),
    ("6\n", "6.0000001\n"),
    ("2000\n", "2_000\n"),
    ("5\n", "\uff15\n"),
    ("0110\n", "110\n"),
    ("110\n", "0110\n"),
    ("0x10\n", "16\n"),
    ("1000000007\n0.5\n", "1000000008\n0.5\n"),
    ("9007199254740993\n", "9007199254740992.0\n"),
    # decimals
    ("3.141\n", "3.142\n"),
    ("2.5\n", "2.46\n"),
    ("0.33\n", "0.3333333333\n"),
    ("0.5\n", "1/2\n"),
    ("0.5\n", "nan\n"),
    ("nan\n", "NaN\n"),
    ("1e308\n", "inf\n"),
    ("inf\n", "-inf\n"),
    ("inf\n", "1e400\n"),
    ("0e12\n", "0e34\n"),
    ("1.5\n", "1e999999999\n"),
    ("Length: 2.7182818\n", "Width: 2.7182818\n"),
    ("2.50kg\n", "2.50g\n"),
    ("x=3\n", "x=4\n"),
    ("1.10.2\n", "1.1.2\n"),
    ("v1.10\n", "v1.1\n"),
    ("12:30\n", "12:30.0\n"),
    # tokens
    ("12 3\n", "1 23\n"),
    ("**\n**\n", "****\n"),
    ("7\n", "7\n7\n"),
    ("7\n", "Answer: 7\n"),
    ("Answer: 7\n", "7\n"),
    ("7 8\n", "7\n"),
    ("7\n", ""),
    ("", "7\n"),
    ("8\n", "\ufeff8\n"),
    ("a\u00a0b\n", "a b\n"),
    ("a\\nb\n", "a\nb\n"),
    # order and duplicates
    ("4 5 6\n", "6 5 4\n"),
    ("4\n4\n5\n", "4\n5\n5\n"),
    ("1 2\n3 4\n", "3 4\n1 2\n"),
    ("1 2\n3 4\n", "1 3\n2 4\n"),
    # structures
    ("[7, 8]\n", "[8, 7]\n"),
    ("[7, 8]\n", "[7, 8, 8]\n"),
    ("[7, 8]\n", "{7, 8}\n"),
    ("7 8\n", "{7, 8}\n"),
    ("{7, 8}\n", "{7, 9}\n"),
    ("[1, 2]\n", "['1', '2']\n"),
    ("[None]\n", "['None']\n"),
    ("[1]\n", "[True]\n"),
    ("[[1], [2]]\n", "[1, 2]\n"),
    ("[]\n", ""),
    ("", "[]\n"),
    ("[]\n", "None\n"),
    ("[0110]\n", "[110]\n"),
    ('{"a": 1}\n', '{"a": 1, "a": 1}\n'),
    ('{"a": 1}\n', '{"a": 2}\n'),
    ("[1, 2]\n", "[1, 2\n"),
    ("[1, 2]\n", "[1,, 2]\n"),
    ("[1, 2]\n", "[1, 2,]\n"),
    # answers that are brackets or expressions themselves
    ("[()]\n", "[[]]\n"),
    ("()\n", "[]\n"),
    ("(a)\n", "[a]\n"),
    ("(a+b)*c\n", "[a+b]*c\n"),
    # words
    ("YES\n", "NO\n"),
    ("True\n", "1\n"),
    ("null\n", "nil\n"),
    ("Rome\n", "ROME\n"),
    ("'a'\n", "a'\n"),
    ('""\n', "\n"),
    ("\ufb01\n", "fi\n"),
]


@pytest.mark.parametrize(("step", "expected", "actual"), ACCEPTED)
def test_accepts(step: str, expected: str, actual: str) -> None:
    """The named step is the first that accepts."""
    comparison = compare(expected, actual.encode(), Rules())
    assert (comparison.accepted, comparison.step, comparison.feedback) == (True, step, "")


@pytest.mark.parametrize(("expected", "actual"), REFUSED)
def test_refuses(expected: str, actual: str) -> None:
    """Nothing accepts, and the feedback is one printable line."""
    comparison = compare(expected, actual.encode(), Rules())
    assert (comparison.accepted, comparison.step) == (False, None)
    assert comparison.feedback.isprintable()
    assert comparison.feedback


def test_invalid_bytes_equal_only_themselves() -> None:
    """A byte that is no UTF-8 equals no character, not even the surrogate that Python decodes it to."""
    for expected in ("\u00e9", "\udce9", "\ufffd", '"\\udce9"'):
        for actual in (b"\xe9", b'"\xe9"'):
            assert not compare(expected, actual, Rules()).accepted
    assert not compare("caf\u00e9", b"caf\xe9", Rules(ignore_case=True)).accepted


def test_no_tolerance_means_equal_values() -> None:
    """With both tolerances 0, another spelling of the same value is accepted and the nearest value is not."""
    rules = Rules(abs_tol=0, rel_tol=0)
    assert compare("0.10", b"1e-1", rules).accepted
    assert not compare("0.3", b"0.30000000000000004", rules).accepted
    assert not compare("0.30000000000000000001", b"0.3", rules).accepted


def test_tolerance_is_the_greater_of_absolute_and_relative() -> None:
    """A value is near enough by either measure, up to and including the edge."""
    assert compare("0.5", b"0.51", Rules(abs_tol=0.01, rel_tol=0)).accepted
    assert not compare("0.5", b"0.5101", Rules(abs_tol=0.01, rel_tol=0)).accepted
    assert compare("200.0", b"202", Rules(abs_tol=0, rel_tol=0.01)).accepted
    assert not compare("200.0", b"202.1", Rules(abs_tol=0, rel_tol=0.01)).accepted
    assert not compare("1e308", b"-1e308", Rules(abs_tol=0, rel_tol=1.5)).accepted


def test_ignored_case_reaches_every_word() -> None:
    """Where the problem ignores case, words are alike in text and in structures; otherwise they are not."""
    pairs = [("Rome 2\n", b"ROME 2\n"), ("['Rome']\n", b'["rome"]\n')]
    for expected, actual in pairs:
        assert compare(expected, actual, Rules(ignore_case=True)).step == "text"
        assert not compare(expected, actual, Rules()).accepted
    assert not compare("Rome\n", b"Roma\n", Rules(ignore_case=True)).accepted
