"""One program against the tests of one problem: runs, compares, doubts, and stops when it may.

A failure is doubted, and run once more in a fresh process, where chance or our own way of running may have caused
it: a process that had run other tests before, or a time limit exceeded by little, or while waiting for a core.
The second run counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from comparators import Comparison, Rules, compare
from sandbox import (
    AssertInput,
    CallInput,
    End,
    Limits,
    Program,
    RunInput,
    RunResult,
    Sandbox,
    SandboxBrokenError,
    Session,
    StdioInput,
)
from service import verdicts, wire
from service.checker import Checker, CheckerError
from service.limits import effective
from service.text import excerpt, head_and_tail, shortened, unix_lines
from service.wire import CaseResult, Verdict

# A program may go on for this much of its CPU time limit, so that one which is over by little is known from one
# that is not: a loaded machine makes the same work cost some percent more.
GRACE = 1.1
# Waiting this long for a core, as a share of the CPU time limit, makes a time limit doubtful.
LOADED = 0.25


# Given the test, its expected answer, what the program gave, and the rules that hold for it.
Comparing = Callable[[wire.Case, Any, Any, Rules], Comparison]


def compared(_test: wire.Case, expected: Any, actual: Any, rules: Rules) -> Comparison:
    """Compare by the problem's own rules."""
    return compare(expected, actual, rules)


def rules_of(test: wire.Case, chosen: wire.ComparisonOptions) -> Rules:
    """Return the rules of one test: its own, else its problem's."""
    return Rules(
        kind="returned" if isinstance(test, wire.CallCase) else "printed",
        profile=chosen.profile,
        abs_tol=chosen.abs_tol if test.abs_tol is None else test.abs_tol,
        rel_tol=chosen.rel_tol if test.rel_tol is None else test.rel_tol,
        ignore_case=chosen.ignore_case,
        order=test.order or chosen.order,
    )


@dataclass(frozen=True, slots=True)
class Context:
    """What judging needs besides the submission: where to run, what holds by default, who answers."""

    sandbox: Sandbox
    defaults: wire.Limits
    worker: str | None = None
    comparing: Comparing = compared


@dataclass(frozen=True, slots=True)
class Ran:
    """One test that was run: its facts and what they amount to. ``case`` is the whole of it in the contract's words."""

    index: int
    test: wire.Case
    result: RunResult
    verdict: Verdict
    accepted_by: str | None = None
    feedback: str = ""
    limit: Literal["cpu", "wall"] | None = None

    @property
    def passed(self) -> bool:
        """Whether the program was right."""
        return self.verdict is Verdict.AC

    def case(self) -> CaseResult:
        """Return what the judgement says of this test."""
        result = self.result
        return CaseResult(
            index=self.index,
            id=self.test.id,
            verdict=self.verdict,
            accepted_by=self.accepted_by,
            cpu_time_s=round(result.cpu_time_s, 6),
            wall_time_s=round(result.wall_time_s, 6),
            memory_peak_bytes=result.memory_peak_bytes,
            limit=self.limit,
            feedback=shortened(self.feedback) or None,
            stdout=excerpt(result.stdout, cut=result.stdout_cut),
            stderr=head_and_tail(result.stderr, cut=result.stderr_cut),
        )


class Run:
    """A program in a session of its own. Use as a context manager."""

    def __init__(
        self, problem: wire.Problem, program: Program, context: Context, isolation: wire.Isolation
    ) -> None:
        self._problem = problem
        self._program = program
        self._context = context
        self._isolation = isolation
        self._stack = ExitStack()
        self._checker: Checker | None = None
        self._limits = effective(context.defaults, problem.limits)
        self._with_grace = _with_grace(self._limits)
        self._session: Session
        self.shared = False

    def __enter__(self) -> Self:
        self._open()
        self.compiled = self._session.compiled
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()
        self._stack.close()

    @property
    def isolation(self) -> str:
        """How the tests are kept from each other."""
        return "shared" if self.shared else self._session.isolation

    def _open(self) -> None:
        self._session = self._context.sandbox.session(
            self._program, self._with_grace, isolation=self._isolation
        )

    def tests(self, order: Sequence[int]) -> Iterator[Ran]:
        """Run the tests of these indexes, one after the other. Raises SandboxBrokenError."""
        for index in order:
            test = self._problem.tests[index]
            try:
                yield self._test(index, test)
            except SandboxBrokenError:
                # A jail can die through no fault of the program's; a second time in a row is reported as ours.
                self._session.close()
                self._open()
                if not self._session.compiled.ok:
                    raise
                yield self._test(index, test)

    def _test(self, index: int, test: wire.Case) -> Ran:
        limits = self._limits
        if test.limits is not None:
            limits = effective(self._context.defaults, self._problem.limits, test.limits)
        ran = self._once(index, test, limits, fresh=False)
        if ran.result.reused and not ran.passed:
            ran = self._once(index, test, limits, fresh=True)
        if ran.limit is not None and _doubtful(ran, limits):
            ran = self._once(index, test, limits, fresh=True)
        return ran

    def _once(self, index: int, test: wire.Case, limits: Limits, *, fresh: bool) -> Ran:
        given = self._with_grace if limits is self._limits else _with_grace(limits)
        result = self._session.run(_given(test), given, fresh=fresh)
        self.shared = self.shared or result.shared
        finding = verdicts.of_run(result, self._problem.mode, limits)
        if finding.verdict is not None:
            return Ran(index, test, result, finding.verdict, None, finding.feedback, finding.limit)
        try:
            comparison = self._compare(test, result)
        except CheckerError as error:
            return Ran(index, test, result, Verdict.IE, feedback=str(error))
        verdict = Verdict.AC if comparison.accepted else Verdict.WA
        return Ran(index, test, result, verdict, comparison.step, comparison.feedback)

    def _compare(self, test: wire.Case, result: RunResult) -> Comparison:
        chosen = self._problem.comparison
        if chosen.checker is not None:
            return self._ask_checker(chosen.checker, test, result)
        rules = rules_of(test, chosen)
        if isinstance(test, wire.CallCase):
            return self._context.comparing(test, test.expected, result.value, rules)
        expected = _stdio(test).expected
        if _far_longer(result.stdout, expected):
            return Comparison(accepted=False, step=None, feedback="far more was printed than is expected")
        return self._context.comparing(test, expected, result.stdout, rules)

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


def _with_grace(limits: Limits) -> Limits:
    return replace(limits, cpu_time_s=GRACE * limits.cpu_time_s)


def _doubtful(ran: Ran, limits: Limits) -> bool:
    """Whether a time limit may have been exceeded for want of quiet: by little, or on a loaded machine."""
    by_little = ran.limit == "cpu" and ran.result.end is not End.CPU_LIMIT
    return by_little or ran.result.waiting_s > LOADED * limits.cpu_time_s


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
