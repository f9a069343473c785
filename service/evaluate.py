"""The core: judges one submission against one problem. Knows no HTTP, no queue; blocks until it has the answer.

    extract the program if a completion came -> load it into a jail (CE) -> for each test: run -> facts ->
    if the run was clean, compare -> case result; stop early if asked -> judgement

Nothing that a program does makes this raise. What it cannot find out is IE with a null reward.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from sandbox import LanguageUnavailableError, Program, Sandbox, SandboxError
from service import verdicts, wire
from service.cores import Cores
from service.extraction import extract
from service.runs import CarriesStateError, Comparing, Context, Ran, Run, compared
from service.text import shortened
from service.wire import CaseResult, Judgement, Verdict


def evaluate(  # noqa: PLR0913 - what an answer depends on, each by its name
    submission: wire.Submission,
    problem: wire.Problem,
    sandbox: Sandbox,
    *,
    defaults: wire.Limits,
    options: wire.Options | None = None,
    worker: str | None = None,
    order: Sequence[int] | None = None,
    cores: Cores | None = None,
    comparing: Comparing = compared,
) -> Judgement:
    """Judge ``submission`` against ``problem``; ``options`` are used where the submission carries none.

    ``order`` are the indexes of the tests in the order in which they are tried where the first failure ends it;
    None means the problem's own. ``cores`` lets slow tests run side by side on those that are idle. ``comparing``
    decides on each output that no checker decides on; the audit looks in here.
    """
    started = time.perf_counter()
    chosen = submission.options or options or wire.Options()
    context = Context(sandbox, defaults, worker, cores, comparing)
    if order is None or not chosen.stop_on_failure:
        order = range(len(problem.tests))
    outcome = _judge(submission, problem, context, chosen, order)
    verdict, ran = outcome.verdict, outcome.ran
    failed = [one for one in ran if not one.passed]
    passed_weight = sum(one.test.weight for one in ran if one.passed)
    return Judgement(
        id=submission.id or uuid.uuid4().hex,
        verdict=verdict,
        reward=verdicts.reward(verdict),
        score=1.0 if verdict is Verdict.AC else passed_weight / sum(test.weight for test in problem.tests),
        passed=len(ran) - len(failed),
        total=len(problem.tests),
        first_failed=failed[0].index if failed else None,
        message=outcome.message or _message(verdict, failed, len(problem.tests)),
        cases=_shown(ran, problem, chosen.detail),
        duration_s=time.perf_counter() - started,
        worker=worker,
        isolation=outcome.isolation,
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    verdict: Verdict
    message: str
    isolation: str
    ran: list[Ran] = field(default_factory=list)


def _judge(
    submission: wire.Submission,
    problem: wire.Problem,
    context: Context,
    options: wire.Options,
    order: Sequence[int],
) -> _Outcome:
    isolation = _without_run(context, options)
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
            return _Outcome(Verdict.NC, f"no program in the completion: {extraction.reason}", isolation)
        code = extraction.code
    if code is not None and wire.NO_CHARACTER in code:
        message = "the program is not valid Unicode: it has half a surrogate pair"
        return _Outcome(Verdict.CE, message, isolation)
    program = _program(code or "", submission.language, problem)
    try:
        return _run(problem, program, context, options, order)
    except CarriesStateError:
        return _run(problem, program, context, options.model_copy(update={"isolation": "strict"}), order)


def _run(
    problem: wire.Problem,
    program: Program,
    context: Context,
    options: wire.Options,
    order: Sequence[int],
) -> _Outcome:
    """Run tests and say what they come to. Raises CarriesStateError."""
    isolation = _without_run(context, options)
    ran: list[Ran] = []
    try:
        with Run(problem, program, context, options.isolation) as run:
            isolation = "none" if isolation == "none" else run.isolation
            if run.compiled.broken_prelude:
                message = f"the problem's prelude is no good: {shortened(run.compiled.message)}"
                return _Outcome(Verdict.IE, message, isolation)
            if not run.compiled.ok:
                return _Outcome(Verdict.CE, shortened(run.compiled.message), isolation)
            with closing(run.tests(order)) as tests:
                for one in tests:
                    ran.append(one)
                    if options.stop_on_failure and not one.passed:
                        break
            isolation = "none" if isolation == "none" else run.isolation  # known only when all have run
    except LanguageUnavailableError as error:
        return _Outcome(Verdict.IE, str(error), isolation)
    except SandboxError as error:
        return _Outcome(Verdict.IE, f"the sandbox failed: {shortened(str(error))}", isolation)
    ran.sort(key=lambda one: one.index)
    verdict = verdicts.of_submission([one.verdict for one in ran], stopped_at_failure=options.stop_on_failure)
    return _Outcome(verdict, "", isolation, ran)


def _without_run(context: Context, options: wire.Options) -> str:
    """Return the isolation of a submission of which nothing is run."""
    sandbox = context.sandbox.describe()
    if sandbox["isolation"] == "none":
        return "none"
    return options.isolation if sandbox["warm"] else "strict"


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


def _message(verdict: Verdict, failed: list[Ran], total: int) -> str:
    if verdict is Verdict.AC:
        return f"all {total} tests passed" if total > 1 else "the test passed"
    named = next(one for one in failed if one.verdict is verdict)
    return f"test {named.index}: {shortened(named.feedback) or verdict}"


def _shown(ran: list[Ran], problem: wire.Problem, detail: wire.Detail) -> list[CaseResult]:
    if detail == "none":
        return []
    if detail == "summary":
        return [one.case() for one in ran if not one.passed][:1]
    cases = {one.index: one.case() for one in ran}
    return [
        cases.get(index) or CaseResult(index=index, id=test.id, verdict=Verdict.SKIPPED)
        for index, test in enumerate(problem.tests)
    ]
