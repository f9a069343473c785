"""What once broke warm processes, in every way of running: none of it may work again."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import AssertInput, CallInput, End, Limits, Program, Sandbox, StdioInput
from service.wire import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from service import wire

LIMITS = Limits(cpu_time_s=1.0, wall_time_s=10.0, memory_bytes=256 << 20, output_bytes=1 << 20)
SYSCALL = "import ctypes\nsyscall = ctypes.CDLL(None, use_errno=True).syscall\n"


def run(sandbox: Sandbox, source: str, stdin: bytes = b"", limits: Limits = LIMITS) -> Any:
    with sandbox.session(Program(source), limits) as session:
        return session.run(StdioInput(stdin), limits)


def test_the_end_of_children_cannot_be_ignored_by_a_number_with_more_bits(sandbox: Sandbox) -> None:
    """The kernel looks at the low half of the signal's number; a filter sees all of it."""
    source = SYSCALL + (
        "import struct\naction = ctypes.create_string_buffer(struct.pack('QQQQ', 1, 0, 0, 0))\n"
        "print([syscall(13, ctypes.c_long(17 | high << 32), action, 0, 8) for high in (0, 1, 255)])"
    )
    assert run(sandbox, source).stdout == b"[-1, -1, -1]\n"


def test_children_cannot_be_given_to_whoever_forked_the_program(sandbox: Sandbox) -> None:
    source = SYSCALL + (
        "import os\nfor flags in (0x8000 | 17, 0x8000, 0x8000 | 0x10000 | 17):\n"
        "    pid = syscall(56, ctypes.c_long(flags), 0, 0, 0, 0)\n    if pid == 0: os._exit(0)\n    print(pid)"
    )
    started = time.monotonic()
    for _ in range(2):
        assert run(sandbox, source).stdout == b"-1\n-1\n-1\n"
    assert time.monotonic() - started < 8


@pytest.mark.parametrize(
    ("source", "end"),
    [
        (
            "import sys, time\nwhile True:\n    print('.', file=sys.stderr, flush=True)\n    time.sleep(0.05)",
            End.WALL_LIMIT,
        ),
        ("import sys\nwhile True: print('debug', file=sys.stderr)", End.CPU_LIMIT),
        ("import os\nwhile True: os.write(2, b'.')", End.CPU_LIMIT),
        (
            "import os\nwhile True:\n    try: os.write(103, b'p')\n    except OSError: pass",
            (End.CPU_LIMIT, End.OUTPUT_LIMIT, End.SIGNALED),
        ),
    ],
    ids=["ticking", "prints", "bytes", "empty messages"],
)
def test_a_program_that_writes_all_the_time_keeps_no_clock_from_being_read(
    sandbox: Sandbox, source: str, end: End | tuple[End, ...]
) -> None:
    limits = Limits(cpu_time_s=0.5, wall_time_s=1.0, memory_bytes=256 << 20, output_bytes=16 << 20)
    started = time.monotonic()
    ended = run(sandbox, source, limits=limits).end
    assert ended in (*(end if isinstance(end, tuple) else (end,)), End.WALL_LIMIT)
    assert time.monotonic() - started < 8


def test_memory_that_one_program_was_killed_for_is_not_the_next_ones(sandbox: Sandbox) -> None:
    hog = Program("def f(): return [bytearray(1 << 20) for _ in range(400)]", mode="assert")
    huge = Program("{" + "1:1," * 1_500_000 + "}")
    tight = Limits(cpu_time_s=10.0, wall_time_s=40.0, memory_bytes=64 << 20, output_bytes=1 << 20)
    for _ in range(2):
        with sandbox.session(hog, tight) as session:
            session.run(AssertInput("assert f()"), tight)
        with sandbox.session(huge, tight) as session:
            assert not session.compiled.ok
        result = run(sandbox, "for _ in range(10 ** 6): pass\nprint(1)", limits=tight)
        assert (result.end, result.stdout) == (End.EXITED, b"1\n")


def test_flags_that_a_test_sets_on_its_input_do_not_touch_the_next(sandbox: Sandbox) -> None:
    source = "import fcntl, os\nfcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)\nprint(input())"
    with sandbox.session(Program(source), LIMITS) as session:
        printed = [session.run(StdioInput(word + b"\n"), LIMITS).stdout for word in (b"one", b"three", b"2")]
    assert printed == [b"one\n", b"three\n", b"2\n"]


