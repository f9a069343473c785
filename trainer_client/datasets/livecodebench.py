"""LiveCodeBench: ``public_test_cases`` and ``private_test_cases``, the latter often packed.

Its traps: hidden tests are JSON text, or base64 of zlib of a pickle of JSON text; functional tests have one JSON
argument a line and a result that is JSON text; its own evaluator puts an import block before every program, which
models have learnt to lean on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.plain_pickle import NotPlainError, unpacked
from trainer_client.datasets.values import as_text, json_arguments, json_value, problem, required
from trainer_client.errors import ProblemError

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


def problem_of(
    row: Mapping[str, Any], *, cpu_time_s: float | None = None, prelude: str | None = PRELUDE
) -> Problem:
    """Return the problem of a row, public tests first.

    Raises:
        ProblemError: a field is missing or cannot be decoded, or tests of both kinds are mixed.

    """
    tests = [
        *_tests(required(row, "public_test_cases"), "public_test_cases"),
        *_tests(row.get("private_test_cases") or "[]", "private_test_cases"),
    ]
    kinds = {test.get("testtype") for test in tests}
    metadata = json_value(row.get("metadata") or "{}", "metadata")
    if kinds == {"stdin"}:
        cases = [
            {"input": as_text(test.get("input"), "input"), "expected": as_text(test.get("output"), "output")}
            for test in tests
        ]
        return problem("stdio", cases, cpu_time_s=cpu_time_s, prelude=prelude)
    if kinds == {"functional"}:
        calls = [
            {
                "args": json_arguments(test.get("input"), "input"),
                "expected": json_value(test["output"], "output"),
            }
            for test in tests
        ]
        name = metadata.get("func_name")
        if not name:
            raise ProblemError("metadata.func_name: missing")
        return problem("call", calls, cpu_time_s=cpu_time_s, entry_point=name)
    raise ProblemError(
        f"testtype: {sorted(map(str, kinds)) or 'no tests'} instead of either stdin or functional"
    )


def _tests(stored: Any, field: str) -> list[dict[str, Any]]:
    if isinstance(stored, str) and not stored.lstrip().startswith(LEADING_JSON):
        try:
            stored = unpacked(stored)
        except NotPlainError as error:
            raise ProblemError(f"{field}: {error}") from error
    tests = json_value(stored, field)
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        raise ProblemError(f"{field}: not a list of tests")
    for test in tests:
        if "input" not in test or "output" not in test:
            raise ProblemError(f"{field}: a test without `input` or `output`")
    return tests
