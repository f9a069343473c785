"""The core: judges one submission against one problem. Knows no HTTP, no queue; blocks until it has the answer.

    extract the program if a completion came -> load it into a jail (CE) -> for each test: run -> facts ->
    if the run was clean, compare -> case result; stop early if asked -> judgement

Nothing that a program does makes this raise. What it cannot find out is IE with a null reward.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from comparators import Comparison, Rules, compare
from sandbox import (
    AssertInput,
    CallInput,
    LanguageUnavailableError,
    Limits,
    Program,
    RunInput,
    RunResult,
    Sandbox,
    SandboxBrokenError,
    SandboxError,
    Session,
    StdioInput,
)
from service import verdicts, wire
from service.checker import Checker, CheckerError
from service.extraction import extract
from service.limits import effective
from service.text import excerpt, head_and_tail, shortened, unix_lines
from service.wire import CaseResult, Judgement, Verdict


@dataclass(frozen=True, slots=True)
class Context:
    """What judging needs besides the submission: where to run, what holds by default, who answers."""

    sandbox: Sandbox
    defaults: wire.Limits
    worker: str | None = None


def evaluate(
    submission: wire.Submission,
    problem: wire.Problem,
    sandbox: Sandbox,
    *,
    defaults: wire.Limits,
    options: wire.Options | None = None,
    worker: str | None = None,
) -> Judgement:
    """Judge ``submission`` against ``problem``; ``options`` are used where the submission carries none."""
    started = time.perf_counter()
    chosen = submission.options or options or wire.Options()
    context = Context(sandbox, defaults, worker)
    outcome = _judge(submission, problem, context, chosen)
    verdict = outcome.verdict
    total_weight = sum(test.weight for test in problem.tests)
    passed_weight = sum(
        test.weight
        for test, case in zip(problem.tests, outcome.cases, strict=False)
        if case.verdict is Verdict.AC
    )
    failed = [case for case in outcome.cases if case.verdict not in (Verdict.AC, Verdict.SKIPPED)]
    passed = sum(case.verdict is Verdict.AC for case in outcome.cases)
    return Judgement(
        id=submission.id or uuid.uuid4().hex,
        verdict=verdict,
        reward=verdicts.reward(verdict),
        score=1.0 if verdict is Verdict.AC else passed_weight / total_weight,
        passed=passed,
        total=len(problem.tests),
        first_failed=failed[0].index if failed else None,
        message=outcome.message or _message(verdict, outcome.cases, len(problem.tests)),
        cases=_shown(outcome.cases, problem, chosen.detail),
        duration_s=time.perf_counter() - started,
        worker=worker,
        isolation=outcome.isolation,
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    verdict: Verdict
    cases: list[CaseResult]
    message: str = ""
    isolation: wire.Isolation | str = "strict"


def _judge(
    submission: wire.Submission, problem: wire.Problem, context: Context, options: wire.Options
) -> _Outcome:
    isolated = context.sandbox.describe()["isolation"] != "none"
    isolation = "strict" if isolated else "none"
    code = submission.code
    if submission.completion is not None:
        extraction = extract(
            submission.completion,
            language=submission.language,
            entry_point=problem.entry_point,
            mode=problem.mode,
            marks=context.sandbox.code_marks(submission.language),
        )
        if extraction.code is None:
            return _Outcome(Verdict.NC, [], f"no program in the completion: {extraction.reason}", isolation)
        code = extraction.code
    if code is not None and wire.NO_CHARACTER in code:
        return _Outcome(
            Verdict.CE, [], "the program is not valid Unicode: it has half a surrogate pair", isolation
        )
    run = _Run(problem, _program(code or "", submission.language, problem), context)
    try:
        with run:
            if run.compiled.broken_prelude:
                message = f"the problem's prelude is no good: {shortened(run.compiled.message)}"
                return _Outcome(Verdict.IE, [], message, isolation)
            if not run.compiled.ok:
                return _Outcome(Verdict.CE, [], shortened(run.compiled.message), isolation)
            cases = []
            for case in run.cases():
                cases.append(case)
                if options.stop_on_failure and case.verdict is not Verdict.AC:
                    break
    except LanguageUnavailableError as error:
        return _Outcome(Verdict.IE, [], str(error), isolation)
    except SandboxError as error:
        return _Outcome(Verdict.IE, [], f"the sandbox failed: {shortened(str(error))}", isolation)
    verdict = verdicts.of_submission(
        [case.verdict for case in cases], stopped_at_failure=options.stop_on_failure
    )
    return _Outcome(verdict, cases, isolation="shared" if run.shared and isolated else isolation)


def _program(code: str, language: str, problem: wire.Problem) -> Program:
    if isinstance(problem, wire.CallProblem):
        return Program(
            code,
            mode="call",
            language=language,
            entry_point=problem.entry_point,
            prelude=problem.prelude,
            arg_types=tuple(problem.arg_types or ()),
            return_type=problem.return_type,
            answer_from=problem.answer_from,
            operations=problem.operations,
        )
    return Program(
        code,
        mode=problem.mode,
        language=language,
        entry_point=problem.entry_point,
        prelude=problem.prelude or "",
    )


class _Run:
    """One program against the tests of one problem."""

    def __init__(self, problem: wire.Problem, program: Program, context: Context) -> None:
        self._problem = problem
        self._program = program
        self._context = context
        self._stack = ExitStack()
        self._checker: Checker | None = None
        self._session: Session
        self.shared = False

    def __enter__(self) -> Self:
        self._open()
        self.compiled = self._session.compiled
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()
        self._stack.close()

    def _open(self) -> None:
        self._session = self._context.sandbox.session(self._program, self._limits(None))

    def _limits(self, test: wire.Case | None) -> Limits:
        return effective(self._context.defaults, self._problem.limits, test.limits if test else None)

    def cases(self) -> Iterator[CaseResult]:
        """Run test after test."""
        for index, test in enumerate(self._problem.tests):
            try:
                yield self._case(index, test)
            except SandboxBrokenError:
                # A jail can die through no fault of the program's; a second time in a row is reported as ours.
                self._session.close()
                self._open()
                if not self._session.compiled.ok:
                    raise
                yield self._case(index, test)

    def _case(self, index: int, test: wire.Case) -> CaseResult:
        result = self._session.run(_given(test), self._limits(test))
        self.shared = self.shared or result.shared
        finding = verdicts.of_run(result, self._problem.mode)
        verdict, accepted_by, feedback = finding.verdict, None, finding.feedback
        if verdict is None:
            try:
                comparison = self._compare(test, result)
            except CheckerError as error:
                verdict, feedback = Verdict.IE, str(error)
            else:
                verdict = Verdict.AC if comparison.accepted else Verdict.WA
                accepted_by, feedback = comparison.step, comparison.feedback
        return CaseResult(
            index=index,
            id=test.id,
            verdict=verdict,
            accepted_by=accepted_by,
            cpu_time_s=round(result.cpu_time_s, 6),
            wall_time_s=round(result.wall_time_s, 6),
            memory_peak_bytes=result.memory_peak_bytes,
            limit=finding.limit,
            feedback=shortened(feedback) or None,
            stdout=excerpt(result.stdout, cut=result.stdout_cut),
            stderr=head_and_tail(result.stderr, cut=result.stderr_cut),
        )

    def _compare(self, test: wire.Case, result: RunResult) -> Comparison:
        chosen = self._problem.comparison
        if chosen.checker is not None:
            return self._ask_checker(chosen.checker, test, result)
        rules = Rules(
            kind="returned" if isinstance(test, wire.CallCase) else "printed",
            profile=chosen.profile,
            abs_tol=chosen.abs_tol if test.abs_tol is None else test.abs_tol,
            rel_tol=chosen.rel_tol if test.rel_tol is None else test.rel_tol,
            ignore_case=chosen.ignore_case,
            order=test.order or chosen.order,
        )
        if isinstance(test, wire.CallCase):
            return compare(test.expected, result.value, rules)
        expected = _stdio(test).expected
        if _far_longer(result.stdout, expected):
            return Comparison(accepted=False, step=None, feedback="far more was printed than is expected")
        return compare(expected, result.stdout, rules)

    def _ask_checker(self, checker: wire.Checker, test: wire.Case, result: RunResult) -> Comparison:
        if self._checker is None:
            self._checker = self._stack.enter_context(Checker(self._context.sandbox, checker.code))
        if isinstance(test, wire.CallCase):
            try:
                actual = _as_json(result.value)
            except (TypeError, ValueError, RecursionError) as error:
                return Comparison(accepted=False, step=None, feedback=f"no JSON text of the result: {error}")
            texts = (_as_json([test.args, test.kwargs]), _as_json(test.expected), actual)
        else:
            texts = (
                unix_lines(_stdio(test).input),
                _stdio(test).expected,
                result.stdout.decode("utf-8", "replace"),
            )
        opinion = self._checker.check(*texts)
        return Comparison(opinion.accepted, "checker" if opinion.accepted else None, opinion.message)


def _stdio(test: wire.Case) -> wire.StdioCase:
    if not isinstance(test, wire.StdioCase):
        raise TypeError(f"{type(test).__name__} has no text to compare")
    return test


def _far_longer(actual: bytes, expected: str) -> bool:
    """Whether an output, blanks left out, is so long that no spelling of the answer is: reading it would be dear."""
    bound_bytes = (256 << 10) + 16 * len(expected)
    return len(actual) > bound_bytes and len(actual.translate(None, b" \t\r\n\f\v")) > bound_bytes


def _as_json(value: object) -> str:
    return json.dumps(value, default=repr)


def _given(test: wire.Case) -> RunInput:
    if isinstance(test, wire.StdioCase):
        return StdioInput(unix_lines(test.input).encode("utf-8", "replace"))
    if isinstance(test, wire.CallCase):
        return CallInput(tuple(test.args), dict(test.kwargs))
    if isinstance(test, wire.AssertCase):
        return AssertInput(test.code)
    raise TypeError(f"no such kind of test: {type(test).__name__}")


def _message(verdict: Verdict, cases: list[CaseResult], total: int) -> str:
    if verdict is Verdict.AC:
        return f"all {total} tests passed" if total > 1 else "the test passed"
    case = next(case for case in cases if case.verdict is verdict)
    return f"test {case.index}: {case.feedback or verdict}"


def _shown(cases: list[CaseResult], problem: wire.Problem, detail: wire.Detail) -> list[CaseResult]:
    if detail == "none":
        return []
    if detail == "summary":
        return [case for case in cases if case.verdict is not Verdict.AC][:1]
    skipped = [
        CaseResult(index=index, id=problem.tests[index].id, verdict=Verdict.SKIPPED)
        for index in range(len(cases), len(problem.tests))
    ]
    return [*cases, *skipped]
