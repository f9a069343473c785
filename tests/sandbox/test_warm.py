"""What stays warm between programs tells them nothing, is replaced when it dies, and does the same without C."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import (
    CallInput,
    End,
    Isolation,
    Limits,
    Outcome,
    Program,
    Sandbox,
    SandboxBrokenError,
    SandboxSettings,
    StdioInput,
    launch,
    open_sandbox,
)
from sandbox.harness import clocks
from sandbox.warm import zygotes
from service.settings import default_python
from service.wire import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMITS = Limits(cpu_time_s=4.0, wall_time_s=20.0, memory_bytes=512 << 20, output_bytes=4 << 20)


@pytest.fixture(scope="module", params=["compiled", "python"])
def warm(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Give a warm sandbox with the compiled helper, and one that does without it."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "python":
            patch.setattr(launch, "native_helper", lambda: "")
        with open_sandbox(SandboxSettings(python=default_python())) as opened:
            assert opened.describe()["helper"] == request.param
            yield opened


def _printed(sandbox: Sandbox, source: str, *inputs: bytes, isolation: Isolation = "reuse") -> list[bytes]:
    with sandbox.session(Program(source), LIMITS, isolation=isolation) as session:
        results = [session.run(StdioInput(given), LIMITS) for given in inputs or [b""]]
    assert all((result.end, result.exit_code) == (End.EXITED, 0) for result in results), results
    return [result.stdout for result in results]


@pytest.mark.parametrize("isolation", ["reuse", "strict"])
def test_with_and_without_the_helper_programs_run_alike(warm: Sandbox, isolation: Isolation) -> None:
    assert _printed(warm, "print(int(input()) * 2)", b"1\n", b"2\n", isolation=isolation) == [b"2\n", b"4\n"]
    program = Program("def f(x): return [x, {x: 1.5}]", mode="call", entry_point="f")
    with warm.session(program, LIMITS, isolation=isolation) as session:
        values = [session.run(CallInput((n,)), LIMITS).value for n in (1, 2)]
    assert values == [[1, {1: 1.5}], [2, {2: 1.5}]]


ENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "an exit code": ("import sys; sys.exit(7)", {"end": End.EXITED, "exit_code": 7}),
    "an exception": ("1 / 0", {"end": End.EXITED, "exit_code": 1, "outcome": Outcome.RAISED}),
    "an end without farewell": ("import os; print('x', flush=True); os._exit(3)", {"exit_code": 3}),
    "its own signal": ("import os; os.kill(os.getpid(), 9)", {"end": End.SIGNALED, "signal": 9}),
    "an abort": ("import os; os.abort()", {"end": End.SIGNALED, "signal": signal.SIGABRT}),
    "a loop": ("while True: pass", {"end": End.CPU_LIMIT}),
    "a flood": ("while True: print('x' * 9999)", {"end": End.OUTPUT_LIMIT}),
    "too much memory": ("a = [bytearray(b'x') * (1 << 26) for _ in range(99)]", {"end": End.MEMORY_LIMIT}),
}


@pytest.mark.parametrize("isolation", ["reuse", "strict"])
@pytest.mark.parametrize(("source", "facts"), ENDS.values(), ids=ENDS.keys())
def test_with_and_without_the_helper_programs_end_alike(
    warm: Sandbox, isolation: Isolation, source: str, facts: dict[str, Any]
) -> None:
    limits = Limits(cpu_time_s=0.4, wall_time_s=20.0, memory_bytes=256 << 20, output_bytes=1 << 20)
    with warm.session(Program(source), limits, isolation=isolation) as session:
        results = [session.run(StdioInput(), limits) for _ in range(2)]
    for result in results:
        assert {name: getattr(result, name) for name in facts} == facts


def test_a_process_is_used_again_only_while_it_is_as_new(warm: Sandbox) -> None:
    """What a test leaves where the next would find it costs the process its further tests."""
    traces = [
        "pass",
        "open('left', 'w')",
        "open('/tmp/left', 'w')",
        "open('/dev/shm/left', 'w')",
        "os.open('/dev/null', 0)",
    ]
    source = "import os\nprint(os.listdir('.'), os.listdir('/tmp'), os.listdir('/dev/shm'))\nexec(input())"
    for trace in traces:
        with warm.session(Program(source), LIMITS) as session:
            first, second = (session.run(StdioInput(trace.encode()), LIMITS) for _ in range(2))
        assert not first.reused
        assert second.reused == (trace == "pass"), trace
        assert first.stdout == second.stdout == b"[] [] []\n"


def test_a_fresh_run_can_be_had_at_any_time(warm: Sandbox) -> None:
    source = "import math\nprint(hasattr(math, 'mark'))\nmath.mark = 1"
    with warm.session(Program(source), LIMITS) as session:
        runs = [session.run(StdioInput(), LIMITS, fresh=fresh) for fresh in (False, False, True, False)]
    assert [run.reused for run in runs] == [False, True, False, True]
    assert [run.stdout for run in runs] == [b"False\n", b"True\n", b"False\n", b"True\n"]


def test_programs_that_outlive_their_tests_get_a_process_for_each(warm: Sandbox) -> None:
    for source in ("import threading", "import signal", "import atexit", "import os; os.environ"):
        with warm.session(Program(source), LIMITS) as session:
            assert session.isolation == "strict"
    with warm.session(Program("import sys, math, os, random"), LIMITS) as session:
        assert session.isolation == "reuse"


def test_nothing_of_a_program_is_in_the_memory_of_the_next(warm: Sandbox) -> None:
    """Source, input and output of earlier programs went through the same zygote."""
    secret = "zebra:" + "0123456789abcdef" * 2
    _printed(warm, f"# {secret}\ntext = '{secret}'\nprint(input(), text)", f"{secret}\n".encode())
    scan = r"""
