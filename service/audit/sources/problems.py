"""Problems of rows: what a row of a known format says about tests and programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from service.audit.items import Truth
from service.audit.sources.rows import Row, SourceError
from service.wire import Problem

_PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)
_CLASS = "class Solution"


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a row, or of a file beside it; exactly one of ``code`` and ``completion``."""

    name: str
    code: str | None
    completion: str | None
    truth: Truth


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row's problem, by the name that other files know it by, and the programs that the row holds.

    ``function`` names what call tests call: a method where the program has the customary class, else a function.
    """

    name: str
    fields: dict[str, Any]
    programs: Sequence[Program] = ()
    function: str | None = None

    def problem(self, program: str, where: str) -> Problem:
        """Return the problem as it is for ``program``. Raises SourceError."""
        fields = self.fields
        if self.function is not None:
            method = f"Solution.{self.function}"
            fields = {**fields, "entry_point": method if _CLASS in program else self.function}
        try:
            return _PROBLEM.validate_python(fields)
        except ValidationError as error:
            detail = error.errors(include_url=False)[0]
            path = ".".join(map(str, detail["loc"][1:]))
            raise SourceError(f"{where}: problem.{path}: {detail['msg']}") from error


def tests_of_lists(row: Row, field: str, data: Any) -> tuple[dict[str, Any], str | None]:
    """Return the problem of ``{"inputs": [...], "outputs": [...], "fn_name": ...}``, and the function's name."""
    inputs, outputs = _listed(row, field, data, "inputs"), _listed(row, field, data, "outputs")
    if len(inputs) != len(outputs):
        raise row.bad(field, f"has {len(inputs)} inputs and {len(outputs)} outputs")
    function = data.get("fn_name")
    if function is None:
        tests = [
            {"input": _joined(given), "expected": _joined(wanted)}
            for given, wanted in zip(inputs, outputs, strict=True)
        ]
        return {"mode": "stdio", "tests": tests}, None
    results = [_json_or_text(output) for output in outputs]
    # These data sets wrap every result of a problem in a list of its own, or none of them.
    if results and all(isinstance(result, list) and len(result) == 1 for result in results):
        results = [result[0] for result in results]
    calls = [
        {"args": arguments(row, field, given), "expected": wanted}
        for given, wanted in zip(inputs, results, strict=True)
    ]
    return {"mode": "call", "tests": calls}, str(function)


def tests_of_cases(row: Row, field: str, cases: Any) -> tuple[dict[str, Any], bool]:
    """Return the problem of ``[{"input", "output", "testtype"}, ...]``, and whether its tests call a function."""
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases) or not cases:
        raise row.bad(field, "must be a list of tests, and not empty")
    kinds = {case.get("testtype", "stdin") for case in cases}
    if kinds <= {"stdin", "stdin_stdout", "stdio"}:
        tests = [{"input": case.get("input", ""), "expected": case.get("output", "")} for case in cases]
        return {"mode": "stdio", "tests": tests}, False
    if kinds == {"functional"}:
        tests = [
            {
                "args": arguments(row, field, case.get("input", "")),
                "expected": row.json_of(field, str(case.get("output"))),
            }
            for case in cases
        ]
        return {"mode": "call", "tests": tests}, True
    raise row.bad(field, f"mixes tests of the types {', '.join(sorted(map(str, kinds)))}")


def arguments(row: Row, field: str, given: Any) -> list[Any]:
    """Return the arguments of a call: a list of them, or text with one JSON value a line."""
    if isinstance(given, list):
        return given
    if isinstance(given, str):
        return [row.json_of(field, line) for line in given.split("\n") if line.strip()]
    raise row.bad(field, f"has arguments that are neither a list nor text: {given!r:.60}")


def asserted(setup: str, statements: Iterator[str] | Sequence[str]) -> dict[str, Any]:
    """Return the problem of assertions, each with ``setup`` before it."""
    head = f"{setup.rstrip()}\n" if setup.strip() else ""
    return {"mode": "assert", "tests": [{"code": f"{head}{statement}"} for statement in statements]}


def _listed(row: Row, field: str, data: Any, name: str) -> list[Any]:
    found = data.get(name) if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise row.bad(f"{field}.{name}", "must be a list")
    return found


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value)) + "\n"
    return value if isinstance(value, str) else str(value)


def _json_or_text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
