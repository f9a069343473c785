"""Programs that attack their judge: no wrong one passes, none makes the judge fail, none harms what runs beside it.

Every attack here worked once, or is a near relative of one that did.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from service.wire import Judgement, Verdict

Judge = Callable[..., Judgement]

# Reads the test's text where it can, and forges a record where it may.
FORGE_WHEN_SHARED = """
import os
try:
    text = os.pread(4, 1 << 16, 0)
except OSError:
    text = b""
if b"assert" in text:
    os.write(3, b'{"outcome":"%s"}\\n')
    os._exit(0)
"""
# Talks to the tester in its own language, in place of the harness.
FRAMES = """
import json, os, struct
def send(*flat):
    data = json.dumps(flat).encode()
    os.write(4, struct.pack(">I", len(data)) + data)
def receive():
    size, = struct.unpack(">I", os.read(4, 4))
    while size:
        size -= len(os.read(4, size))
def answer(number, value):
    return ["t", 2], "value", ["o", "object", [number, "function"]]
"""
# Writes a record in place of the harness.
REPORT = """
import os
def report(value):
    data = memoryview(b'{"outcome":"returned","value":[' + value + b']}\\n')
    while data:
        data = data[os.write(3, data):]
    os._exit(0)
def f(x): pass
"""


def assertion(code: str, **fields: Any) -> dict[str, Any]:
    """Return a problem of one test."""
    return {"mode": "assert", "tests": [{"code": code}], **fields}


def calling(expected: Any = "unguessable", **fields: Any) -> dict[str, Any]:
    """Return a problem that calls ``f(1)`` once."""
    return {
        "mode": "call",
        "entry_point": "f",
        "tests": [{"args": [1], "expected": expected}],
        "limits": {"cpu_time_s": 3, "memory_bytes": 1 << 29, "output_bytes": 16 << 20},
        **fields,
    }


def printing(*expected: str, **fields: Any) -> dict[str, Any]:
    """Return a problem of tests without input."""
    return {"mode": "stdio", "tests": [{"input": "", "expected": text} for text in expected], **fields}


def test_a_program_cannot_add_names_to_a_test(judged: Judge) -> None:
    """An answer may hold more names than were asked for; a test's ``abs`` stays what it is."""
    forged = FRAMES + (
        'send(["t", 1], "ready")\n'
        "receive()\n"
        'send(["t", 2], "value", ["m", 2], "f", *answer(0, "f"), "abs", *answer(1, "abs"))\n'
        "while True:\n"
        "    receive()\n"
        '    send(["t", 3], "value", 0.0, ["m", 0])\n'
    )
    assert judged(forged, assertion("assert abs(f(1) - 3.5) < 1e-6")).verdict is not Verdict.AC


def test_a_program_cannot_bring_about_sharing(judged: Judge) -> None:
    """A test that passes plain data is never run beside the program, whatever that answers."""
    forged = (
        FORGE_WHEN_SHARED % "passed"
        + FRAMES.replace("%", "%%")
        + (
            'send(["t", 1], "ready")\n'
            "receive()\n"
            'send(["t", 2], "value", ["m", 2], "f", *answer(0, "f"), "isinstance", *answer(1, "isinstance"))\n'
            "while True:\n"
            "    receive()\n"
            '    send(["t", 3], "value", 0.0, ["m", 0])\n'
        )
    )
    judgement = judged(forged, assertion("assert isinstance(f(1), int) and f(1) == 3"))
    assert judgement.verdict is not Verdict.AC
    assert judgement.isolation != "shared"


@pytest.mark.parametrize("outcome", ["broken-test", "needs-sharing"])
def test_beside_a_test_a_program_cannot_call_the_test_broken(judged: Judge, outcome: str) -> None:
    """A broken test is nobody's fault and has no reward; a program must not get there by saying so."""
    code = FORGE_WHEN_SHARED % outcome + "def f(x): return 0\n"
    assert judged(code, assertion("class A: pass\nassert f(A()) == 1")).verdict is Verdict.RE


def test_a_failed_assertion_counts_though_the_program_swallows_it(judged: Judge) -> None:
    """A test may hand over a function that asserts; the program is what calls it, not what decides."""
    test = "def give(x):\n    assert x == 1\n    return x\nassert f(give) == 3"
    swallowing = (
        "def f(give):\n    try:\n        give(5)\n    except BaseException:\n        pass\n    return 3\n"
    )
    assert judged(swallowing, assertion(test)).verdict is Verdict.WA
    assert judged("def f(give): return give(1) + 2\n", assertion(test)).verdict is Verdict.AC


