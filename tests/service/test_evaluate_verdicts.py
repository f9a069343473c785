"""One submission against one problem: the table of verdicts, rewards, scores and reports."""

from collections.abc import Callable
from typing import Any

import pytest

from service.wire import Judgement, Verdict
from tests.loaded import loaded_machine

Judged = Callable[..., Judgement]

AC, WA, TLE, MLE, OLE, RE, CE, NC, IE = (
    Verdict[name] for name in ("AC", "WA", "TLE", "MLE", "OLE", "RE", "CE", "NC", "IE")
)
DOUBLE = {
    "mode": "stdio",
    "tests": [{"input": "2\n", "expected": "4\n"}, {"input": "3\n", "expected": "6\n"}],
    "limits": {"cpu_time_s": 0.5, "wall_time_s": 6, "memory_bytes": 128 << 20, "output_bytes": 1 << 18},
}
CALL = {
    "mode": "call",
    "entry_point": "f",
    "tests": [{"args": [2], "expected": 4}, {"args": [3], "expected": 6}],
}
ASSERT = {
    "mode": "assert",
    "entry_point": "f",
    "tests": [{"code": "assert f(2) == 4"}, {"code": "assert f(3) == 6"}],
}

TABLE = {
    "stdio accepted": (DOUBLE, "print(int(input()) * 2)", AC),
    "stdio without a last line feed": (DOUBLE, "print(int(input()) * 2, end='')", AC),
    "stdio wrong": (DOUBLE, "print(int(input()) + 2)", WA),
    "stdio silent": (DOUBLE, "", WA),
    "stdio left early": (DOUBLE, "import sys; sys.exit(0)", WA),
    "stdio with a prompt": (DOUBLE, "print(int(input('n: ')) * 2)", WA),
    "stdio exception": (DOUBLE, "print(int(input()) * 2)\n1 / 0", RE),
    "stdio exit code": (DOUBLE, "print(int(input()) * 2)\nexit(1)", RE),
    "stdio signal": (DOUBLE, "import os\nprint(int(input()) * 2, flush=True)\nos.abort()", RE),
    "stdio loop": (DOUBLE, "while True: pass", TLE),
    "stdio loop after the answer": (DOUBLE, "print(int(input()) * 2, flush=True)\nwhile True: pass", TLE),
    "stdio memory": (DOUBLE, "a = []\nwhile True: a.append(bytearray(1 << 20))", MLE),
    "stdio flood": (DOUBLE, "while True: print(4)", OLE),
    "stdio cut output": (DOUBLE, "print(int(input()) * 2)\nprint(' ' * (1 << 19))", OLE),
    "stdio syntax": (DOUBLE, "print(int(input()) * 2", CE),
    "call accepted": (CALL, "def f(x): return x * 2", AC),
    "call accepted as a method": (CALL, "class Solution:\n    def f(self, x: int) -> int: return x * 2", AC),
    "call wrong": (CALL, "def f(x): return x + 2", WA),
    "call wrong type": (CALL, "def f(x): return [x * 2]", WA),
    "call printed": (CALL, "def f(x): print(x * 2)", WA),
    "call object": (CALL, "def f(x): return object()", WA),
    "call always equal": (
        CALL,
        "class A(int):\n    def __eq__(self, o): return True\ndef f(x): return A(0)",
        WA,
    ),
    "call missing": (CALL, "def g(x): return x * 2", RE),
    "call exception": (CALL, "def f(x): raise ValueError", RE),
    "call early exit": (CALL, "import os\nos._exit(0)", RE),
    "call exit inside": (CALL, "def f(x): raise SystemExit(0)", RE),
    "assert accepted": (ASSERT, "def f(x): return x * 2", AC),
    "assert wrong": (ASSERT, "def f(x): return x + 2", WA),
    "assert exception": (ASSERT, "def f(x): raise ValueError", RE),
    "assert missing": (ASSERT, "def g(x): return 4", RE),
    "assert early exit": (ASSERT, "raise SystemExit(0)", RE),
    "assert open string": (ASSERT, "def f(x): return 4\n'''", CE),
}


