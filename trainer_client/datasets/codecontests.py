"""CodeContests: public, private and generated tests of programs, with the contest's own limits.

Its traps: limits are those of compiled languages; a limit of 0 stands for none; several answers may be right where
only one is stored, which the rows do not say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.wire import MIN_MEMORY_BYTES
from trainer_client.datasets.values import problem, required, same_length
from trainer_client.errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem

SUITES = ("public_tests", "private_tests", "generated_tests")
# What contests that take Python at all commonly grant it over C++.
TIME_FACTOR = 3.0
# An interpreter with its libraries takes more than some contests grant a compiled program.
LEAST_MEMORY_BYTES = max(256 << 20, MIN_MEMORY_BYTES)


def problem_of(
    row: Mapping[str, Any], *, time_factor: float = TIME_FACTOR, suites: tuple[str, ...] = SUITES
) -> Problem:
    """Return the problem of a row: its CPU time is ``time_factor`` times the contest's.

    Raises:
        ProblemError: a suite is broken, or there are no tests at all.

    """
    inputs: list[Any] = []
    outputs: list[Any] = []
    for name in suites:
        suite = row.get(name) or {"input": [], "output": []}
        if not isinstance(suite, dict):
            raise ProblemError(f"{name}: not an object with input and output")
        inputs += required(suite, "input")
        outputs += required(suite, "output")
        if len(inputs) != len(outputs):
            same_length(inputs, outputs, name)
    same_length(inputs, outputs, ", ".join(suites))
    cases = [{"input": given, "expected": expected} for given, expected in zip(inputs, outputs, strict=True)]
    return problem("stdio", cases, limits=_limits(row, time_factor))


def _limits(row: Mapping[str, Any], time_factor: float) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    time_limit = row.get("time_limit")
    if isinstance(time_limit, dict):
        time_s = (time_limit.get("seconds") or 0) + (time_limit.get("nanos") or 0) / 1e9
        if time_s > 0:
            limits["cpu_time_s"] = time_s * time_factor
    if row.get("memory_limit_bytes"):
        limits["memory_bytes"] = max(int(row["memory_limit_bytes"]), LEAST_MEMORY_BYTES)
    return limits
