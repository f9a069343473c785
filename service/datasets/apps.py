"""APPS and its descendants (TACO, PRIME's Eurus rows): ``inputs`` and ``outputs``, with ``fn_name`` for calls.

Their traps: standard input and output may be lists of lines. An input of a call is the list of its arguments, with a
result that is data too, so that a text of digits is a text; or it is text with one JSON argument a line, as in
LiveCodeBench, with a result that is JSON text. The result is often, but not always, wrapped in a list of one. A wrapped
``[[1, 2]]`` taken as it is rejects every right program; a plain ``[3]`` taken as wrapped accepts 3. So the whole suite
decides: wrapped is what is wrapped in every test.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from service.datasets.values import (
    RowError,
    as_text,
    expected_value,
    json_arguments,
    json_value,
    problem,
    required,
    same_length,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from service.wire import Problem

type Wrapping = Literal["auto", "wrapped", "plain"]
# The entry point of `Solution.method` rows is found by the method's name.
STRUCTURES = ("[", "{")
FIELDS = ("input_output", "tests", "ground_truth")


def problem_of(
    row: Mapping[str, Any], *, cpu_time_s: float | None = None, wrapping: Wrapping = "auto"
) -> Problem:
    """Return the problem of a row: ``input_output``, ``tests``, ``ground_truth`` or ``reward_model.ground_truth``.

    ``wrapping`` says whether expected results of calls are lists of one; ``auto`` looks at the suite.

    Raises:
        RowError: a field is missing or cannot be decoded, or inputs and outputs differ in number.

    """
    has_own = any(row.get(name) is not None for name in FIELDS)
    reward_model = row.get("reward_model")
    holder = reward_model if isinstance(reward_model, dict) and not has_own else row
    suite = json_value(required(holder, *FIELDS), "input_output")
    if not isinstance(suite, dict):
        raise RowError("input_output: not an object with inputs and outputs")
    return problem_of_suite(suite, cpu_time_s=cpu_time_s, wrapping=wrapping)


def problem_of_suite(
    suite: Mapping[str, Any], *, cpu_time_s: float | None = None, wrapping: Wrapping = "auto"
) -> Problem:
    """Return the problem of ``{"inputs": [...], "outputs": [...], "fn_name": ...}``; raises as :func:`problem_of`."""
    inputs, outputs = required(suite, "inputs", "input"), required(suite, "outputs", "output")
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise RowError("inputs, outputs: not lists")
    same_length(inputs, outputs, "inputs, outputs")
    name = suite.get("fn_name")
    if not name:
        cases = [
            {"input": as_text(given, f"inputs.{index}"), "expected": as_text(expected, f"outputs.{index}")}
            for index, (given, expected) in enumerate(zip(inputs, outputs, strict=True))
        ]
        return problem("stdio", cases, cpu_time_s=cpu_time_s)
    results = [
        _result(given, output, f"outputs.{index}")
        for index, (given, output) in enumerate(zip(inputs, outputs, strict=True))
    ]
    calls = [
        {"args": _arguments(given, f"inputs.{index}"), "expected": expected}
        for index, (given, expected) in enumerate(zip(inputs, _unwrapped(results, wrapping), strict=True))
    ]
    return problem("call", calls, cpu_time_s=cpu_time_s, entry_point=name)


def _arguments(given: Any, field: str) -> list[Any]:
    if isinstance(given, str):
        return json_arguments(given, field)
    if not isinstance(given, list):
        raise RowError(f"{field}: not a list of arguments")
    return given


def _result(given: Any, output: Any, field: str) -> Any:
    if isinstance(given, str) or not isinstance(output, str) or output.lstrip().startswith(STRUCTURES):
        return expected_value(output, field)
    # Beside arguments that are data a text is a text, unless it is quoted as JSON has it.
    try:
        quoted = json.loads(output)
    except (ValueError, RecursionError):
        return output
    return quoted if isinstance(quoted, str) else output


def _unwrapped(values: Sequence[Any], wrapping: Wrapping) -> Sequence[Any]:
    alone = all(isinstance(value, list) and len(value) == 1 for value in values)
    if wrapping == "wrapped" and not alone:
        raise RowError("outputs: not every one is a list of one result")
    return [value[0] for value in values] if alone and wrapping != "plain" else values