import re
found = set()
with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', buffering=0) as memory:
    for line in maps:
        span, rights = line.split()[:2]
        low, high = (int(end, 16) for end in span.split('-'))
        if 'r' in rights and high - low < 1 << 28 and '[v' not in line:
            try:
                memory.seek(low)
                found |= set(re.findall(rb'zebra:[0-9a-f]{32}', memory.read(high - low)))
            except (OSError, OverflowError):
                pass
own = ('zebra:' + 'f' * 32).encode()
print(sorted(found - {own}))
"""
    for isolation in ("reuse", "strict"):
        assert _printed(warm, scan, isolation=isolation) == [b"[]\n"]
    witness = f"kept = 'zebra:' + '{'1' * 32}'\n" + scan
    assert _printed(warm, witness) == [f"[b'zebra:{'1' * 32}']\n".encode()]


def test_forked_processes_do_not_repeat_each_others_random_numbers(warm: Sandbox) -> None:
    for source in ("import random\nprint(random.random())", "import numpy as np\nprint(np.random.random())"):
        for isolation in ("reuse", "strict"):
            drawn = {_printed(warm, source, isolation=isolation)[0] for _ in range(3)}
            assert len(drawn) == 3


def test_a_run_cannot_reach_what_its_template_says(warm: Sandbox) -> None:
    """Whatever a run writes to whatever descriptor, the facts are those of the run."""
    source = """
import os, socket
for fd in range(3, 256):
    for message in (b"d1", b"e", b"status 0\\ncpu_time_s 0.0\\nmemory_peak_bytes 0\\nclean True"):
        try: os.write(fd, message)
        except OSError: pass
for pid in (1, os.getppid()):
    for number in (9, 15, 19):
        try: os.kill(pid, number)
        except OSError: pass
print(input())
raise SystemExit(5)
"""
    with warm.session(Program(source), LIMITS, isolation="strict") as session:
        results = [session.run(StdioInput(word), LIMITS) for word in (b"one\n", b"two\n")]
    assert [(result.exit_code, result.stdout) for result in results] == [(5, b"one\n"), (5, b"two\n")]


def _kill_zygotes() -> None:
    """Kill the zygotes below this process: they have a user of their own."""
    found = [
        pid
        for pid in clocks.descendants(os.getpid())
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("Uid:") and line.split()[1] == "65532"
    ]
    assert found
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(os.geteuid() != 0, reason="zygotes have a user of their own only where this is root")
def test_a_zygote_that_dies_is_replaced(warm: Sandbox) -> None:
    with warm.session(Program("print(input())"), LIMITS) as session:
        assert session.run(StdioInput(b"a\n"), LIMITS).stdout == b"a\n"
        _kill_zygotes()
        with pytest.raises(SandboxBrokenError):
            session.run(StdioInput(b"b\n"), LIMITS, fresh=True)
    assert _printed(warm, "print(input())", b"c\n") == [b"c\n"]


@pytest.mark.skipif(os.geteuid() != 0, reason="zygotes have a user of their own only where this is root")
def test_a_submission_whose_zygote_dies_is_judged_again(warm: Sandbox, judged: Callable[..., Any]) -> None:
    killer = threading.Timer(0.3, _kill_zygotes)
    killer.start()
    tests = [{"input": f"{n}\n", "expected": f"{n}\n"} for n in range(4)]
    code = "n = input()\nfor _ in range(3_000_000): pass\nprint(n)"
    judgement = judged(code, {"mode": "stdio", "tests": tests}, within=warm)
    killer.join()
    assert judgement.verdict is Verdict.AC


def test_a_zygote_that_has_grown_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    others = set(clocks.descendants(os.getpid()))
    with open_sandbox(SandboxSettings(python=default_python())) as opened:
        before = set(clocks.descendants(os.getpid())) - others
        for _ in range(60):
            assert _printed(opened, "print(1)") == [b"1\n"]
        assert before & set(clocks.descendants(os.getpid()))  # as it is, it stays
        monkeypatch.setattr(zygotes, "MAX_GROWTH", 0.5)
        for _ in range(60):
            assert _printed(opened, "print(1)") == [b"1\n"]
        assert not before & set(clocks.descendants(os.getpid()))


def test_a_zygote_serves_so_many_programs_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_sandbox(SandboxSettings(python=default_python())) as opened:
        monkeypatch.setattr(zygotes, "MAX_USES", 3)
        seen = set()
        for n in range(12):
            assert _printed(opened, f"print({n})") == [f"{n}\n".encode()]
            seen |= set(clocks.descendants(os.getpid()))
    assert len(seen) >= 2 * (12 // 3)
