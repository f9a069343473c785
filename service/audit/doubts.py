"""Doubts about the data itself: problems whose tests say little, or nothing that is labelled right passes."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from comparators import compare
from service.audit.report import Suspect
from service.runs import rules_of
from service.wire import AssertCase, CallCase, Case, Problem, StdioCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from service.audit.measuring import Scored

DEFAULT_PROFILE = "microcoder"
# From here on doubles are further apart than integers.
FIRST_INEXACT = 1 << 53
_MISSING = re.compile(r"No module named '([\w.]+)'")


def unpassed(scored: Iterable[Scored], profiles: Sequence[str]) -> Iterator[Suspect]:
    """Name problems of which nothing that is labelled right passes: their tests are doubtful, or what runs them."""
    right: dict[int, list[Scored]] = defaultdict(list)
    for one in scored:
        if one.item.truth.accept:
            right[id(one.item.problem)].append(one)
    for members in right.values():
        if any(one.accepted(profile) for one in members for profile in profiles):
            continue
        first = members[0]
        view = first.view(profiles[0])
        missing = _MISSING.search(f"{first.observation.message} {view.feedback}")
        yield Suspect(
            problem=first.item.id,
            cause="environment missing" if missing else "ground truth fails",
            reason=(
                f"programs need the module {missing[1]!r}, which is not installed here; " if missing else ""
            )
            + f"none of {len(members)} submissions labelled right passes under any profile; "
            f"the first: {view.verdict} {view.feedback}",
        )


def weak(problems: Iterable[tuple[str, Problem]]) -> Iterator[Suspect]:
    """Name problems that a program passes which does not solve them, or whose answers cannot be exact.

    ``problems`` pairs names and problems. Nothing is run: what such programs print or return is known.
    """
    for name, problem in problems:
        tests = [test for test in problem.tests if not isinstance(test, AssertCase)]
        if not tests or len(tests) < len(problem.tests) or problem.comparison.checker is not None:
            continue
        for what, answer in _IDLE:
            if (what != _CONSTANT or len(tests) > 1) and _passes(problem, tests, answer):
                reason = f"a program that {what} passes all {len(tests)} tests"
                yield Suspect(problem=name, cause="weak tests", reason=reason)
        vast = next((one for test in tests for one in _floats(test.expected) if _is_inexact(one)), None)
        if vast is not None:
            reason = f"{vast!r} is expected, a double between which and the next one lie integers: give the integer"
            yield Suspect(problem=name, cause="inexact answers", reason=reason)


_CONSTANT = "always gives the first test's answer"


def _constant(_test: Case, first: StdioCase | CallCase) -> Any:
    return first.expected


def _echo(test: Case, _first: StdioCase | CallCase) -> Any:
    if isinstance(test, StdioCase):
        return test.input
    return test.args[0] if isinstance(test, CallCase) and test.args else None


def _nothing(test: Case, _first: StdioCase | CallCase) -> Any:
    return "" if isinstance(test, StdioCase) else None


_IDLE: tuple[tuple[str, Callable[[Case, Any], Any]], ...] = (
    (_CONSTANT, _constant),
    ("gives its input back", _echo),
    ("gives no answer", _nothing),
)


def _passes(
    problem: Problem, tests: Sequence[StdioCase | CallCase], answer: Callable[[Case, Any], Any]
) -> bool:
    for test in tests:
        actual = answer(test, tests[0])
        if isinstance(test, StdioCase):
            actual = actual.encode("utf-8", "replace")
        rules = replace(rules_of(test, problem.comparison), profile=DEFAULT_PROFILE)
        if not compare(test.expected, actual, rules).accepted:
            return False
    return True


def _floats(value: Any) -> Iterator[float]:
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, float):
            yield node
        elif isinstance(node, list | dict):
            pending.extend(node.values() if isinstance(node, dict) else node)


def _is_inexact(number: float) -> bool:
    return abs(number) >= FIRST_INEXACT and number.is_integer()