@pytest.mark.parametrize(("problem", "code", "verdict"), TABLE.values(), ids=TABLE.keys())
def test_each_end_has_its_verdict(
    judged: Judged, problem: dict[str, Any], code: str, verdict: Verdict
) -> None:
    result = judged(code, problem)
    assert result.verdict is verdict, result.message
    assert result.reward == (1.0 if verdict is AC else 0.0)
    assert (result.passed == result.total == 2) == (verdict is AC)
    assert result.message
    assert "\n" not in result.message
    assert result.isolation == ("strict" if problem["mode"] == "assert" else "reuse")


BROKEN = {
    "a test that does not compile": {"mode": "assert", "tests": [{"code": "assert f(2) =="}]},
    "a test that needs a missing module": {
        "mode": "assert",
        "tests": [{"code": "import no_such_thing\nassert f(2) == 4"}],
    },
    "a test that tests nothing": {
        "mode": "assert",
        "tests": [{"code": "def helper():\n    assert f(2) == 4"}],
    },
}


@pytest.mark.parametrize("problem", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("code", ["def f(x): return 4", "x = 1", "def f(x): raise ImportError"])
def test_a_broken_test_is_our_failure_whatever_the_program(
    judged: Judged, problem: dict[str, Any], code: str
) -> None:
    result = judged(code, problem)
    assert (result.verdict, result.reward, result.score) == (IE, None, 0.0)
    assert "test" in result.message


@pytest.mark.parametrize("problem", [DOUBLE, CALL, ASSERT], ids=["stdio", "call", "assert"])
@pytest.mark.parametrize(
    ("prelude", "broken"),
    [("import zork", True), ("def (", True), ("import os\nos._exit(0)", True), ("import math", False)],
    ids=["missing module", "syntax", "leaves", "sound"],
)
def test_a_broken_prelude_is_never_the_programs_fault(
    judged: Judged,
    problem: dict[str, Any],
    prelude: str,
    broken: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """Right or wrong, a submission to such a problem is not scored; it is where the prelude runs."""
    right = "print(int(input()) * 2)" if problem is DOUBLE else "def f(x): return 2 * x"
    for code, verdict in ((right, AC), ("def f(x): return 0", WA)):
        judgement = judged(code, {**problem, "prelude": prelude})
        assert judgement.verdict is (IE if broken else verdict)
        assert (judgement.reward is None) is broken
        assert not broken or "prelude" in judgement.message


@pytest.mark.parametrize(
    "code",
    ["def f(x): raise ImportError('no')", "import no_such_thing", "def f(x):\n    import no_such_thing"],
)
@pytest.mark.parametrize("problem", [CALL, ASSERT], ids=["call", "assert"])
def test_what_the_program_cannot_import_is_its_own_fault(
    judged: Judged, problem: dict[str, Any], code: str
) -> None:
    assert judged(code, problem).verdict is RE


def test_no_code_in_a_completion(judged: Judged) -> None:
    result = judged("I cannot solve this.", DOUBLE, completion=True)
    assert (result.verdict, result.reward) == (NC, 0.0)
    assert {case.verdict for case in result.cases} <= {Verdict.SKIPPED}
    assert judged("```python\nprint(int(input()) * 2)\n```", DOUBLE, completion=True).verdict is AC


COMPILING = {
    "half a surrogate pair": "print(int(input()) * 2)  # \uffff",
    "syntax": "def f(:",
    "indentation": "def f():\nreturn 1",
    "tabs": "if 1:\n\tx = 1\n        y = 2",
    "a zero byte": "print(1)\0",
    "a lone surrogate": "print('\ud800')",
    "deep brackets": "x = " + "(" * 1000 + ")" * 1000,
    "return outside": "return 1",
    "a bad escape": "print('\\N{no such name}')",
    "a long message of non-Latin letters": "def f():\n    "
    + "\U00020000" * 9000
    + " = 1\n    global "
    + "\U00020000" * 9000,
}


@pytest.mark.parametrize("code", COMPILING.values(), ids=COMPILING.keys())
@pytest.mark.parametrize("problem", [DOUBLE, CALL, ASSERT], ids=["stdio", "call", "assert"])
def test_what_does_not_compile_is_not_run(judged: Judged, problem: dict[str, Any], code: str) -> None:
    result = judged(code, problem)
    assert (result.verdict, result.reward, result.passed) == (CE, 0.0, 0)
    assert result.first_failed is None
    assert 0 < len(result.message) <= 300
    assert result.model_dump_json()


@pytest.mark.parametrize(
    "code",
    [
        "\ufeffprint(int(input()) * 2)",
        "print(int(input()) * 2)\r\n",
        "# -*- coding: latin-1 -*-\nprint(int(input()) * 2)",
    ],
    ids=["byte order mark", "line ends", "coding line"],
)
def test_oddities_of_files_compile(judged: Judged, code: str) -> None:
    assert judged(code, DOUBLE).verdict is AC


# Ends as its input says.
MOODS = """
word = input()
if word == "wa": print("no")
elif word == "re": raise ValueError
elif word == "tle":
    while True: pass
elif word == "mle":
    a = []
    while True: a.append(bytearray(1 << 20))
elif word == "ole":
    while True: print("x" * 1000)
else: print("ok")
"""


def moods(*words: str, weights: tuple[float, ...] = ()) -> dict[str, Any]:
    tests: list[dict[str, Any]] = [{"input": f"{word}\n", "expected": "ok\n", "id": word} for word in words]
    for test, weight in zip(tests, weights, strict=False):
        test["weight"] = weight
    return {**DOUBLE, "tests": tests}


@pytest.mark.parametrize(
    ("words", "stopped", "all_run"),
    [
        (("ok", "wa", "re"), WA, RE),
        (("wa", "re", "ole"), WA, OLE),
        (("re", "ole", "mle"), RE, MLE),
        (("mle", "tle", "wa"), MLE, TLE),
        (("ok", "ok", "ok"), AC, AC),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_the_first_failure_or_the_gravest_names_the_submission(
    judged: Judged, words: tuple[str, ...], stopped: Verdict, all_run: Verdict
) -> None:
    first = judged(MOODS, moods(*words), stop_on_failure=True)
    every = judged(MOODS, moods(*words), stop_on_failure=False)
    assert (first.verdict, every.verdict) == (stopped, all_run)
    assert first.first_failed == every.first_failed
    assert [case.verdict for case in every.cases].count(Verdict.SKIPPED) == 0


def test_a_stop_leaves_the_rest_skipped(judged: Judged) -> None:
    result = judged(MOODS, moods("ok", "wa", "ok", "re"))
    assert [case.verdict for case in result.cases] == [AC, WA, Verdict.SKIPPED, Verdict.SKIPPED]
    assert [case.id for case in result.cases] == ["ok", "wa", "ok", "re"]
    assert [case.index for case in result.cases] == [0, 1, 2, 3]
    assert (result.passed, result.total, result.first_failed) == (1, 4, 1)


@pytest.mark.parametrize(
    ("words", "weights", "stop", "score"),
    [
        (("ok", "wa", "ok"), (), False, 2 / 3),
        (("ok", "wa", "ok"), (), True, 1 / 3),
        (("ok", "wa"), (3, 1), False, 0.75),
        (("wa", "ok"), (0, 1), False, 1.0),
        (("wa", "wa"), (), False, 0.0),
        (("ok", "ok"), (0.5, 0.25), True, 1.0),
    ],
)
def test_the_score_is_the_weighted_share(
    judged: Judged, words: tuple[str, ...], weights: tuple[float, ...], *, stop: bool, score: float
) -> None:
    result = judged(MOODS, moods(*words, weights=weights), stop_on_failure=stop)
    assert result.score == pytest.approx(score)
    assert result.reward == (1.0 if set(words) == {"ok"} else 0.0)


def test_the_detail_that_is_asked_for(judged: Judged) -> None:
    problem = moods("ok", "wa", "re")
    none, summary, full = (
        judged(MOODS, problem, detail=detail, stop_on_failure=False) for detail in ("none", "summary", "full")
    )
    assert [len(result.cases) for result in (none, summary, full)] == [0, 1, 3]
    assert summary.cases[0].index == 1
    assert (
        len(
            {
                (result.verdict, result.score, result.passed, result.message)
                for result in (none, summary, full)
            }
        )
        == 1
    )
    assert judged(MOODS, moods("ok"), detail="summary").cases == []


def test_a_full_report_holds_the_facts(judged: Judged) -> None:
    result = judged("import sys\nprint(4)\nprint('note', file=sys.stderr)", DOUBLE)
    first, second = result.cases
    assert (first.verdict, first.accepted_by, first.stdout, first.stderr) == (AC, "exact", "4\n", "note\n")
    assert (second.verdict, second.accepted_by, second.stdout) == (WA, None, "4\n")
    assert second.feedback
    assert first.cpu_time_s is not None
    assert first.wall_time_s is not None
    assert first.memory_peak_bytes is not None
    assert first.limit is None
    assert (result.duration_s > 0, result.cached) == (True, False)


def test_a_time_limit_says_which(judged: Judged) -> None:
    problem = {**DOUBLE, "limits": {"cpu_time_s": 0.2, "wall_time_s": 0.4}}
    assert judged("while True: pass", problem).cases[0].limit == "cpu"
    assert judged("import time\ntime.sleep(60)", problem).cases[0].limit == "wall"


def test_what_does_not_end_is_tried_once_also_on_a_loaded_machine(judged: Judged) -> None:
    problem = {**DOUBLE, "limits": {"cpu_time_s": 0.3, "wall_time_s": 10}}
    with loaded_machine():
        judgement = judged("while True: pass", problem)
    first = judgement.cases[0]
    assert (first.verdict, first.limit) == (TLE, "cpu")
    assert first.wall_time_s is not None
    assert judgement.duration_s < 1.7 * first.wall_time_s


def test_a_test_may_have_limits_and_tolerances_of_its_own(judged: Judged) -> None:
    slow = "import time\nwhile time.process_time() < 0.5: pass\nprint(int(input()) * 2)"
    tests = [{"input": "2\n", "expected": "4\n", "limits": {"cpu_time_s": 3.0}}, DOUBLE["tests"][1]]  # type: ignore[index]
    problem = {**DOUBLE, "tests": tests, "limits": {"cpu_time_s": 0.2}}
    assert [case.verdict for case in judged(slow, problem).cases] == [AC, TLE]
    near = {
        "mode": "stdio",
        "tests": [{"input": "", "expected": "1.0\n", "abs_tol": 0.1}, {"input": "", "expected": "1.0\n"}],
    }
    assert [case.verdict for case in judged("print(1.05)", near, stop_on_failure=False).cases] == [AC, WA]
    order = {
        "mode": "stdio",
        "tests": [{"input": "", "expected": "1\n2\n", "order": "lines"}, {"input": "", "expected": "1\n2\n"}],
    }
    assert [case.verdict for case in judged("print(2)\nprint(1)", order, stop_on_failure=False).cases] == [
        AC,
        WA,
    ]


def test_inputs_reach_the_program_with_line_feeds_only(judged: Judged) -> None:
    problem = {"mode": "stdio", "tests": [{"input": "a b\r\nc\rd\r\n", "expected": "b'a b\\nc\\nd\\n'"}]}
    assert judged("import sys\nprint(sys.stdin.buffer.read())", problem).verdict is AC


def test_each_submission_has_its_own_name(judged: Judged) -> None:
    first, second = (judged("print(1)", DOUBLE) for _ in range(2))
    assert first.id != second.id
