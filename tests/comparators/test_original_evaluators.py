"""LiveCodeBench's and the APPS family's evaluators as they were run: what each said to these pairs is recorded here.

``livecodebench`` must say the same. The chain that ``published`` follows was never released, but descends from the APPS
family's: it must accept what that accepts, its faults included, but for two that are no comparison at all (see below).
Recorded by running LiveCodeBench at 28fef95 and APPS at 362aedc.
"""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from comparators import Rules, compare

# kind, expected (call: JSON), actual (call: Python literal), accepted by LiveCodeBench, accepted by APPS
RECORDED: list[tuple[str, str, str, bool, bool]] = [
    ("stdio", "5\n", "5", True, True),
    ("stdio", "1\n2\n", "1\r\n2\r\n", True, True),
    ("stdio", "1\r\n2\r\n", "1\n2\n", True, True),
    ("stdio", "1 2 3\n", "1  2   3\n", True, True),
    ("stdio", "YES\nNO\n", "YES\n\nNO\n", False, True),
    ("stdio", "5\n", "\n5\n", True, True),
    ("stdio", "\ufeff5\n", "5\n", False, False),
    ("stdio", "5\n", "\ufeff5\n", False, False),
    ("stdio", "a b  c\n", "a b c \n", False, True),
    ("stdio", "1 2 3\n", "1\n2\n3\n", False, False),
    ("stdio", "1\n2\n3\n", "1 2 3\n", False, False),
    ("stdio", "1 2\n3 4\n", "1 2 3\n4\n", False, False),
    ("stdio", "##\n##\n", "####\n", False, False),
    ("stdio", "12 3\n", "1 23\n", False, False),
    ("stdio", "1 2\n", "[1, 2]\n", False, False),
    ("stdio", "[1, 2]\n", "[1,2]\n", False, False),
    ("stdio", "[1, 2]\n", "1 2\n", False, False),
    ("stdio", "[1, 2, 3]\n", "[1, 3, 2]\n", False, False),
    ("stdio", "['a', 'b']\n", '["a", "b"]\n', False, False),
    ("stdio", "3\n", "3.0\n", True, True),
    ("stdio", "3.0\n", "3\n", True, True),
    ("stdio", "0.333333333333\n", "0.333333\n", False, True),
    ("stdio", "0.500000\n", "0.5\n", True, True),
    ("stdio", "1.234\n", "1.235\n", False, False),
    ("stdio", "1000000000000.0\n", "1000009000000.0\n", False, True),
    ("stdio", "1000000000000000000\n", "1000000000000000001\n", False, True),
    ("stdio", "9007199254740992\n", "9007199254740993\n", False, True),
    ("stdio", "123456789\n", "123456790\n", False, True),
    ("stdio", "1 1000000000000000000\n", "1 1000000000000000001\n", False, True),
    ("stdio", "1000000007\n2\n3\n", "1000000008\n2\n3\n", False, True),
    ("stdio", "1000000007\n0.5\n", "1000000008\n0.5\n", False, True),
    ("stdio", "0.00\n", "-0.00\n", True, True),
    ("stdio", "0.0000001\n", "1e-07\n", True, True),
    ("stdio", "1000\n", "1E+3\n", True, True),
    ("stdio", "0.5\n", "nan\n", False, False),
    ("stdio", "1e308\n", "inf\n", False, False),
    ("stdio", "inf\n", "Infinity\n", True, True),
    ("stdio", "2.5\n", "2.45\n", False, False),
    ("stdio", "2.3\n", "2.3000000001\n", False, True),
    ("stdio", "0.1234\n", "0.1226\n", False, True),
    ("stdio", "7\n", "007\n", True, True),
    ("stdio", "0101101\n", "101101\n", True, True),
    ("stdio", "1000\n", "1_000\n", True, True),
    ("stdio", "5\n", "+5\n", True, True),
    ("stdio", "0.5\n", "1/2\n", False, False),
    ("stdio", "0.10 0.20\n0.30 0.40\n", "0.1 0.2000001\n0.3 0.4\n", False, True),
    ("stdio", "0.1 0.2 0.3\n", "0.1 0.2 0.31\n", False, False),
    ("stdio", "Area: 3.1415927\n", "Area: 3.141593\n", False, False),
    ("stdio", "YES\n", "NO\n", False, False),
    ("stdio", "YES\n", "Yes\n", False, False),
    ("stdio", "True\n", "1\n", False, False),
    ("stdio", "YES\nNO\nYES\n", "YES\nYES\nNO\n", False, True),
    ("stdio", "Alice\n", "Bob\n", False, False),
    ("stdio", "null\n", "None\n", False, False),
    ("stdio", "None\n", "", False, False),
    ("stdio", '"abc"\n', "'abc'\n", False, False),
    ("stdio", "a\\nb\n", "a\nb\n", False, False),
    ("stdio", "1 2 3\n", "3 2 1\n", False, True),
    ("stdio", "1\n1\n2\n", "1\n2\n", False, True),
    ("stdio", "red green\n", "green red\n", False, True),
    ("stdio", "2 1\n", "1 2\n", False, True),
    ("stdio", "Case #1: 5\n", "5\n", False, False),
    ("stdio", "5\n", "5\ndebug\n", False, False),
    ("stdio", "", "", True, True),
    ("stdio", "5\n", "Enter n: 5\n", False, False),
    ("stdio", "5\n", "5\n5\n", False, True),
    ("call", "[1, 2, 3]", "(1, 2, 3)", True, True),
    ("call", "[[1, 2], [3, 4]]", "[(1, 2), (3, 4)]", False, False),
    ("call", '{"a": [1, 2]}', "{'a': (1, 2)}", False, False),
    ("call", "[1, 2, 3]", "{1, 2, 3}", False, False),
    ("call", "[1, 2, 2]", "{1, 2}", False, False),
    ("call", "3", "3.0", True, True),
    ("call", "3.0", "3", True, True),
    ("call", "0.333333333333", "0.333333", False, False),
    ("call", "1.234", "1.235", False, False),
    ("call", "[1000000007]", "[1000000008]", False, False),
    ("call", "1", "True", True, True),
    ("call", "0.0", "-0.0", True, True),
    ("call", "123456789", "123456790", False, False),
    ("call", "[]", "None", False, False),
    ("call", '""', "None", False, False),
    ("call", "[]", "()", True, True),
    ("call", "[[]]", "[]", False, True),
    ("call", "[5]", "5", False, True),
    ("call", "[1, 2, 3]", "1", False, True),
    ("call", '["abc", "d"]', "'abc'", False, True),
    ("call", "false", "None", False, False),
    ("call", '"abc"', "\"'abc'\"", False, False),
    ("call", '["a", "b"]', "('a', 'b')", True, True),
    ("call", '"1"', "1", False, False),
    ("call", '"abc"', "'ABC'", False, False),
    ("call", '"caf\\u00e9"', "'cafe\\u0301'", False, False),
    ("call", '"abc"', "b'abc'", False, False),
    ("call", '"007"', "'7'", False, False),
    ("call", '"a b"', "'a  b'", False, False),
    ("call", '{"a": 2, "b": 1}', "{'b': 1, 'a': 2}", True, True),
    ("call", '{"1": "a"}', "{1: 'a'}", False, True),
    ("call", '[{"1": 2}]', "[{1: 2}]", False, True),
    ("call", '{"a": 1, "b": 2}', "{'a': 1}", False, False),
    ("call", "[1, 2, 3]", "[1, 3, 2]", False, False),
    ("call", "[[1, 2], [3, 4]]", "[[3, 4], [1, 2]]", False, False),
    ("call", "[1, 2, 3]", "[1, 2]", False, False),
]
# APPS compares with ``expected[0]`` as well: the first element passes for a whole list.
FIRST_ELEMENT = {("[1, 2, 3]", "1"), ('["abc", "d"]', "'abc'")}


