"""The forms that test code comes in: candidates, broken tests, tests that hand over objects, failures named."""

from collections.abc import Callable

import pytest

from sandbox import AssertInput, Limits, Outcome, Program, RunResult, Sandbox

Check = Callable[..., RunResult]


LIMITS = Limits(cpu_time_s=3.0, wall_time_s=15.0, memory_bytes=512 << 20, output_bytes=1 << 20)


CANDIDATE = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(0) == 1\n"


@pytest.mark.parametrize(
    ("entry_point", "test"),
    [
        ("f", CANDIDATE),
        ("f", f"METADATA = {{}}\n\n{CANDIDATE}\n\n"),
        (None, f"{CANDIDATE}\ncheck(f)"),
        ("f", f"{CANDIDATE}\ncheck(f)"),
        ("sum", CANDIDATE),
    ],
    ids=["defined", "with data", "called", "called as well", "a built-in's name"],
)
def test_check_of_a_candidate(check: Check, entry_point: str | None, test: str) -> None:
    name = entry_point or "f"
    right, wrong = (check(f"def {name}(x): return x + {k}", test, entry_point) for k in (1, 2))
    assert (right.outcome, wrong.outcome) == (Outcome.PASSED, Outcome.FAILED)


@pytest.mark.parametrize("entry_point", ["f", None])
@pytest.mark.parametrize("test", ["assert f(1) == 2", "def test_it():\n    assert f(1) == 2"])
def test_a_program_without_the_function_does_not_pass(
    check: Check, test: str, entry_point: str | None
) -> None:
    result = check("def g(x): return x + 1", test, entry_point)
    assert result.outcome is Outcome.RAISED
    assert "'f'" in result.message


@pytest.mark.parametrize("test", [CANDIDATE, "assert sum([1, 2]) == 3"], ids=["check", "an assertion"])
def test_a_built_in_does_not_stand_in_for_a_missing_function(check: Check, test: str) -> None:
    result = check("x = 1", test, "sum")
    assert result.outcome is Outcome.RAISED
    assert "'sum'" in result.message


def test_each_test_meets_a_fresh_program(sandbox: Sandbox) -> None:
    source = "calls = []\ndef f():\n    calls.append(1)\n    return len(calls)"
    with sandbox.session(Program(source, mode="assert"), LIMITS) as session:
        outcomes = {
            session.run(AssertInput("assert f() == 1\nassert f() == 2"), LIMITS).outcome for _ in range(3)
        }
    assert outcomes == {Outcome.PASSED}


BROKEN = {
    "does not compile": "assert f(1) ==",
    "a zero byte": "assert f(1) == 2\0",
    "a lone surrogate": "assert f(1) == '\ud800'",
    "too deep": "assert " + "(" * 5000 + "1" + ")" * 5000,
    "needs a module that is not installed": "import no_such_module\nassert f(1) == 2",
    "needs a module by its alias": "assert pd.Series([f(1)])[0] == 2",
    "a case without tests": "import unittest\nclass T(unittest.TestCase):\n    def helper(self): f(1)",
    "only helpers": "def helper():\n    assert f(1) == 2",
    "check without an entry point": CANDIDATE,
    "uses nothing of the program": "assert len([1]) == 1",
    "asserts a constant": "assert True",
}


@pytest.mark.parametrize("test", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_test_is_called_broken_whatever_the_program(check: Check, test: str) -> None:
    for source in ("def f(x): return x + 1", "def f(x): raise ValueError"):
        result = check(source, test)
        assert result.outcome is Outcome.BROKEN_TEST
        assert result.message


SHARED = {
    "objects of the test's own class": (
        "def f(p): return p.x + RIGHT",
        "class P:\n    x = 1\nassert f(P()) == 2",
    ),
    "a class of the test": ("def f(kind): return kind(RIGHT)", "class P(int): pass\nassert f(P) == 1"),
    "a tree of the test's nodes": (
        "def f(n): return 0 if n is None else RIGHT + f(n.left)",
        "class N:\n    def __init__(self, left=None): self.left = left\nassert f(N(N())) == 2",
    ),
    "a cyclic argument": ("def f(x): return len(x) * RIGHT", "x = []\nx.append(x)\nassert f(x) == 1"),
    "a unittest case with objects of its own": (
        "def f(p): return p.x * RIGHT",
        (
            "import unittest\nclass P:\n    x = 1\nclass T(unittest.TestCase):\n"
            "    def test(self): self.assertEqual(f(P()), 1)"
        ),
    ),
}


@pytest.mark.parametrize(("source", "test"), SHARED.values(), ids=SHARED.keys())
def test_a_test_that_hands_over_its_own_objects_is_run_in_one_process_and_says_so(
    check: Check, source: str, test: str
) -> None:
    right, wrong = (check(source.replace("RIGHT", value), test) for value in ("1", "-1"))
    assert right.outcome is Outcome.PASSED, right.message
    assert wrong.outcome in {Outcome.FAILED, Outcome.RAISED}
    assert right.shared
    assert wrong.shared


def test_a_failure_names_line_and_reason(check: Check) -> None:
    result = check("def f(x): return x", "x = 1\nassert f(x) == 2, 'one is not two'")
    assert result.message == "line 2: AssertionError: one is not two"


def test_an_exception_of_the_program_is_told_apart_from_a_failed_assertion(check: Check) -> None:
    result = check("def f(x): assert x > 5, 'too small'", "f(1)")
    assert result.outcome is Outcome.RAISED
    assert "too small" in result.message


@pytest.mark.parametrize(
    "source", ["while True: pass", "def f():\n    while True: pass"], ids=["loading", "calling"]
)
def test_a_test_ends_at_the_limits_of_the_program(check: Check, source: str) -> None:
    limits = Limits(cpu_time_s=0.3, wall_time_s=10.0, memory_bytes=256 << 20)
    result = check(source, "assert f() == 1", limits=limits)
    assert result.end == "cpu-limit"
    assert result.outcome is Outcome.NONE