IDIOMS = {
    "detached output": "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach())\nprint(input())",
    "wrapped output": "import codecs, sys\nsys.stdout = codecs.getwriter('utf-8')(sys.stdout.detach())\nprint(input())",
    "detached input": "import io, sys\nsys.stdin = io.TextIOWrapper(sys.stdin.detach())\nprint(input())",
    "reopened input": "import sys\nsys.stdin = open(0)\nprint(input())",
    "closed input": "import sys\nword = input()\nsys.stdin.close()\nprint(word)",
    "closed output": "import os, sys\nprint(input(), flush=True)\nsys.stdout.close()",
    "all descriptors closed": "import os\nword = input()\nprint(word, flush=True)\nos.closerange(3, 256)",
    "a finalizer with globals": "X = 'x'\nclass A:\n    def __del__(self): print(word)\nword = input()\na = A()",
    "a big exit code": "import sys\nprint(input())\nsys.exit(0)",
}


@pytest.mark.parametrize("source", IDIOMS.values(), ids=IDIOMS.keys())
def test_idioms_work_test_after_test(sandbox: Sandbox, source: str) -> None:
    with sandbox.session(Program(source), LIMITS) as session:
        results = [session.run(StdioInput(word + b"\n"), LIMITS) for word in (b"one", b"two", b"three")]
    assert [(result.exit_code, result.stdout) for result in results] == [
        (0, b"one\n"),
        (0, b"two\n"),
        (0, b"three\n"),
    ]


def test_an_exit_code_beyond_a_long_is_no_success(sandbox: Sandbox) -> None:
    assert run(sandbox, "import sys\nsys.exit(1 << 70)").exit_code == 255


ORACLE = "import math\nprint('YES' if hasattr(math, 'seen') else 'NO')\nmath.seen = 1\ninput()"


def test_a_second_try_in_a_fresh_process_is_no_second_guess(judged: Callable[..., wire.Judgement]) -> None:
    """A program that answers differently when it is used again and when it is fresh must not get the better of both."""
    answers = ["NO", "YES", "NO", "NO", "YES", "NO", "YES", "NO"]
    tests = [{"input": f"{n}\n", "expected": f"{answer}\n"} for n, answer in enumerate(answers)]
    judgement = judged(ORACLE, {"mode": "stdio", "tests": tests})
    assert judgement.verdict is Verdict.WA
    assert judgement.isolation == "strict"


def test_a_right_program_that_only_stumbles_over_its_own_traces_passes(
    judged: Callable[..., wire.Judgement],
) -> None:
    code = "import math\nif hasattr(math, 'seen'): print('stale')\nelse: print(input())\nmath.seen = 1"
    tests = [{"input": f"{n}\n", "expected": f"{n}\n"} for n in range(4)]
    assert judged(code, {"mode": "stdio", "tests": tests}).verdict is Verdict.AC


def test_a_call_that_closes_every_descriptor_harms_only_itself(sandbox: Sandbox) -> None:
    program = Program("import os\ndef f(): os.closerange(3, 256)", mode="call", entry_point="f")
    with sandbox.session(program, LIMITS) as session:
        assert session.run(CallInput(), LIMITS).value is None
    assert run(sandbox, "print(1)").stdout == b"1\n"


@pytest.mark.parametrize(
    "flood", ["print('x' * (3 << 20))", "print('x' * 200000)", "os.write(2, b'x' * (80 << 20))"]
)
def test_what_one_test_writes_beyond_its_limit_is_not_read_as_the_next_ones_output(
    sandbox: Sandbox, flood: str
) -> None:
    source = f"import os\nif input() == 'flood': {flood}\nelse: print('mine')"
    limits = dataclasses.replace(LIMITS, output_bytes=100_000)
    with sandbox.session(Program(source), limits) as session:
        for _ in range(3):
            assert session.run(StdioInput(b"flood\n"), limits).end is End.OUTPUT_LIMIT
            after = session.run(StdioInput(b"\n"), limits)
            assert (after.end, after.stdout, after.stderr) == (End.EXITED, b"mine\n", b"")
