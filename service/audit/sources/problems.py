"""Problems of rows: what a row of a known format says about tests and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from service.audit.items import Truth
from service.audit.sources.rows import Row, SourceError
from service.json_text import lenient
from service.wire import Problem

_PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)
_CLASS = "class Solution"
_STRUCTURE_MARKS = ("[", "{", '"')


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
            {"input": _text(row, field, given), "expected": _text(row, field, wanted)}
            for given, wanted in zip(inputs, outputs, strict=True)
        ]
        return {"mode": "stdio", "tests": tests}, None
    results = [_result(given, output) for given, output in zip(inputs, outputs, strict=True)]
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
    for index, case in enumerate(cases):
        for name in ("input", "output"):
            if case.get(name) is None:
                raise row.bad(f"{field}[{index}].{name}", "is missing")
    kinds = {str(case.get("testtype", "stdin")) for case in cases}
    if kinds <= {"stdin", "stdin_stdout", "stdio"}:
        tests = [
            {"input": _text(row, field, case["input"]), "expected": _text(row, field, case["output"])}
            for case in cases
        ]
        return {"mode": "stdio", "tests": tests}, False
    if kinds == {"functional"}:
        calls = [
            {
                "args": arguments(row, field, case["input"]),
                "expected": row.json_of(field, case["output"])
                if isinstance(case["output"], str)
                else case["output"],
            }
            for case in cases
        ]
        return {"mode": "call", "tests": calls}, True
    raise row.bad(field, f"mixes tests of the types {', '.join(sorted(map(str, kinds)))}")


def arguments(row: Row, field: str, given: Any) -> list[Any]:
    """Return the arguments of a call: a list of them, or text with one JSON value a line, or one value in all."""
    if isinstance(given, list):
        return given
    if isinstance(given, str):
        lines = [line for line in given.split("\n") if line.strip()]
        try:
            return [row.json_of(field, line) for line in lines]
        except SourceError:
            if len(lines) < 2:  # noqa: PLR2004 -- one line has been tried
                raise
            return [row.json_of(field, given)]
    raise row.bad(field, f"has arguments that are neither a list nor text: {given!r:.60}")


def asserted(setup: str, statements: Sequence[str]) -> dict[str, Any]:
    """Return the problem of assertions, each with ``setup`` before it."""
    head = f"{setup.rstrip()}\n" if setup.strip() else ""
    return {"mode": "assert", "tests": [{"code": f"{head}{statement}"} for statement in statements]}


def _listed(row: Row, field: str, data: Any, name: str) -> list[Any]:
    found = data.get(name) if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise row.bad(f"{field}.{name}", "must be a list")
    return found


def _text(row: Row, field: str, value: Any) -> str:
    """Return what is read or printed: text, a number, or a list of lines."""
    match value:
        case str():
            return value
        case bool():
            pass
        case list() if all(isinstance(line, str | int | float) for line in value):
            return "".join(f"{line}\n" for line in value)
        case int() | float():
            return str(value)
    raise row.bad(field, f"must hold texts or lists of lines, not {value!r:.40}")


def _result(given: Any, output: Any) -> Any:
    """Return a result as data: text beside arguments that are text is JSON, where it is that at all."""
    if not isinstance(output, str):
        return output
    # Beside arguments that are data already, text of digits is a text.
    if not isinstance(given, str) and not output.lstrip().startswith(_STRUCTURE_MARKS):
        return output
    try:
        return lenient(output.encode("utf-8", "surrogatepass"))
    except ValueError:
        return output
