"""Tests at which a problem's submissions failed most are tried first; the answer keeps the problem's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from service import wire
from service.evaluate import evaluate
from service.failing_first import FailureCounts
from service.wire import Verdict

if TYPE_CHECKING:
    from sandbox import Sandbox

PROBLEM: TypeAdapter[wire.Problem] = TypeAdapter(wire.Problem)
DEFAULTS = wire.Limits(cpu_time_s=4.0, wall_time_s=20.0, memory_bytes=512 << 20, output_bytes=1 << 20)


def test_the_order_follows_the_failures() -> None:
    counts = FailureCounts()
    assert list(counts.order("a", 4)) == [0, 1, 2, 3]
    for failed in (2, 3, 3, None):
        counts.note("a", failed)
    assert list(counts.order("a", 4)) == [3, 2, 0, 1]
    assert list(counts.order("b", 2)) == [0, 1]


def test_counts_of_problems_long_unused_are_forgotten() -> None:
    counts = FailureCounts(max_problems=2)
    for problem in ("a", "b", "c"):
        counts.note(problem, 1)
    assert [list(counts.order(problem, 2)) for problem in ("a", "b", "c")] == [[0, 1], [1, 0], [1, 0]]


def _judged(sandbox: Sandbox, code: str, order: list[int], *, stop: bool = True) -> wire.Judgement:
    tests = [{"input": f"{n}\n", "expected": f"{n}\n"} for n in range(4)]
    problem = PROBLEM.validate_python({"mode": "stdio", "tests": tests})
    options = {"detail": "full", "stop_on_failure": stop}
    submission = wire.Submission.model_validate({"code": code, "problem": problem, "options": options})
    return evaluate(submission, problem, sandbox, defaults=DEFAULTS, order=order)


def test_the_first_that_is_tried_may_end_it(sandbox: Sandbox) -> None:
    judgement = _judged(sandbox, "n = int(input())\nprint(n if n < 2 else 'x')", [3, 0, 1, 2])
    assert (judgement.verdict, judgement.first_failed, judgement.passed) == (Verdict.WA, 3, 0)
    assert [case.verdict for case in judgement.cases] == [Verdict.SKIPPED] * 3 + [Verdict.WA]


def test_a_right_program_passes_in_any_order(sandbox: Sandbox) -> None:
    judgement = _judged(sandbox, "print(input())", [3, 1, 0, 2])
    assert (judgement.verdict, judgement.passed, judgement.first_failed) == (Verdict.AC, 4, None)
    assert [case.index for case in judgement.cases] == [0, 1, 2, 3]


def test_where_all_tests_run_the_order_is_the_problems(sandbox: Sandbox) -> None:
    judgement = _judged(sandbox, "n = int(input())\nprint(n if n < 2 else 'x')", [3, 0, 1, 2], stop=False)
    assert (judgement.first_failed, judgement.passed) == (2, 2)
