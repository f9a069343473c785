"""LiveCodeBench: ``public_test_cases`` and ``private_test_cases``, the latter often packed.

Its traps: hidden tests are JSON text, or base64 of zlib of a pickle of JSON text; functional tests have one JSON
argument a line and a result that is JSON text; its own evaluator puts an import block before every program, which
models have learnt to lean on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets.plain_pickle import NotPlainError, unpacked
from service.datasets.values import (
    RowError,
    as_text,
    json_arguments,
    json_value,
    list_of,
    problem,
    required,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem

# For stdio only: for calls the service has such a block of its own. Built-ins are not shadowed by it.
PRELUDE = """\
import bisect, collections, copy, functools, heapq, itertools, math, operator, random, re, string, sys
from bisect import *
from collections import *
from copy import *
from functools import *
from heapq import *
from itertools import *
from math import *
from typing import *
"""
LEADING_JSON = ("[", "{")
FIELDS = ("public_test_cases", "private_test_cases")
STDIN = frozenset({"stdin", "stdin_stdout", "stdio"})


def problem_of(
    row: Mapping[str, Any], *, cpu_time_s: float | None = None, prelude: str | None = PRELUDE
) -> Problem:
    """Return the problem of a row, public tests first; rows of derived sets may have but one of the two.

    Raises:
        RowError: a field is missing or cannot be decoded, or tests of both kinds are mixed.

    """
    if all(row.get(name) is None for name in FIELDS):
        required(row, *FIELDS)
    tests = [test for name in FIELDS for test in _tests(row.get(name) or "[]", name)]
    if not tests:
        raise RowError(f"{', '.join(FIELDS)}: no tests; nothing tested is never a pass")
    kinds = {str(test.get("testtype") or "stdin") for _, test in tests}
    if kinds <= STDIN:
        cases = [
            {
                "input": as_text(test["input"], f"{field}.input"),
                "expected": as_text(test["output"], f"{field}.output"),
            }
            for field, test in tests
        ]
        return problem("stdio", cases, cpu_time_s=cpu_time_s, prelude=prelude)
    if kinds != {"functional"}:
        raise RowError(f"testtype: {sorted(kinds)} instead of either stdin or functional")
    metadata = json_value(row.get("metadata") or {}, "metadata")
    name = metadata.get("func_name") if isinstance(metadata, dict) else None
    if not name or not isinstance(name, str):
        raise RowError("metadata.func_name: missing")
    calls = [
        {
            "args": _arguments(test["input"], f"{field}.input"),
            "expected": json_value(test["output"], f"{field}.output"),
        }
        for field, test in tests
    ]
    return problem("call", calls, cpu_time_s=cpu_time_s, entry_point=name)


def _arguments(given: Any, field: str) -> list[Any]:
    return given if isinstance(given, list) else json_arguments(given, field)


def _tests(stored: Any, field: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the tests with the names by which complaints call them."""
    if isinstance(stored, str) and not stored.lstrip().startswith(LEADING_JSON):
        try:
            stored = unpacked(stored)
        except NotPlainError as error:
            raise RowError(f"{field}: {error}") from error
    found = json_value(stored, field)
    if isinstance(found, list):  # of texts, where each test was packed by itself
        found = [json_value(one, f"{field}.{index}") for index, one in enumerate(found)]
    named = [(f"{field}.{index}", test) for index, test in enumerate(list_of(dict, found, field))]
    for name, test in named:
        if test.get("input") is None or test.get("output") is None:
            raise RowError(f"{name}: a test without `input` or `output`")
    return named
