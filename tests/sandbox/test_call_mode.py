"""Call problems: what is called, with what, and what counts as its result."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from sandbox import CallInput, End, Limits, Outcome, Program, RunResult, Sandbox

Call = Callable[..., RunResult]

LIMITS = Limits(cpu_time_s=3.0, wall_time_s=15.0, memory_bytes=512 << 20, output_bytes=1 << 20)

FOUND = {
    "a function": ("def f(x): return x + 1", "f"),
    "a lambda": ("f = lambda x: x + 1", "f"),
    "a callable object": ("class A:\n    def __call__(self, x): return x + 1\nf = A()", "f"),
    "a partial function": ("import operator, functools\nf = functools.partial(operator.add, 1)", "f"),
    "a cached function": ("import functools\n@functools.cache\ndef f(x): return x + 1", "f"),
    "a method of Solution": ("class Solution:\n    def f(self, x): return x + 1", "f"),
    "a static method of Solution": ("class Solution:\n    @staticmethod\n    def f(x): return x + 1", "f"),
    "a function beside a Solution without it": ("class Solution: pass\ndef f(x): return x + 1", "f"),
    "a method named with its class": ("class Task:\n    def go(self, x): return x + 1", "Task.go"),
    "an inherited method": ("class A:\n    def f(self, x): return x + 1\nclass Solution(A): pass", "f"),
    "behind a main guard": (
        "def f(x): return x + 1\nif __name__ == '__main__': print(int(input()) / 0)",
        "f",
    ),
    "with helpers": ("def g(x): return x\nK = 1\nclass Solution:\n    def f(self, x): return g(x) + K", "f"),
    "while printing": ("print('loading')\ndef f(x):\n    print('working')\n    return x + 1", "f"),
}


@pytest.mark.parametrize(("source", "entry_point"), FOUND.values(), ids=FOUND.keys())
def test_the_entry_point_is_called(call: Call, source: str, entry_point: str) -> None:
    result = call(source, 41, entry_point=entry_point)
    assert (result.end, result.outcome, result.value) == (End.EXITED, Outcome.RETURNED, 42), result.stderr


@pytest.mark.parametrize(
    ("source", "entry_point"),
    [
        ("def g(x): return x", "f"),
        ("f = 5", "f"),
        ("class Solution:\n    def g(self): pass", "f"),
        ("class Task: pass", "Task.go"),
        ("def Task(): pass", "Task.go"),
        ("", "f"),
    ],
    ids=["another name", "no function", "another method", "no method", "no class", "nothing"],
)
def test_a_missing_entry_point_is_said_to_be_missing(call: Call, source: str, entry_point: str) -> None:
    result = call(source, 1, entry_point=entry_point)
    assert result.outcome is Outcome.NO_ENTRY_POINT
    assert "'" in result.message


def test_a_built_in_is_no_entry_point(call: Call) -> None:
    assert call("x = 1", [1, 2], entry_point="sum").outcome is Outcome.NO_ENTRY_POINT


def test_arguments_by_position_and_by_name(call: Call) -> None:
    result = call("def f(a, b, *, c, d=4): return [a, b, c, d]", 1, 2, kwargs={"c": 3})
    assert result.value == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**70),
        1.5,
        "",
        "a\nb\u2028\x00\U0001f600",
        "\ud800",
        [],
        {},
        [[1, [2.5, "x"]], {"a": [None]}],
    ],
    ids=repr,
)
def test_arguments_and_results_arrive_unchanged(call: Call, value: Any) -> None:
    result = call("def f(x): return x", value)
    assert (result.outcome, result.value) == (Outcome.RETURNED, value)
    assert type(result.value) is type(value)


def test_each_run_loads_the_program_afresh(sandbox: Sandbox) -> None:
    source = (
        "seen = []\nclass Solution:\n    kept = []\n    def f(self, x):\n"
        "        seen.append(x); self.kept.append(x)\n        return [len(seen), len(self.kept)]"
    )
    with sandbox.session(Program(source, mode="call", entry_point="f"), LIMITS) as session:
        values = [session.run(CallInput((n,)), LIMITS).value for n in range(3)]
    assert values == [[1, 1]] * 3


def test_the_callers_own_arguments_are_never_changed(sandbox: Sandbox) -> None:
    given = [3, 1, 2]
    with sandbox.session(
        Program("def f(x): x.sort(); return x", mode="call", entry_point="f"), LIMITS
    ) as session:
        values = [session.run(CallInput((given,)), LIMITS).value for _ in range(2)]
    assert values == [[1, 2, 3]] * 2
    assert given == [3, 1, 2]


@pytest.mark.parametrize(
    ("source", "answer_from", "value"),
    [
        ("def f(x, y): x.sort(); return len(x)", "arg0", [1, 2]),
        ("def f(x, y): y.append(x); return None", "arg1", [[2, 1]]),
        ("def f(x, y): x.sort(); return len(x)", "return", 2),
        ("def f(x, y): x = sorted(x)", "arg0", [2, 1]),
    ],
    ids=["changed in place", "the second", "the return value", "rebound instead of changed"],
)
def test_the_answer_may_be_an_argument(call: Call, source: str, answer_from: str, value: Any) -> None:
    assert call(source, [2, 1], [], answer_from=answer_from).value == value


PRELUDE = {
    "typing": ("def f(x: List[int]) -> Optional[int]: return x[0]", [7], 7),
    "math": ("def f(x): return gcd(x, 12) + int(math.sqrt(16))", 18, 10),
    "collections": (
        "def f(x): return Counter(x).most_common(1)[0][0] + len(deque(defaultdict(int)))",
        [3, 3],
        3,
    ),
    "itertools": ("def f(x): return [list(p) for p in permutations(x)][1]", [1, 2], [2, 1]),
    "functools": ("@cache\ndef f(x): return reduce(lambda a, b: a + b, range(x))", 4, 6),
    "heapq and bisect": (
        "def f(x):\n    heapify(x)\n    return [heappop(x), bisect_left([1, 3], 2)]",
        [3, 2],
        [2, 1],
    ),
    "three-argument pow": ("def f(x): return pow(2, x, 1000)", 10, 24),
    "sum is the built-in": ("def f(x): return sum(x)", [1, 2], 3),
    "an own name wins": ("def gcd(a, b): return -1\ndef f(x): return gcd(x, x)", 4, -1),
    "numpy": ("def f(x): return np.array(x).sum()", [1, 2], 3),
    "string": ("def f(x): return ascii_lowercase[x]", 2, "c"),
    "modules": ("def f(x): return re.sub('a', 'b', json.dumps(x))", "a", '"b"'),
}


@pytest.mark.parametrize(("source", "argument", "value"), PRELUDE.values(), ids=PRELUDE.keys())
def test_the_usual_imports_are_there(call: Call, source: str, argument: Any, value: Any) -> None:
    result = call(source, argument)
    assert (result.outcome, result.value) == (Outcome.RETURNED, value), result.stderr


@pytest.mark.parametrize(
    ("prelude", "source", "value"),
    [
        (
            "from math import *\nfrom os import *",
            "def f(): return [pow(2, 10, 1000), open(0).read()]",
            [24, ""],
        ),
        ("import math as m\nK = 5", "def f(): return m.floor(K + 0.5)", 5),
        ("def pow(a, b): return 'own'", "def f(): return pow(1, 2)", "own"),
        ("def helper(x): return x * 2", "def f(): return helper(21)", 42),
    ],
    ids=["stars do not shadow", "names", "an explicit definition does", "functions"],
)
def test_a_problems_own_prelude(call: Call, prelude: str, source: str, value: Any) -> None:
    assert call(source, prelude=prelude).value == value


def test_an_empty_prelude_means_no_imports(call: Call) -> None:
    result = call("def f(): return gcd(4, 6)", prelude="")
    assert result.outcome is Outcome.RAISED
    assert b"NameError" in result.stderr


def test_a_prelude_does_not_move_line_numbers(call: Call) -> None:
    result = call("def f():\n    return 1 / 0\n", prelude="import math\n" * 50)
    assert b"line 2" in result.stderr


ENDINGS = {
    "raises": ("def f(x): raise ValueError('no')", Outcome.RAISED),
    "raises at import": ("1 / 0\ndef f(x): return x", Outcome.RAISED),
    "raises its own SystemExit": ("def f(x): raise SystemExit", Outcome.NONE),
    "raises KeyboardInterrupt": ("def f(x): raise KeyboardInterrupt", Outcome.RAISED),
    "raises GeneratorExit": ("def f(x): raise GeneratorExit", Outcome.RAISED),
    "raises StopIteration": ("def f(x): raise StopIteration(42)", Outcome.RAISED),
    "an exception with a hostile text": (
        "class E(Exception):\n    def __str__(self): raise self\ndef f(x): raise E",
        Outcome.RAISED,
    ),
    "sys.exit(0) inside": ("import sys\ndef f(x): sys.exit(0)", Outcome.NONE),
    "os._exit(0) inside": ("import os\ndef f(x): os._exit(0)", Outcome.NONE),
    "exit at import": ("raise SystemExit(0)\ndef f(x): return x", Outcome.NONE),
    "os._exit at import": ("import os\nos._exit(0)\ndef f(x): return x", Outcome.NONE),
    "killed": ("import os\ndef f(x): os.kill(os.getpid(), 9)", Outcome.NONE),
    "wrong number of arguments": ("def f(): return 42", Outcome.RAISED),
    "constructor of Solution needs arguments": (
        "class Solution:\n    def __init__(self, n): pass\n    def f(self, x): return x",
        Outcome.RAISED,
    ),
}


@pytest.mark.parametrize(("source", "outcome"), ENDINGS.values(), ids=ENDINGS.keys())
def test_what_returns_nothing_is_no_result(call: Call, source: str, outcome: Outcome) -> None:
    result = call(source, 42)
    assert (result.outcome, result.value) == (outcome, None)


def test_returning_none_is_a_result(call: Call) -> None:
    result = call("def f(): pass")
    assert (result.outcome, result.value) == (Outcome.RETURNED, None)


def test_not_a_number_arrives_as_one(call: Call) -> None:
    value = call("def f(): return [float('nan'), float('inf'), -float('inf')]").value
    assert math.isnan(value[0])
    assert value[1:] == [math.inf, -math.inf]
