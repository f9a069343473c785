"""The formats of rows, each told by the fields that only it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from service.audit.items import Truth
from service.audit.sources.problems import (
    Program,
    RowProblem,
    asserted,
    tests_of_cases,
    tests_of_lists,
)
from service.audit.sources.rows import Row
from service.plain_pickle import NotPlainError, unpacked

RIGHT = Truth.of(accept=True)


def livecodebench(row: Row) -> RowProblem:
    """Read a LiveCodeBench row: public and hidden tests; ``code_list`` and ``graded_list`` where it was evaluated."""
    cases = row.listed("public_test_cases") + _private(row)
    fields, is_call = tests_of_cases(row, "private_test_cases", cases)
    function = None
    if is_call:
        metadata = row.decoded("metadata")
        function = metadata.get("func_name") if isinstance(metadata, dict) else None
        if not isinstance(function, str):
            raise row.bad("metadata.func_name", "is missing")
    codes, grades = row.texts("code_list"), row.listed("graded_list")
    if len(codes) != len(grades):
        raise row.bad("graded_list", f"has {len(grades)} entries for {len(codes)} in code_list")
    programs = [
        Program(f"code_list[{index}]", code, None, Truth.of(accept=bool(graded)))
        for index, (code, graded) in enumerate(zip(codes, grades, strict=True))
    ]
    name = row.first("question_id", "id", "question_title") or str(row.index)
    return RowProblem(name, fields, programs, function)


def _private(row: Row) -> list[Any]:
    raw = row.get("private_test_cases", "[]")
    if isinstance(raw, str) and not raw.lstrip().startswith("["):
        try:
            text = unpacked(raw)
        except NotPlainError as error:
            raise row.bad("private_test_cases", str(error)) from error
        raw = text if isinstance(text, str) else [row.json_of("private_test_cases", str(one)) for one in text]
    cases = row.json_of("private_test_cases", raw) if isinstance(raw, str) else raw
    if not isinstance(cases, list):
        raise row.bad("private_test_cases", "must be a list of tests")
    return cases


def apps(row: Row) -> RowProblem:
    """Read a row of APPS or TACO: ``input_output``, and ``solutions`` that are right."""
    fields, function = tests_of_lists(row, "input_output", row.decoded("input_output"))
    programs = [
        Program(f"solutions[{index}]", code, None, RIGHT) for index, code in enumerate(row.texts("solutions"))
    ]
    name = row.first("problem_id", "id", "url", "name") or str(row.index)
    return RowProblem(name, fields, programs, function)


def humaneval(row: Row) -> RowProblem:
    """Read a HumanEval row: ``test`` defines ``check``; the canonical solution continues the prompt."""
    entry_point = row.text("entry_point")
    fields = asserted(row.text("test"), [f"check({entry_point})"])
    programs = []
    if "canonical_solution" in row:
        code = row.text("prompt") + row.text("canonical_solution")
        programs.append(Program("canonical_solution", code, None, RIGHT))
    return RowProblem(row.first("task_id") or str(row.index), fields, programs)


def mbpp(row: Row) -> RowProblem:
    """Read an MBPP row: assertions after a set-up, and the ``code`` that is right."""
    statements = row.texts("test_list") + row.texts("challenge_test_list")
    setup = (
        row.text("test_setup_code") if row.get("test_setup_code") else "\n".join(row.texts("test_imports"))
    )
    programs = [Program("code", row.text("code"), None, RIGHT)] if "code" in row else []
    name = row.first("task_id", "id") or str(row.index)
    return RowProblem(name, asserted(setup, statements), programs)


def verl(row: Row) -> RowProblem:
    """Read a row of verl's: ``reward_model.ground_truth`` holds the tests; programs come from another file."""
    model = row.decoded("reward_model")
    truth = model.get("ground_truth") if isinstance(model, dict) else None
    extra = row.get("extra_info", {})
    extra = extra if isinstance(extra, dict) else {}
    name = extra.get("index", extra.get("id", row.index))
    return of_ground_truth(row, "reward_model.ground_truth", truth, str(name))


def of_ground_truth(row: Row, field: str, truth: Any, name: str) -> RowProblem:
    """Read the tests that verl and its kin pass to a reward function."""
    data = row.json_of(field, truth) if isinstance(truth, str) else truth
    if isinstance(data, dict) and "tests" in data:
        data = data["tests"]
    if isinstance(data, dict):
        fields, function = tests_of_lists(row, field, data)
        return RowProblem(name, fields, function=function)
    fields, is_call = tests_of_cases(row, field, data)
    function = None
    if is_call:
        metadata = data[0].get("metadata") or {}
        function = metadata.get("func_name") if isinstance(metadata, dict) else None
        if not isinstance(function, str):
            raise row.bad(field, "names no function: metadata.func_name is missing")
    return RowProblem(name, fields, function=function)


# Format -> (fields that tell it, how to read a row).
ROW_FORMATS: Mapping[str, tuple[tuple[str, ...], Callable[[Row], RowProblem]]] = MappingProxyType(
    {
        "livecodebench": (("private_test_cases",), livecodebench),
        "apps": (("input_output",), apps),
        "humaneval": (("test", "entry_point"), humaneval),
        "mbpp": (("test_list",), mbpp),
        "verl": (("reward_model",), verl),
    }
)
