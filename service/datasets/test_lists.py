"""Lists of tests: DeepCoder, SYNTHETIC-1, open-r1's verifiable problems.

A row has ``tests``, ``test_cases`` or ``verification_info``, as JSON text or data; a test has ``input`` and
``output`` and perhaps ``type`` (or ``testtype``) and ``fn_name`` (or ``metadata.func_name``). Tests of LiveCodeBench
origin keep one JSON argument a line, the others a list of arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets.apps import Wrapping, problem_of_suite
from service.datasets.livecodebench import problem_of as livecodebench_problem
from service.datasets.values import RowError, json_value, list_of, required

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem

FIELDS = ("tests", "test_cases", "verification_info", "ground_truth")
# Within the stored object, where it is one: the list itself.
INNER = ("test_cases", "tests")
PYTHON = ("python", "python3")


def problem_of(
    row: Mapping[str, Any], *, cpu_time_s: float | None = None, wrapping: Wrapping = "auto"
) -> Problem:
    """Return the problem of a row; ``wrapping`` is that of :mod:`service.datasets.apps`.

    Raises:
        RowError: a field is missing or cannot be decoded, tests are of different kinds or for another language.

    """
    stored = json_value(required(row, *FIELDS), "tests")
    # A field that is null stands for none: tables have the fields of all rows in each.
    inner = next((name for name in INNER if isinstance(stored, dict) and stored.get(name) is not None), None)
    if inner is not None:
        language = stored.get("language") or "python"
        if language not in PYTHON:
            raise RowError(f"language: {language} instead of python")
        stored = json_value(stored[inner], inner)
    if isinstance(stored, dict):
        # Some rows of the same sets keep lists of inputs and outputs.
        return problem_of_suite(stored, cpu_time_s=cpu_time_s, wrapping=wrapping)
    stored = list_of(dict, stored, "tests")
    named = {str(name) if (name := _name(test)) else None for test in stored}
    if any(test.get("testtype") is not None for test in stored):
        # Each test tells its kind, so that the name need not stand in every one; or it is the row's.
        metadata = {"func_name": _only(named - {None}) or _name(row)}
        converted = {"public_test_cases": stored, "metadata": metadata}
        return livecodebench_problem(converted, cpu_time_s=cpu_time_s)
    inputs, outputs = ([required(test, name) for test in stored] for name in ("input", "output"))
    suite = {"inputs": inputs, "outputs": outputs, "fn_name": _only(named)}
    if suite["fn_name"] is None and any(test.get("type") == "function_call" for test in stored):
        raise RowError("fn_name: missing, though tests call a function")
    return problem_of_suite(suite, cpu_time_s=cpu_time_s, wrapping=wrapping)


def _only(names: set[str | None]) -> str | None:
    if len(names) > 1:
        raise RowError(f"fn_name: tests of different kinds: {sorted(map(str, names))}")
    return next(iter(names), None)


def _name(holder: Mapping[str, Any]) -> Any:
    """Return the name of the function that a test calls, or all of a row's."""
    metadata = holder.get("metadata")
    try:
        metadata = json_value(metadata, "metadata")
    except RowError:
        metadata = None  # words, where nothing has to be called
    return holder.get("fn_name") or (metadata.get("func_name") if isinstance(metadata, dict) else None)
