"""Lists of tests: DeepCoder, SYNTHETIC-1, open-r1's verifiable problems.

A row has ``tests``, ``test_cases`` or ``verification_info``, as JSON text or data; a test has ``input`` and
``output`` and perhaps ``type`` (or ``testtype``) and ``fn_name`` (or ``metadata.func_name``). Tests of LiveCodeBench
origin keep one JSON argument a line, the others a list of arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainer_client.datasets.apps import Wrapping, problem_of_suite
from trainer_client.datasets.livecodebench import problem_of as livecodebench_problem
from trainer_client.datasets.values import json_value, required
from trainer_client.errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from service.wire import Problem

FIELDS = ("tests", "test_cases", "verification_info", "ground_truth")


def problem_of(
    row: Mapping[str, Any], *, cpu_time_s: float | None = None, wrapping: Wrapping = "auto"
) -> Problem:
    """Return the problem of a row; ``wrapping`` is that of :mod:`trainer_client.datasets.apps`.

    Raises:
        ProblemError: a field is missing or cannot be decoded, tests are of different kinds or for another language.

    """
    stored = json_value(required(row, *FIELDS), "tests")
    if isinstance(stored, dict) and "test_cases" in stored:
        language = stored.get("language") or "python"
        if language != "python":
            raise ProblemError(f"language: {language} instead of python")
        stored = json_value(stored["test_cases"], "test_cases")
    if isinstance(stored, dict):
        # Some rows of the same sets keep lists of inputs and outputs.
        return problem_of_suite(stored, cpu_time_s=cpu_time_s, wrapping=wrapping)
    if not isinstance(stored, list) or not all(isinstance(test, dict) for test in stored):
        raise ProblemError("tests: not a list of tests")
    if any("testtype" in test for test in stored):
        metadata = {"func_name": _shared_name(stored)}
        converted = {"public_test_cases": stored, "metadata": metadata}
        return livecodebench_problem(converted, cpu_time_s=cpu_time_s)
    inputs, outputs = ([required(test, name) for test in stored] for name in ("input", "output"))
    suite = {"inputs": inputs, "outputs": outputs, "fn_name": _shared_name(stored)}
    return problem_of_suite(suite, cpu_time_s=cpu_time_s, wrapping=wrapping)


def _shared_name(tests: Sequence[Mapping[str, Any]]) -> str | None:
    names = {test.get("fn_name") or (test.get("metadata") or {}).get("func_name") for test in tests}
    if len(names) > 1:
        raise ProblemError(f"fn_name: tests of different kinds: {sorted(map(str, names))}")
    return names.pop() if names else None
