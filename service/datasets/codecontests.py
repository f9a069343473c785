"""CodeContests: public, private and generated tests of programs, with the contest's own limits.

Its traps: limits are those of compiled languages; a limit of 0 stands for none; several answers may be right where
only one is stored, which the rows do not say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets.values import RowError, as_text, problem, required, same_length
from service.wire import MIN_MEMORY_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem

SUITES = ("public_tests", "private_tests", "generated_tests")
# What contests that take Python at all commonly grant it over C++.
TIME_FACTOR = 3.0
# What a service grants unless it is set otherwise: a problem that asks for more is refused.
MOST_CPU_TIME_S = 60.0
MOST_OF_ANYTHING = 1 << 62
FILES = ("input_file", "output_file")
# An interpreter with its libraries takes more than some contests grant a compiled program.
LEAST_MEMORY_BYTES = max(256 << 20, MIN_MEMORY_BYTES)


def problem_of(
    row: Mapping[str, Any], *, time_factor: float = TIME_FACTOR, suites: tuple[str, ...] = SUITES
) -> Problem:
    """Return the problem of a row: its CPU time is ``time_factor`` times the contest's.

    Raises:
        RowError: a suite is broken, or there are no tests at all.

    """
    inputs: list[str] = []
    outputs: list[str] = []
    for name in FILES:
        if row.get(name):
            raise RowError(f"{name}: programs use a file instead of standard input and output")
    for name in suites:
        suite = row.get(name) or {"input": [], "output": []}
        if not isinstance(suite, dict):
            raise RowError(f"{name}: not an object with input and output")
        inputs += _texts(suite, "input", name)
        outputs += _texts(suite, "output", name)
        if len(inputs) != len(outputs):
            same_length(inputs, outputs, name)
    same_length(inputs, outputs, ", ".join(suites))
    cases = [{"input": given, "expected": expected} for given, expected in zip(inputs, outputs, strict=True)]
    return problem("stdio", cases, limits=_limits(row, time_factor))


def _texts(suite: Mapping[str, Any], name: str, field: str) -> list[str]:
    found = required(suite, name)
    if not isinstance(found, list):
        raise RowError(f"{field}.{name}: not a list")
    return [as_text(one, f"{field}.{name}.{index}") for index, one in enumerate(found)]


def _limits(row: Mapping[str, Any], time_factor: float) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    time_limit = row.get("time_limit")
    if isinstance(time_limit, dict):
        time_s = (
            _number(time_limit, "seconds", "time_limit.") + _number(time_limit, "nanos", "time_limit.") / 1e9
        )
        if time_s > 0:
            limits["cpu_time_s"] = min(time_s * time_factor, MOST_CPU_TIME_S)
    memory_bytes = int(_number(row, "memory_limit_bytes"))
    if memory_bytes > 0:
        limits["memory_bytes"] = max(memory_bytes, LEAST_MEMORY_BYTES)
    return limits


def _number(holder: Mapping[str, Any], name: str, place: str = "") -> float:
    value = holder.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST_OF_ANYTHING:
        raise RowError(f"{place}{name}: not a number that a limit can be")
    return value
