"""Special judges: what they accept, what they reject, and when it is they that are broken."""

from collections.abc import Callable
from typing import Any

import pytest

from service.wire import Judgement, Verdict

Judged = Callable[..., Judgement]

# Accepts any two numbers of the wanted sum.
PAIR = """
def check(input, expected, actual):
    a, b = map(int, actual.split())
    if a + b != int(input):
        return False, f"{a} + {b} is not {input.strip()}"
    return True
"""


def problem(code: str, given: str = "10\n", expected: str = "5 5\n") -> dict[str, Any]:
    return {
        "mode": "stdio",
        "comparison": {"checker": {"code": code}},
        "tests": [{"input": given, "expected": expected}],
    }


@pytest.mark.parametrize("printed", ["5 5", "0 10", "-3 13"])
def test_several_answers_are_right(judged: Judged, printed: str) -> None:
    result = judged(f"print({printed!r})", problem(PAIR))
    assert (result.verdict, result.reward, result.cases[0].accepted_by) == (Verdict.AC, 1.0, "checker")


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("5 6", "5 + 6 is not 10"),
        ("5", "cannot be read"),
        ("five five", "cannot be read"),
        ("", "cannot be read"),
        ("1 2 3", "cannot be read"),
        ("5 5\x00", "cannot be read"),
        ("9" * 200 + " 1", "is not 10"),
    ],
    ids=["wrong sum", "one number", "words", "nothing", "three numbers", "a zero byte", "a huge number"],
)
def test_a_wrong_answer_is_the_programs_whatever_the_checker_makes_of_it(
    judged: Judged, printed: str, words: str
) -> None:
    result = judged(f"print({printed!r})", problem(PAIR))
    assert (result.verdict, result.reward) == (Verdict.WA, 0.0)
    assert words in (result.cases[0].feedback or "")


ANSWERS = {
    "True": ("True", Verdict.AC),
    "False": ("False", Verdict.WA),
    "(True, message)": ("(True, 'fine')", Verdict.AC),
    "(False, message)": ("(False, 'why not')", Verdict.WA),
    "numpy's True": ("__import__('numpy').bool_(True)", Verdict.AC),
    "a message of another type": ("(False, 17)", Verdict.WA),
    "None": ("None", Verdict.IE),
    "1": ("1", Verdict.IE),
    "text": ("'yes'", Verdict.IE),
    "a list": ("[True, 'fine']", Verdict.IE),
    "three values": ("(True, 'a', 'b')", Verdict.IE),
    "an object": ("object()", Verdict.IE),
}


@pytest.mark.parametrize(("answer", "verdict"), ANSWERS.values(), ids=ANSWERS.keys())
def test_only_a_bool_is_an_opinion(judged: Judged, answer: str, verdict: Verdict) -> None:
    result = judged("print(1)", problem(f"def check(input, expected, actual): return {answer}"))
    assert result.verdict is verdict
    assert (result.reward is None) == (verdict is Verdict.IE)


BROKEN = {
    "does not compile": "def check(input, expected, actual) return True",
    "defines no check": "x = 1",
    "raises while loading": "1 / 0",
    "raises on everything": "def check(input, expected, actual): raise KeyError(actual)",
    "leaves": "import sys\ndef check(input, expected, actual): sys.exit(0)",
    "dies": "import os\ndef check(input, expected, actual): os._exit(0)",
    "takes other arguments": "def check(expected, actual): return True",
}


