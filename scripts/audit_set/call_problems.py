"""Problems of the mode ``call``: a function, its arguments, and the programs that come of every way to return."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.audit_set import functions, returned
from scripts.audit_set.model import Built, source_of


@dataclass(frozen=True, slots=True)
class Task:
    """``kind`` names how results are returned; ``faulty`` ones are wrong on at least one of ``calls``."""

    name: str
    kind: str
    function: Callable[..., Any]
    calls: Sequence[tuple[Any, ...]]
    faulty: Sequence[Callable[..., Any]] = ()
    in_class: bool = False
    comparison: dict[str, Any] | None = None
    source: str = ""


TASKS = (
    Task(
        "add",
        "int",
        functions.add,
        [(1, 2), (-5, 5), (10**12, 1)],
        [functions.subtract],
        source="returned integers",
    ),
    Task(
        "triangle",
        "int",
        functions.triangle,
        [(4,), (100,)],
        [functions.triangle_short],
        True,
        source="returned integers",
    ),
    Task(
        "largest-product",
        "int",
        functions.largest_product,
        [([3, 1, 7],), ([5, 5],)],
        in_class=True,
        source="returned integers",
    ),
    Task(
        "power-of-three",
        "int",
        functions.big,
        [(2,), (34,), (50,)],
        [functions.big_by_float],
        source="returned integers",
    ),
    Task(
        "two-sum",
        "list",
        functions.two_sum,
        [([2, 7, 11], 9), ([1, 5, 3], 8)],
        [functions.two_numbers],
        True,
        source="returned lists",
    ),
    Task(
        "doubled",
        "list",
        functions.doubled,
        [([1, 2, 2],), ([],), ([5],)],
        [functions.squared],
        source="returned lists",
    ),
    Task(
        "longer-words",
        "list",
        functions.with_duplicates,
        [(["ab", "c", "ab"],), (["xyz", "no"],)],
        source="returned lists",
    ),
    Task("negatives", "list", functions.nothing, [([1, -2, -2],), ([1],)], source="returned lists"),
    Task(
        "transposed",
        "matrix",
        functions.transposed,
        [([[1, 2], [3, 4]],), ([[1, 2, 3]],)],
        [functions.turned],
        True,
        source="returned matrices",
    ),
    Task(
        "intervals",
        "matrix",
        functions.intervals,
        [([1, 2, 5],), ([3, 9, 4, 8],)],
        source="returned matrices",
    ),
    Task(
        "average",
        "float",
        functions.average,
        [([1.0, 2.0],), ([0.1, 0.2, 0.35],)],
        [functions.middle],
        source="returned reals",
    ),
    Task("ninths", "floats", functions.ninths, [(3,), (5,)], [functions.tenths], source="returned reals"),
    Task(
        "tenths", "floats", functions.tenths, [(4,), (7,)], [functions.ninths], True, source="returned reals"
    ),
    Task(
        "slug",
        "string",
        functions.slug,
        [("Hello World",), ("A b C",)],
        [functions.slug_with_case],
        source="returned strings",
    ),
    Task(
        "initials",
        "string",
        functions.initials,
        [("ada lovelace",), ("Alan Mathison Turing",)],
        source="returned strings",
    ),
    Task(
        "padded", "string", functions.padded, [(7,), (42,)], [functions.unpadded], source="returned strings"
    ),
    Task(
        "word-counts",
        "dict",
        functions.counted,
        [(["a", "b", "a"],), (["x", "yy"],)],
        [functions.lengths],
        source="returned dictionaries",
    ),
    Task("groups", "dict", functions.grouped, [([1, 2, 3, 4],), ([6, 9],)], source="returned dictionaries"),
    Task(
        "profile",
        "dict",
        functions.profile,
        [("ada", [1.0, 2.5]), ("bob", [0.1, 0.2])],
        source="returned dictionaries",
    ),
    Task(
        "is-sorted",
        "bool",
        functions.is_sorted,
        [([1, 2, 3],), ([1, 3, 2],), ([1, 4, 2, 5],)],
        [functions.ends_rise],
        source="returned truth values",
    ),
    Task("find", "optional", functions.find, [([5, 6], 6), ([5, 6], 7)], source="returned nothing"),
    Task(
        "subsets",
        "any order",
        functions.subsets,
        [([1, 2],), ([3, 4, 5],)],
        [functions.subsets_of_two],
        True,
        {"order": "lines"},
        "returned in any order",
    ),
    Task(
        "common",
        "any order",
        functions.common,
        [([1, 2, 2, 3], [2, 2, 3, 4]), ([7, 8], [8, 7])],
        comparison={"order": "elements"},
        source="returned in any order",
    ),
    Task(
        "parity",
        "int",
        functions.parity,
        [(4,), (7,), (0,)],
        [functions.remainder],
        source="returned integers",
    ),
)


def build() -> Iterator[Built]:
    """Build all problems."""
    for number, task in enumerate(TASKS):
        yield _built(task, number)


def _built(task: Task, number: int) -> Built:
    # JSON is what a judge has: keys are text there.
    answers = [task.function(*arguments) for arguments in task.calls]
    tests = [
        {"args": list(arguments), "expected": json.loads(json.dumps(answer))}
        for arguments, answer in zip(task.calls, answers, strict=True)
    ]
    entry_point = f"Solution.{_camel(task.name)}" if task.in_class else _snake(task.name)
    problem: dict[str, Any] = {
        "mode": "call",
        "entry_point": entry_point,
        "tests": tests,
        "limits": {"cpu_time_s": 2.0},
    }
    if task.comparison:
        problem["comparison"] = task.comparison
    built = Built(f"return/{task.name}", task.source, problem)
    common = [way for index, way in enumerate(returned.COMMON) if not index or (index + number) % 3 == 0]
    for way in (*common, *returned.PRESENTATIONS[task.kind]):
        if way.applies(answers):
            built.add(way.name, _program(task.function, way.code, entry_point), *way.verdicts)
    for faulty in task.faulty:
        if [faulty(*arguments) for arguments in task.calls] == answers:
            raise ValueError(f"{task.name}: {faulty.__name__} is right on all arguments")
        built.add(f"faulty_{faulty.__name__}", _program(faulty, "return answer", entry_point), "WA")
    built.add("misnamed", _program(task.function, "return answer", "solution_of_another_name"), "RE")
    return built


def _program(function: Callable[..., Any], code: str, entry_point: str) -> str:
    """Return a program whose entry point gives the answer in one way."""
    owner, _, name = entry_point.rpartition(".")
    receiver = "self, " if owner else ""
    body = textwrap.indent(f"answer = _solve(*arguments)\n{code}", "    ")
    entry = f"def {name}({receiver}*arguments):\n{body}\n"
    if owner:
        entry = f"class {owner}:\n{textwrap.indent(entry, '    ')}"
    return f"from typing import Any\n\n\n{source_of(function, '_solve')}\n\n{entry}"


def _snake(name: str) -> str:
    return name.replace("-", "_")


def _camel(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(word.capitalize() for word in rest)
