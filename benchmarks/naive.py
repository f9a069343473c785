"""The yardstick of the workload: a plain ``python -I`` process per test, stopped at the first failing one.

Nothing is isolated and nothing bounded but time; outputs go through the same comparison as ours.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from comparators import Rules, compare
from service.wire import CallCase, CallProblem, Case, Problem, StdioCase

# Reads a call's arguments as JSON from standard input and prints its result as JSON, in the program's own module.
CALL_SUFFIX = """
import json as _json, sys as _sys
print(_json.dumps({entry_point}(*_json.loads(_sys.stdin.read()))))
"""
CALL_PREFIX = "from typing import *\nimport collections, functools, heapq, itertools, math\n"


def judge_all(
    work: list[tuple[str, Problem]], *, python: str, workers: int, wall_time_s: float
) -> list[bool]:
    """Return, for each program and problem, whether all tests passed."""

    def judge(one: tuple[str, Problem]) -> bool:
        return _judge(*one, python=python, wall_time_s=wall_time_s)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(judge, work))


def _judge(code: str, problem: Problem, *, python: str, wall_time_s: float) -> bool:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        program = Path(folder, "program.py")
        if isinstance(problem, CallProblem):
            entry_point = problem.entry_point.replace(".", "().", 1)
            code = CALL_PREFIX + code + CALL_SUFFIX.format(entry_point=entry_point)
        program.write_text(code)
        return all(_passes(python, program, test, wall_time_s) for test in problem.tests)


def _passes(python: str, program: Path, test: Case, wall_time_s: float) -> bool:
    given = json.dumps(test.args) if isinstance(test, CallCase) else _text(test).input
    try:
        ended = subprocess.run(
            [python, "-I", program],
            input=given.encode(),
            capture_output=True,
            timeout=wall_time_s,
            check=True,
        )
        if isinstance(test, CallCase):
            value = json.loads(ended.stdout)
            return compare(test.expected, value, Rules(kind="returned")).accepted
    except (subprocess.SubprocessError, ValueError):
        return False
    return compare(_text(test).expected, ended.stdout, Rules()).accepted


def _text(test: Case) -> StdioCase:
    if not isinstance(test, StdioCase):
        raise TypeError(f"{type(test).__name__} has no text")
    return test
