"""Problems that are doubtful themselves are named, with the cause, and sound ones are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from service.audit.doubts import weak
from service.wire import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.audit.report import Report

PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)


def printed(*tests: tuple[str, str], **comparison: Any) -> dict[str, Any]:
    cases = [{"input": given, "expected": wanted} for given, wanted in tests]
    return {"mode": "stdio", "tests": cases, "comparison": comparison}


def returned(*tests: tuple[list[Any], Any]) -> dict[str, Any]:
    cases = [{"args": given, "expected": wanted} for given, wanted in tests]
    return {"mode": "call", "entry_point": "f", "tests": cases}


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (
            printed(("1\n", "YES\n"), ("2\n", "YES\n")),
            "always gives the first test's answer passes all 2 tests",
        ),
        (printed(("1\n", "0.5\n"), ("2\n", "0.50000001\n")), "always gives the first test's answer"),
        (printed(("1 2\n", "1 2\n"), ("5\n", "5\n")), "gives its input back"),
        (printed(("1\n", "")), "gives no answer passes all 1 tests"),
        (returned(([3], True), ([4], True)), "always gives the first test's answer"),
        (returned(([[1, 2]], [1, 2]), ([[]], [])), "gives its input back"),
        (returned(([1], None), ([2], None)), "gives no answer"),
        (returned(([3], 2.0250405002925008e21), ([1], 1.0)), "2.0250405002925008e+21 is expected"),
        (returned(([3], {"a": [1e300]}), ([1], {"a": []})), "1e+300 is expected"),
    ],
)
def test_tests_that_tell_little_are_named(problem: dict[str, Any], reason: str) -> None:
    reasons = [one.reason for one in weak([("p", PROBLEM.validate_python(problem))])]
    assert any(reason in one for one in reasons), reasons


@pytest.mark.parametrize(
    "problem",
    [
        printed(("1\n", "2\n"), ("2\n", "4\n")),
        printed(("1\n", "2\n")),
        printed(("2\n", "2\n"), ("3\n", "6\n")),
        printed(("1\n", "YES\n"), ("2\n", "NO\n"), ("3\n", "YES\n")),
        printed(
            ("1\n", "1\n"),
            ("2\n", "1\n"),
            checker={"code": "def check(input, expected, actual):\n    return True\n"},
        ),
        returned(([3], 9007199254740993), ([4], 10**30)),
        returned(([3], 1e6), ([4], 0.5)),
        {"mode": "assert", "tests": [{"code": "assert f(1) == 1"}, {"code": "assert f(1) == 1"}]},
    ],
)
def test_sound_ones_are_not(problem: dict[str, Any]) -> None:
    assert list(weak([("p", PROBLEM.validate_python(problem))])) == []


def test_references_that_fail_are_told_from_modules_that_are_missing(audited: Callable[..., Report]) -> None:
    good = printed(("1\n", "2\n"), ("2\n", "4\n"))
    wrong = printed(("1\n", "2\n"), ("2\n", "5\n"))
    double = "print(2 * int(input()))"
    rows = [
        {"id": "good", "problem": good, "submissions": [{"file": "x", "code": double, "truth": "accept"}]},
        {"id": "wrong", "problem": wrong, "submissions": [{"file": "x", "code": double, "truth": "accept"}]},
        {
            "id": "module",
            "problem": good,
            "submissions": [{"file": "x", "code": f"import no_such_module\n{double}", "truth": "accept"}],
        },
    ]
    suspects = {one.problem: one for one in audited(rows, controls=False).suspects}
    assert {name: one.cause for name, one in suspects.items()} == {
        "wrong/x": "ground truth fails",
        "module/x": "environment missing",
    }
    assert "no_such_module" in suspects["module/x"].reason
