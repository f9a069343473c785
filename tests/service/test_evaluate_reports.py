"""What a judgement shows of a program's output, and how it says where the program ran."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox import Sandbox, SandboxSettings, open_sandbox
from service.settings import default_python
from service.wire import Judgement, Verdict

Judged = Callable[..., Judgement]

ANYTHING = {"mode": "stdio", "tests": [{"input": "", "expected": "expected\n"}]}
KIB_4 = 4096

OUTPUTS = {
    "zero bytes": ("b'\\0' * 10", "\0" * 10),
    "invalid UTF-8": ("b'a\\xff\\xfeb'", "a\ufffd\ufffdb"),
    "a surrogate": ("b'\\xed\\xa0\\x80'", "\ufffd\ufffd\ufffd"),
    "control characters": ("b'\\x1b[31m\\x07'", "\x1b[31m\x07"),
    "line separators": ("'\\u2028\\u0085'.encode()", "\u2028\u0085"),
    "an emoji": ("'\\U0001f600'.encode()", "\U0001f600"),
}


@pytest.mark.parametrize(("data", "shown"), OUTPUTS.values(), ids=OUTPUTS.keys())
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_any_output_is_shown_as_valid_text(judged: Judged, data: str, shown: str, stream: str) -> None:
    result = judged(f"import sys\nsys.{stream}.buffer.write({data})", ANYTHING)
    assert result.verdict is Verdict.WA
    assert getattr(result.cases[0], stream) == shown
    assert json.loads(result.model_dump_json())["cases"][0][stream] == shown
    assert result.message.isprintable()


@pytest.mark.parametrize("size", [KIB_4, KIB_4 + 1, 1 << 20])
def test_long_output_is_cut_and_the_cut_is_marked(judged: Judged, size: int) -> None:
    cut = size > KIB_4
    result = judged(f"import sys\nsys.stdout.write('o' * {size})\nsys.stderr.write('e' * {size})", ANYTHING)
    stdout, stderr = result.cases[0].stdout or "", result.cases[0].stderr or ""
    assert stdout.count("o") - stdout.count("of") == min(size, KIB_4)
    assert len(stderr) <= KIB_4 + 100
    assert ("[cut:" in stdout, "[cut:" in stderr) == (cut, cut)
    assert (f"{size} bytes" in stdout) == cut


def test_of_a_flood_the_excerpt_says_that_there_was_more(judged: Judged) -> None:
    result = judged("while True: print('x' * 1000)", {**ANYTHING, "limits": {"output_bytes": 1 << 16}})
    assert result.verdict is Verdict.OLE
    assert "[cut: more than" in (result.cases[0].stdout or "")


def test_a_huge_exception_text_is_cut(judged: Judged) -> None:
    result = judged("raise ValueError('x' * 5_000_000 + 'end')", ANYTHING)
    assert result.verdict is Verdict.RE
    assert len(result.model_dump_json()) < 10_000
    assert (result.cases[0].stderr or "").rstrip().endswith("end")


@pytest.mark.parametrize(
    "value", ["float('nan')", "float('inf')", "'\\ud800\\0'", "10 ** 5000", "{1: {2}}", "b'\\xff'"]
)
def test_a_judgement_of_any_result_is_valid_json(judged: Judged, value: str) -> None:
    problem = {"mode": "call", "entry_point": "f", "tests": [{"args": [], "expected": 1}]}
    result = judged(f"def f(): return {value}", problem)
    assert (result.verdict, result.reward) == (Verdict.WA, 0.0)
    assert json.loads(result.model_dump_json(), parse_constant=pytest.fail)["verdict"] == "WA"


def test_a_message_of_the_program_is_one_line(judged: Judged) -> None:
    problem = {"mode": "assert", "tests": [{"code": "f()"}]}
    result = judged("def f(): raise ValueError('a\\nb\\0' + 'c' * 10_000 + '\\ud800')", problem)
    assert result.verdict is Verdict.RE
    assert "\n" not in result.message
    assert len(result.message) < 400
    assert result.model_dump_json()


def test_tests_that_share_a_process_with_the_program_say_so(judged: Judged) -> None:
    own = "class P:\n    x = 2\nassert f(P()) == 4"
    tests = {"mode": "assert", "tests": [{"code": "assert f(2) == 4"}, {"code": own}]}
    program = "def f(p): return 2 * getattr(p, 'x', p)"
    result = judged(program, tests)
    assert (result.verdict, result.isolation) == (Verdict.AC, "shared")
    assert judged(program, {"mode": "assert", "tests": [{"code": "assert f(2) == 4"}]}).isolation == "strict"
    assert judged("def f(p): return 0", tests).verdict is Verdict.WA


@pytest.fixture(scope="module")
def unsafe() -> Iterator[Sandbox]:
    """Give a sandbox that isolates nothing."""
    with open_sandbox(SandboxSettings(kind="unsafe-process", python=default_python())) as opened:
        yield opened


PROBLEMS: dict[str, tuple[dict[str, Any], str, str]] = {
    "stdio": (
        {"mode": "stdio", "tests": [{"input": "2\n", "expected": "4\n"}]},
        "print(int(input()) * 2)",
        "print(5)",
    ),
    "call": (
        {"mode": "call", "entry_point": "f", "tests": [{"args": [2], "expected": 4}]},
        "def f(x): return x * 2",
        "def f(x): return 5",
    ),
    "assert": (
        {"mode": "assert", "tests": [{"code": "assert f(2) == 4"}]},
        "def f(x): return x * 2",
        "def f(x): raise SystemExit(0)",
    ),
}


@pytest.mark.parametrize(("problem", "right", "wrong"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_judging_without_isolation_works_and_is_marked(
    judged: Judged, unsafe: Sandbox, problem: dict[str, Any], right: str, wrong: str
) -> None:
    accepted, rejected = (judged(code, problem, within=unsafe) for code in (right, wrong))
    assert (accepted.verdict, accepted.isolation) == (Verdict.AC, "none")
    assert rejected.verdict in {Verdict.WA, Verdict.RE}
    assert rejected.isolation == "none"


def test_limits_hold_without_isolation_too(judged: Judged, unsafe: Sandbox) -> None:
    problem = {**ANYTHING, "limits": {"cpu_time_s": 0.3, "wall_time_s": 3, "output_bytes": 1 << 16}}
    assert judged("while True: pass", problem, within=unsafe).verdict is Verdict.TLE
    assert judged("while True: print('x' * 1000)", problem, within=unsafe).verdict is Verdict.OLE
    assert judged("def f(:", problem, within=unsafe).verdict is Verdict.CE
    assert judged("print('expected')", problem, within=unsafe).verdict is Verdict.AC