@pytest.mark.parametrize("code", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_checker_is_nobodys_wrong_answer(judged: Judged, code: str) -> None:
    result = judged("print(1)", problem(code))
    assert (result.verdict, result.reward) == (Verdict.IE, None)
    assert "checker" in result.message


@pytest.mark.parametrize("expected", ["", "\n"])
def test_where_nothing_is_expected_an_output_that_cannot_be_read_is_wrong(
    judged: Judged, expected: str
) -> None:
    """Else a program could get out of a wrong answer, with a null reward, by printing nonsense."""
    code = "def check(input, expected, actual): return {'1': True}[actual.strip()]"
    assert judged("print(1)", problem(code, expected=expected)).verdict is Verdict.AC
    assert judged("print('nonsense')", problem(code, expected=expected)).verdict is Verdict.WA
    for broken in ("x = 1", "1 / 0", "def check("):
        assert judged("print(1)", problem(broken, expected=expected)).verdict is Verdict.IE


def test_a_checker_that_fails_on_this_output_only_holds_it_against_the_program(judged: Judged) -> None:
    """It can judge the expected output, so it is the program's output that is no good."""
    code = "def check(input, expected, actual): return {'5 5': True}[actual.strip()]"
    assert judged("print('5 5')", problem(code)).verdict is Verdict.AC
    assert judged("print('x')", problem(code)).verdict is Verdict.WA


def test_a_checker_is_asked_only_of_a_run_that_ended_well(judged: Judged) -> None:
    code = "def check(input, expected, actual): return True"
    assert judged("print(1)", problem(code)).verdict is Verdict.AC
    assert judged("print(1)\n1 / 0", problem(code)).verdict is Verdict.RE


HOSTILE = {
    "invalid UTF-8": "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe')",
    "zero bytes": "print('\\0' * 1000)",
    "surrogates": "import sys\nsys.stdout.buffer.write('\\ud800'.encode('utf-8', 'surrogatepass'))",
    "brackets": "print('[' * 100_000)",
    "a huge number": "print('9' * 100_000)",
    "code": "print('__import__(\"os\")._exit(0)')",
    "a forged answer": 'print(\'["accept", ""]\')',
}


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("read", ["actual == expected", "eval(actual) == 1"])
def test_no_output_breaks_a_checker(judged: Judged, code: str, read: str) -> None:
    """Even one that trusts what it reads: it runs in a jail of its own."""
    checker = f"def check(input, expected, actual): return bool({read})"
    result = judged(code, problem(checker, expected="1"))
    assert (result.verdict, result.reward) == (Verdict.WA, 0.0)
    assert result.model_dump_json()


def test_a_checker_sees_input_expected_and_actual(judged: Judged) -> None:
    code = "def check(input, expected, actual): return False, repr((input, expected, actual))"
    result = judged("print('c')", problem(code, "a\r\n", "b\n"))
    assert result.cases[0].feedback == "('a\\n', 'b\\n', 'c\\n')"


def test_a_checker_of_a_call_problem_reads_json(judged: Judged) -> None:
    code = (
        "import json\ndef check(input, expected, actual):\n"
        "    (args, kwargs), got = json.loads(input), json.loads(actual)\n"
        "    return sorted(got) == sorted(args[0])"
    )
    task = {
        "mode": "call",
        "entry_point": "f",
        "comparison": {"checker": {"code": code}},
        "tests": [{"args": [[1, 2, 3]], "expected": None}],
    }
    assert judged("def f(x): return x[::-1]", task).verdict is Verdict.AC
    assert judged("def f(x): return x[1:]", task).verdict is Verdict.WA
    assert judged("def f(x): return [{1}, x]", task).verdict is Verdict.WA


def test_what_a_checker_prints_decides_nothing(judged: Judged) -> None:
    code = "def check(input, expected, actual):\n    print('accept ' * 1000)\n    return False"
    assert judged("print(1)", problem(code)).verdict is Verdict.WA


def test_the_program_cannot_reach_the_checker(judged: Judged) -> None:
    """Files that a program leaves, and names that it defines, are not those of the checker."""
    code = (
        "import os\n"
        "def check(input, expected, actual): return not os.path.exists('/tmp/mark') and 'mark' not in globals()"
    )
    program = "mark = 1\nopen('/tmp/mark', 'w').close()\nprint(1)"
    assert judged(program, problem(code)).verdict is Verdict.AC