def accepted(profile: str, kind: str, expected: str, actual: str) -> bool:
    if kind == "stdio":
        return compare(expected, actual.encode(), Rules(profile=profile)).accepted
    value: Any = ast.literal_eval(actual)
    return compare(json.loads(expected), value, Rules(kind="returned", profile=profile)).accepted


@pytest.mark.parametrize(("kind", "expected", "actual", "livecodebench", "_apps"), RECORDED)
def test_livecodebench_says_what_it_said(
    kind: str, expected: str, actual: str, *, livecodebench: bool, _apps: bool
) -> None:
    assert accepted("livecodebench", kind, expected, actual) is livecodebench


@pytest.mark.parametrize(("kind", "expected", "actual", "_livecodebench", "apps"), RECORDED)
def test_published_accepts_what_its_ancestor_accepted(
    kind: str, expected: str, actual: str, *, _livecodebench: bool, apps: bool
) -> None:
    if apps and (expected, actual) not in FIRST_ELEMENT:
        assert accepted("published", kind, expected, actual)


def test_both_outcomes_are_recorded_of_both() -> None:
    """A table of one answer would prove nothing."""
    for column in (3, 4):
        share = sum(bool(row[column]) for row in RECORDED) / len(RECORDED)
        assert 0.2 < share < 0.8
