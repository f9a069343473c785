"""The formats of rows: which programs they hold, and their truth. Tests are read by :mod:`service.datasets`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from service.audit.items import Truth
from service.audit.sources.problems import Program, RowProblem
from service.audit.sources.rows import Row, SourceError
from service.datasets.forms import READERS
from service.datasets.values import RowError
from service.datasets.verl import problem_of_ground_truth
from service.wire import Problem

RIGHT = Truth.of(accept=True)
WRONG = Truth.of(accept=False)
# How CodeContests tells the language of a solution: by number, or by its name.
PYTHON_3 = (3, "PYTHON3")
OF_EXTRA_INFO = ("index", "id")
CONTEST_FIELDS = ("language", "solution")

type Programs = tuple[list[Program], str | None]


@dataclass(frozen=True, slots=True)
class RowFormat:
    """``names`` are the fields that may hold a row's name; ``programs`` reads what it holds besides tests."""

    names: tuple[str, ...]
    programs: Callable[[Row], Programs]


def row_problem(row: Row, form: str) -> RowProblem:
    """Read a row of a format of :data:`ROW_FORMATS`. Raises SourceError."""
    known = ROW_FORMATS[form]
    try:
        problem = READERS[form](row.fields)
    except RowError as error:
        raise SourceError(f"{row.where}: {error}") from error
    programs, left = known.programs(row)
    return RowProblem(_name(row, known.names), problem, programs, left)


def ground_truth(row: Row, field: str) -> Problem:
    """Read the tests that verl and its kin pass to a reward function. Raises SourceError."""
    try:
        return problem_of_ground_truth(row.get(field))
    except RowError as error:
        raise SourceError(f"{row.where}: {field}: {error}") from error


def _name(row: Row, names: tuple[str, ...]) -> str:
    own = row.first(*names)
    if own:
        return own
    extra = row.get("extra_info")
    extra = extra if isinstance(extra, dict) else {}
    return str(next((extra[name] for name in OF_EXTRA_INFO if extra.get(name) is not None), row.index))


def _graded(row: Row) -> Programs:
    codes, grades = row.texts("code_list"), row.listed("graded_list")
    if len(codes) != len(grades):
        raise row.bad("graded_list", f"has {len(grades)} entries for {len(codes)} in code_list")
    return [
        Program(f"code_list[{index}]", code, None, Truth.of(accept=bool(graded)))
        for index, (code, graded) in enumerate(zip(codes, grades, strict=True))
    ], None


def _solutions(row: Row) -> Programs:
    return [
        Program(f"solutions[{index}]", code, None, RIGHT) for index, code in enumerate(row.texts("solutions"))
    ], None


def _contest_solutions(row: Row) -> Programs:
    found: list[Program] = []
    others = 0
    for field, truth in (("solutions", RIGHT), ("incorrect_solutions", WRONG)):
        held = row.get(field, {})
        languages, codes = (held.get(name, []) if isinstance(held, dict) else None for name in CONTEST_FIELDS)
        if not isinstance(languages, list) or not isinstance(codes, list) or len(languages) != len(codes):
            raise row.bad(field, "must have `language` and `solution`, lists of one length")
        for index, (language, code) in enumerate(zip(languages, codes, strict=True)):
            if not isinstance(code, str):
                raise row.bad(f"{field}.solution[{index}]", "must be text")
            if language in PYTHON_3:
                found.append(Program(f"{field}[{index}]", code, None, truth))
            else:
                others += 1
    return found, f"{others} of its programs are in other languages than Python 3" if others else None


def _canonical(row: Row) -> Programs:
    if "canonical_solution" not in row:
        # LeetCodeDataset has its tests in this form as well; elsewhere a completion is anybody's.
        return _field("completion")(row) if "starter_code" in row else ([], None)
    code = row.text("prompt") + row.text("canonical_solution")
    return [Program("canonical_solution", code, None, RIGHT)], None


def _field(name: str) -> Callable[[Row], Programs]:
    def programs(row: Row) -> Programs:
        return [Program(name, row.text(name), None, RIGHT)] if name in row else [], None

    return programs


def _none(_row: Row) -> Programs:
    return [], None


ROW_FORMATS: Mapping[str, RowFormat] = MappingProxyType(
    {
        "livecodebench": RowFormat(("question_id", "id", "question_title"), _graded),
        "apps": RowFormat(("problem_id", "id", "url", "name"), _solutions),
        "codecontests": RowFormat(("name", "id"), _contest_solutions),
        "humaneval": RowFormat(("task_id",), _canonical),
        "mbpp": RowFormat(("task_id", "id"), _field("code")),
        "leetcode": RowFormat(("task_id", "question_id", "id"), _field("completion")),
        "verl": RowFormat((), _none),
        "test_lists": RowFormat(("problem_id", "task_id", "id"), _none),
    }
)
