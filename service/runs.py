"""One program against the tests of one problem: runs, compares, doubts, and stops when it may.

A failure is doubted, and run once more in a fresh process, where chance or our own way of running may have caused
it: a process that had run other tests before, or a time limit exceeded by little, or while waiting for a core.
The second run counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from queue import SimpleQueue
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
from service.cores import Cores
from service.limits import effective
from service.text import excerpt, head_and_tail, shortened, unix_lines
from service.wire import CaseResult, Verdict

# A program may go on for this much of its CPU time limit, so that one which is over by little is known from one
# that is not: a loaded machine makes the same work cost some percent more.
GRACE = 1.1
# A test that takes longer is worth starting further sessions for those that are left.
WORTH_A_CORE_S = 0.05
MOST_SIDE_BY_SIDE = 4


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
    cores: Cores | None = None
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


class CarriesStateError(Exception):
    """A test failed in a process that had run others and passed in a fresh one: chance, or state that was carried over.

    A second try for each test would be worth something to both. So nothing of this counts: all tests have to be run
    again, each in a fresh process.
    """


class _Lane:
    """A program in a session of its own, with a checker of its own where the problem has one."""

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
        self._cancelled = False
        self.shared = False
        try:
            self.session = self._open()
        except SandboxBrokenError:
            self.session = self._open()  # as in ``test``: once may be chance

    def close(self) -> None:
        """End everything that belongs to it."""
        self.session.close()
        self._stack.close()

    def cancel(self) -> None:
        """Have the test that runs end at once; what it comes to is of no interest any more."""
        self._cancelled = True
        self.session.cancel()

    def _open(self) -> Session:
        return self._context.sandbox.session(self._program, self._with_grace, isolation=self._isolation)

    def test(self, index: int) -> Ran:
        """Run one test, by its index in the problem. Raises SandboxBrokenError."""
        test = self._problem.tests[index]
        try:
            return self._doubted(index, test)
        except SandboxBrokenError:
            # A jail can die through no fault of the program's; a second time in a row is reported as ours.
            self.session.close()
            self.session = self._open()
            if not self.session.compiled.ok:
                raise
            return self._doubted(index, test)

    def _doubted(self, index: int, test: wire.Case) -> Ran:
        limits = self._limits
        if test.limits is not None:
            limits = effective(self._context.defaults, self._problem.limits, test.limits)
        ran = self._once(index, test, limits, fresh=False)
        if ran.result.reused and not ran.passed and not self._cancelled:
            ran = self._once(index, test, limits, fresh=True)
            if ran.passed:
                raise CarriesStateError
        if ran.limit is not None and _doubtful(ran, limits) and not self._cancelled:
            ran = self._once(index, test, limits, fresh=True)
        return ran

    def _once(self, index: int, test: wire.Case, limits: Limits, *, fresh: bool) -> Ran:
        given = self._with_grace if limits is self._limits else _with_grace(limits)
        result = self.session.run(_given(test), given, fresh=fresh)
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


class Run:
    """A program against the tests of one problem. Use as a context manager."""

    def __init__(
        self, problem: wire.Problem, program: Program, context: Context, isolation: wire.Isolation
    ) -> None:
        self._given = (problem, program, context, isolation)
        self._context = context
        self._may_borrow = (
            context.cores is not None and program.language == "python" and context.sandbox.describe()["warm"]
        )
        self._lanes: list[_Lane] = []

    def __enter__(self) -> Self:
        self._lanes.append(_Lane(*self._given))
        self.compiled = self._lanes[0].session.compiled
        return self

    def __exit__(self, *_: object) -> None:
        for lane in self._lanes:
            lane.close()

    @property
    def isolation(self) -> str:
        """How the tests are kept from each other."""
        shared = any(lane.shared for lane in self._lanes)
        return "shared" if shared else self._lanes[0].session.isolation

    def tests(self, order: Sequence[int]) -> Generator[Ran, None, None]:
        """Run the tests of these indexes and give them in this order; close it to stop. Raises SandboxBrokenError.

        Where they take their time and cores are idle, several run side by side.
        """
        for position, index in enumerate(order):
            started = time.monotonic()
            yield self._lanes[0].test(index)
            left = order[position + 1 :]
            slow = time.monotonic() - started > WORTH_A_CORE_S
            if slow and len(left) > 1 and self._context.cores is not None and self._may_borrow:
                with self._context.cores.taken(min(len(left), MOST_SIDE_BY_SIDE) - 1) as borrowed:
                    if borrowed:
                        yield from self._side_by_side(left, 1 + borrowed)
                        return

    def _side_by_side(self, order: Sequence[int], count: int) -> Generator[Ran, None, None]:
        while len(self._lanes) < count:
            self._lanes.append(_Lane(*self._given))
        idle: SimpleQueue[_Lane] = SimpleQueue()
        for lane in self._lanes:
            idle.put(lane)

        def test(index: int) -> Ran:
            lane = idle.get()
            try:
                return lane.test(index)
            finally:
                idle.put(lane)

        with ThreadPoolExecutor(count) as threads:
            futures = [threads.submit(test, index) for index in order]
            try:
                for future in futures:
                    yield future.result()
            finally:  # also where nobody wants more
                for future in futures:
                    future.cancel()
                for lane in self._lanes:
                    lane.cancel()


def _with_grace(limits: Limits) -> Limits:
    return replace(limits, cpu_time_s=GRACE * limits.cpu_time_s)


def _doubtful(ran: Ran, limits: Limits) -> bool:
    """Whether a time limit may have been exceeded for want of quiet: by little, or by waiting on a loaded machine."""
    if ran.limit == "cpu" and ran.result.end is not End.CPU_LIMIT:
        return True
    # The sandbox lends CPU time to what had to wait for a core; what used that up as well is slow by itself.
    was_lent = ran.result.cpu_limit_s > _with_grace(limits).cpu_time_s
    used_up = ran.limit == "cpu" and ran.result.cpu_time_s >= ran.result.cpu_limit_s
    return was_lent and not used_up


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