@pytest.mark.parametrize(
    "value",
    [
        pytest.param('b\'["s",1],\' + b\'["t",1],\' * 400000 + b"1"', id="a tuple too deep to hash"),
        pytest.param('b\'["m",1],\' + b\'["t",1],\' * 400000 + b"1,1"', id="a key too deep to hash"),
        pytest.param(
            'b\'["s",200000],\' + b",".join(b\'["x","%x"]\' % (n * (2**61 - 1)) for n in range(1, 200001))',
            id="integers of one hash",
        ),
        pytest.param('b"[]," * 1000000 + b"[]"', id="a million empty items"),
        pytest.param('b"[" * 100000', id="nesting that is no value"),
    ],
)
def test_a_forged_result_neither_kills_nor_stalls_the_judge(judged: Judge, value: str) -> None:
    """What a program writes as its result is read outside the jail, in bounded time and stack."""
    started = time.process_time()
    assert judged(REPORT + f"report({value})\n", calling()).verdict is Verdict.RE
    assert time.process_time() - started < 10.0  # the unguarded reader takes minutes, or dies


def test_an_output_far_longer_than_the_answer_is_not_read(judged: Judge) -> None:
    """A flood of brackets costs the judge no more than any flood; blanks are no length."""
    flood = "import sys\nsys.stdout.write('[' * 1500000 + ']' * 1500000)\n"
    started = time.process_time()
    assert judged(flood, printing("[[1]]")).verdict is Verdict.WA
    assert time.process_time() - started < 1.0
    assert judged("print('[[1]]' + '\\n' * 3000000)\n", printing("[[1]]")).verdict is Verdict.AC


@pytest.mark.parametrize(
    "body",
    ["{(1, 2): 3}", "10 ** 6000", "__import__('functools').reduce(lambda a, _: [a], range(100000), 1)"],
    ids=["keys that JSON lacks", "a long integer", "deep nesting"],
)
def test_a_result_that_no_checker_can_be_told_of_is_wrong(judged: Judge, body: str) -> None:
    """The checker sees JSON; what has none is a wrong answer, not a failure of ours."""
    checker = {"checker": {"code": "def check(input, expected, actual): return expected == actual"}}
    assert judged(f"def f(x): return {body}\n", calling(comparison=checker)).verdict is Verdict.WA
    assert judged("def f(x): return 'unguessable'\n", calling(comparison=checker)).verdict is Verdict.AC


def test_a_long_compiler_message_is_a_compile_error(judged: Judge) -> None:
    """The compiler may quote a name of any length in characters of four bytes."""
    name = "\U00020000" * 7990
    assert judged(f"def f({name}, {name}): pass\n", printing("x")).verdict is Verdict.CE


def test_cpu_time_of_children_counts_though_nobody_waits_for_them(judged: Judge) -> None:
    """A program that ignores the death of its children would hide what they used."""
    code = (
        "import os, signal, time\n"
        "try:\n"
        "    signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "except OSError:\n"
        "    pass\n"
        "for _ in range(3):\n"
        "    if (pid := os.fork()) == 0:\n"
        "        while time.process_time() < 0.5: pass\n"
        "        os._exit(0)\n"
        "    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)\n"
        "print('x')\n"
    )
    limits = {"cpu_time_s": 0.8, "wall_time_s": 30.0}
    assert judged(code, printing("x", limits=limits)).verdict is Verdict.TLE


def test_the_users_share_of_watches_cannot_be_used_up(judged: Judge) -> None:
    """File watches are counted for the user who runs the service, so programs get none."""
    code = "import ctypes\nprint(ctypes.CDLL(None).inotify_init1(0))\n"
    assert judged(code, printing("-1")).verdict is Verdict.AC


def test_a_crash_starts_no_program_on_the_host(judged: Judge) -> None:
    """With a core limit of 1 the kernel neither writes a dump nor pipes one to the host's handler."""
    code = "import resource\nprint(*resource.getrlimit(resource.RLIMIT_CORE))\n"
    assert judged(code, printing("1 1")).verdict is Verdict.AC


@pytest.mark.parametrize(
    "trace",
    [
        "os.chmod('/box', 0)",
        "os.chmod('/box', 0o1777)",
        "os.utime('/box', (5, 5))",
        "os.utime('/box/tmp', (5, 5))",
    ],
)
def test_modes_and_times_tell_the_next_run_nothing(judged: Judge, trace: str) -> None:
    """The folders of a run look new, whatever the run before did to them."""
    code = (
        "import os\n"
        "states = [os.stat(path) for path in ('/box', '/box/tmp')]\n"
        "print([oct(state.st_mode) for state in states], all(state.st_mtime > 1000 for state in states))\n"
        f"{trace}\n"
    )
    line = "['0o40777', '0o40777'] True\n"
    assert judged(code, printing(line, line)).verdict is Verdict.AC
