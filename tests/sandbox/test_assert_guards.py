"""What guards test code, seen from both sides: oddities of right programs pass, tricks on its own forms do not."""

from collections.abc import Callable

import pytest

from sandbox import AssertInput, End, Limits, Outcome, Program, RunResult, Sandbox
from tests.sandbox.assert_tables import FORGIVING, TESTS

Check = Callable[..., RunResult]


LIMITS = Limits(cpu_time_s=1.0, wall_time_s=4.0, memory_bytes=256 << 20, output_bytes=1 << 20)


SIGNALS = {
    "an exit handler": "import atexit\natexit.register(lambda: 1 / 0)\n",
    "a finalizer": "class A:\n    def __del__(self): raise SystemExit(3)\nkept = A()\n",
    "a thread that fails": "import threading\nthreading.Thread(target=lambda: 1 / 0).start()\n",
    "a changed recursion limit": "import sys\nsys.setrecursionlimit(100)\n",
    "closed standard streams": "import sys\nsys.stdout.close()\nsys.stderr.close()\n",
    "an own check function": "def check(x): return False\ndef test_one(): assert False\n",
    "own helpers named like the test's": "cases = want = given = None\n",
    "patched for speed": "import builtins\nbuiltins.print = lambda *a, **k: None\n",
}


@pytest.mark.parametrize("start", SIGNALS.values(), ids=SIGNALS.keys())
def test_oddities_do_not_fail_a_right_program(sandbox: Sandbox, start: str) -> None:
    program = Program(f"{start}def f(x): return x * x", mode="assert", entry_point="f")
    with sandbox.session(program, LIMITS) as session:
        results = {name: session.run(AssertInput(test), LIMITS) for name, test in TESTS.items()}
    assert {name: result.outcome for name, result in results.items()} == dict.fromkeys(TESTS, Outcome.PASSED)


def test_a_second_built_in_of_the_program_decides_nothing(check: Check) -> None:
    """The function under test has a built-in's name, and the program redefines what the test checks it with."""
    test = "assert all(sum([n]) == n for n in range(3))"
    assert check("def sum(xs): return xs[0]", test).outcome is Outcome.PASSED
    assert check("def sum(xs): return 7", test).outcome is Outcome.FAILED
    assert check("def all(xs): return True\ndef sum(xs): return 7", test).outcome is Outcome.RAISED
    assert check("def all(xs): return True", test).outcome is not Outcome.NONE
    assert check("def all(xs): return True\ndef sum(xs): return 7", test, "sum").outcome is Outcome.FAILED


SHARING = "class P:\n    x = 3\nassert f(P()) == 9\nassert all([f(P()) == 9])"


def test_shared_tests_put_built_ins_and_modules_back(check: Check) -> None:
    honest = check("def f(p): return p.x * p.x", SHARING)
    assert (honest.outcome, honest.shared) == (Outcome.PASSED, True)
    for patch in (
        "import builtins\nbuiltins.all = lambda *a: True\n",
        "import builtins\nbuiltins.AssertionError = type('Other', (Exception,), {})\n",
        "import sys\nsys.modules['unittest'] = None\n",
        "import atexit, os\natexit.register(os._exit, 0)\n",
        "raise SystemExit(0)\n",
        "import os\nos._exit(0)\n",
    ):
        result = check(f"{patch}def f(p): return 0", SHARING)
        assert result.outcome in {Outcome.FAILED, Outcome.NONE, Outcome.RAISED}


def test_a_program_that_never_answers_is_ended(check: Check) -> None:
    source = "import time\ndef f(x): time.sleep(1000)"
    limits = Limits(cpu_time_s=1.0, wall_time_s=0.5, memory_bytes=256 << 20)
    assert check(source, FORGIVING, limits=limits).end is End.WALL_LIMIT
    source = "import time\ntime.sleep(1000)"
    assert check(source, FORGIVING, limits=limits).end is End.WALL_LIMIT
