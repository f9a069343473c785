"""Limits as facts: which one ended a run, and that nothing of it is felt by the next one."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from sandbox import End, Limits, Program, RunResult, Sandbox, Session, StdioInput
from tests.loaded import loaded_machine

Script = Callable[..., RunResult]

LIMITS = Limits(cpu_time_s=3.0, wall_time_s=15.0, memory_bytes=256 << 20, output_bytes=1 << 20)
# Runs whatever it is given, so that one session serves many programs.
ANYTHING = "exec(open(0).read())"


@pytest.fixture(scope="module")
def session(sandbox: Sandbox) -> Iterator[Session]:
    """Give one session that all runs of this file share."""
    with sandbox.session(Program(ANYTHING), LIMITS) as opened:
        yield opened


CPU = {
    "a loop": "while True: pass",
    "a loop that swallows everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "signals ignored": (
        "import signal\nfor s in (signal.SIGXCPU, signal.SIGALRM, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\n"
        "while True: pass"
    ),
    "a long call into C": "sum(range(10 ** 12))",
    "backtracking": "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')",
    "threads": (
        "import hashlib, threading\nb = b'x' * (1 << 22)\ndef work():\n    while True: hashlib.sha256(b).digest()\n"
        "for _ in range(4): threading.Thread(target=work).start()"
    ),
    "child processes": "import os\nos.fork()\nos.fork()\nwhile True: pass",
    "a child that works while the parent waits": (
        "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()"
    ),
    "children one after the other": (
        "import os, time\nwhile True:\n    if os.fork() == 0:\n        end = time.process_time() + 0.1\n"
        "        while time.process_time() < end: pass\n        os._exit(0)\n    os.wait()"
    ),
    "faked clocks": (
        "import time\nfor name in ('time', 'monotonic', 'process_time'): setattr(time, name, lambda: 0)\n"
        "while True: pass"
    ),
    "an endless exit handler": "import atexit\ndef spin():\n    while True: pass\natexit.register(spin)",
}


@pytest.mark.parametrize("source", CPU.values(), ids=CPU.keys())
def test_cpu_time_of_the_whole_run_is_limited(session: Session, source: str) -> None:
    result = session.run(StdioInput(source.encode()), replace(LIMITS, cpu_time_s=0.3))
    assert result.end is End.CPU_LIMIT
    assert 0.3 <= result.cpu_time_s < 3


def test_work_within_the_cpu_limit_is_measured(session: Session) -> None:
    source = b"import time\nwhile time.process_time() < 0.2: pass\nprint('done')"
    result = session.run(StdioInput(source), LIMITS)
    assert (result.end, result.stdout) == (End.EXITED, b"done\n")
    assert 0.15 <= result.cpu_time_s < 2


WORKERS = {
    "the program itself": "work()",
    "a thread with a deep stack": (
        "import threading\nthreading.stack_size(1 << 26)\nthread = threading.Thread(target=work)\nthread.start()\n"
        "thread.join()"
    ),
    "a child process": "import os\nif os.fork() == 0:\n    work()\n    os._exit(0)\nos.wait()",
}


@pytest.mark.parametrize("worker", WORKERS.values(), ids=WORKERS.keys())
def test_what_others_on_a_loaded_machine_make_it_cost_is_no_programs_fault(
    session: Session, worker: str
) -> None:
    source = (
        "import time\ndef work():\n    end = time.process_time() + 0.33\n"
        f"    while time.process_time() < end: pass\n{worker}"
    )
    with loaded_machine():
        result = session.run(StdioInput(source.encode()), replace(LIMITS, cpu_time_s=0.3))
    assert result.end is End.EXITED
    assert 0.3 < result.cpu_time_s < 0.375
    assert result.cpu_limit_s == 1.25 * 0.3


def test_a_loaded_machine_gives_no_more_than_a_quarter_to_what_does_not_end(session: Session) -> None:
    with loaded_machine():
        result = session.run(StdioInput(b"while True: pass"), replace(LIMITS, cpu_time_s=0.3))
    assert result.end is End.CPU_LIMIT
    assert 0.375 <= result.cpu_time_s < 0.6


WALL = {
    "sleeping": "import time\ntime.sleep(1000)",
    "stopping itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "waiting for a lock": "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    "waiting for an end of its own pipe": "import os\nr, w = os.pipe()\nos.read(r, 1)",
    "a thread that never ends": "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()",
    "waiting for a child that sleeps": "import subprocess\nsubprocess.run(['sleep', '1000'])",
}


@pytest.mark.parametrize("source", WALL.values(), ids=WALL.keys())
def test_wall_time_ends_what_uses_no_cpu_time(session: Session, source: str) -> None:
    result = session.run(StdioInput(source.encode()), replace(LIMITS, wall_time_s=0.4))
    assert result.end is End.WALL_LIMIT
    assert 0.4 <= result.wall_time_s < 10


MEMORY = {
    "a list": "a = []\nwhile True: a.append([0] * 100_000)",
    "a string": "s = 'x'\nwhile True: s += s",
    "numpy": "import numpy\na = []\nwhile True: a.append(numpy.ones(1 << 20))",
    "one allocation": "a = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): a[i] = 1",
    "an allocation beyond any machine": "a = bytearray(1 << 60)",
    "a thread": (
        "import threading\na = []\ndef work():\n    while True: a.append(bytearray(1 << 20))\n"
        "t = threading.Thread(target=work)\nt.start()\nt.join()\nraise MemoryError"
    ),
}


@pytest.mark.parametrize("source", MEMORY.values(), ids=MEMORY.keys())
def test_memory_is_limited(session: Session, source: str) -> None:
    result = session.run(StdioInput(source.encode()), LIMITS)
    assert result.end is End.MEMORY_LIMIT


TREES = {
    "processes that are small alone": (
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        a = b'x' * (80 << 20)\n"
        "        time.sleep(1000)\nos.wait()"
    ),
    "files in memory": (
        "import os\nb = b'x' * (1 << 20)\nkept = []\nwhile True:\n    kept.append(os.memfd_create('a'))\n"
        "    for _ in range(60): os.write(kept[-1], b)"
    ),
    "files of the run and memory together": (
        "b = b'x' * (1 << 20)\nwith open('/tmp/a', 'wb') as f:\n    for _ in range(60): f.write(b)\n"
        "a = []\nfor _ in range(300): a.append(bytearray(b))"
    ),
}


@pytest.mark.parametrize("source", TREES.values(), ids=TREES.keys())
def test_memory_of_a_whole_tree_of_processes_is_limited_where_groups_exist(
    sandbox: Sandbox, session: Session, source: str
) -> None:
    if sandbox.describe()["memory"] == "rlimit-per-process":
        pytest.skip("memory groups cannot be made here")
    result = session.run(StdioInput(source.encode()), LIMITS)
    assert result.end in {End.MEMORY_LIMIT, End.EXITED}
    assert result.end is End.MEMORY_LIMIT or result.exit_code != 0


@pytest.mark.parametrize(
    ("source", "at_least"),
    [("pass", 0), ("a = bytearray(b'x') * (100 << 20)", 100 << 20)],
    ids=["next to nothing", "100 MiB"],
)
def test_memory_within_the_limit_is_measured(session: Session, source: str, at_least: int) -> None:
    result = session.run(StdioInput(source.encode()), LIMITS)
    assert (result.end, result.exit_code) == (End.EXITED, 0)
    assert result.memory_peak_bytes is not None
    slack = 1 << 20  # the kernel counts pages by the batch
    assert at_least - slack <= result.memory_peak_bytes < at_least + (100 << 20)


def test_a_program_that_catches_memory_errors_goes_on(session: Session) -> None:
    source = b"try: bytearray(1 << 60)\nexcept MemoryError: print('caught')"
    result = session.run(StdioInput(source), LIMITS)
    assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, b"caught\n")


OUTPUT = {
    "a flood on standard output": "while True: print('x' * 1000)",
    "a flood that ignores every error": (
        "import os, signal\nfor s in (signal.SIGXFSZ, signal.SIGPIPE): signal.signal(s, signal.SIG_IGN)\n"
        "while True:\n    try: os.write(1, b'x' * 65536)\n    except OSError: pass"
    ),
    "one byte too many": "import os\nos.write(1, b'x' * ((1 << 20) + 1))",
    "one write": "print('x' * (20 << 20))",
    "a child": "import subprocess\nsubprocess.run(['cat', '/dev/zero'])",
    "a flood on standard error": "import os\nwhile True: os.write(2, b'x' * (1 << 20))",
}


@pytest.mark.parametrize("source", OUTPUT.values(), ids=OUTPUT.keys())
def test_output_is_limited(session: Session, source: str) -> None:
    result = session.run(StdioInput(source.encode()), LIMITS)
    assert result.end is End.OUTPUT_LIMIT
    assert len(result.stdout) <= LIMITS.output_bytes
    assert len(result.stderr) < 70_000


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.write(1, b'x' * (1 << 20))",
        "import sys\nfor _ in range(1 << 10): sys.stdout.write('x' * 1024)",
    ],
    ids=["in one write", "in many"],
)
def test_output_up_to_the_limit_is_whole(session: Session, source: str) -> None:
    result = session.run(StdioInput(source.encode()), LIMITS)
    assert (result.end, len(result.stdout), result.stdout_cut) == (End.EXITED, 1 << 20, False)


def test_standard_output_cannot_be_taken_back(session: Session) -> None:
    source = (
        b"import os\nprint('first', flush=True)\n"
        b"for take_back in (lambda: os.lseek(1, 0, 0), lambda: os.ftruncate(1, 0), lambda: os.pwrite(1, b'x', 0),\n"
        b"                  lambda: os.truncate('/dev/stdout', 1 << 40)):\n"
        b"    try: take_back()\n    except OSError: print('refused', flush=True)"
    )
    assert session.run(StdioInput(source), LIMITS).stdout == b"first\n" + b"refused\n" * 4


@pytest.mark.parametrize("allowed", [4, 12])
def test_the_number_of_processes_is_limited(session: Session, allowed: int) -> None:
    source = (
        b"import os, time\nn = 0\ntry:\n    while n < 200:\n        if os.fork() == 0: time.sleep(1000)\n"
        b"        n += 1\nexcept OSError: pass\nprint(n)"
    )
    result = session.run(StdioInput(source), replace(LIMITS, processes=allowed))
    assert result.end is End.EXITED
    assert allowed - 3 <= int(result.stdout) <= allowed + 3


@pytest.mark.parametrize(
    "source",
    [
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        (
            "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(9,)).start()\n"
            "    except RuntimeError: pass"
        ),
    ],
    ids=["processes", "threads"],
)
def test_a_bomb_ends_at_the_limits(session: Session, source: str) -> None:
    limits = replace(LIMITS, cpu_time_s=0.3, wall_time_s=1.5, processes=8)
    result = session.run(StdioInput(source.encode()), limits)
    assert result.end in {End.CPU_LIMIT, End.WALL_LIMIT, End.MEMORY_LIMIT}


@pytest.mark.parametrize(
    "folder", [".", "/tmp", pytest.param("/dev/shm", marks=pytest.mark.jail), "/var/tmp"]
)
def test_a_full_disk_is_an_error_that_the_program_sees(session: Session, folder: str) -> None:
    source = (
        f"import errno, os\nn = 0\ntry:\n    while n < 300:\n        with open(f'{folder}/{{n}}', 'wb') as f:\n"
        "            f.write(b'x' * (1 << 20))\n        n += 1\n"
        "except OSError as error: print(errno.errorcode[error.errno], 50 < n < 70)"
    )
    result = session.run(StdioInput(source.encode()), replace(LIMITS, memory_bytes=512 << 20))
    assert result.stdout == b"ENOSPC True\n"


def test_a_disk_full_of_names_is_an_error_that_the_program_sees(session: Session) -> None:
    source = (
        b"import errno\ntry:\n    for n in range(100_000): open(f'{n}', 'w').close()\n"
        b"except OSError as error: print(errno.errorcode[error.errno])"
    )
    assert session.run(StdioInput(source), LIMITS).stdout == b"ENOSPC\n"


def test_no_descriptor_beyond_the_limit(session: Session) -> None:
    source = (
        b"import errno, os\ntry:\n    while True: os.dup(1)\n"
        b"except OSError as error: print(errno.errorcode[error.errno])"
    )
    assert session.run(StdioInput(source), LIMITS).stdout == b"EMFILE\n"


def test_limits_cannot_be_raised_from_inside(session: Session) -> None:
    source = b"""
import resource
for name in ("AS", "CPU", "FSIZE", "NPROC", "NOFILE", "CORE", "STACK"):
    kind = getattr(resource, f"RLIMIT_{name}")
    soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        try:
            resource.setrlimit(kind, (hard, hard + 1))
            print("raised", name)
        except (ValueError, OSError):
            pass
print(max(resource.getrlimit(resource.RLIMIT_CORE)) <= 1)
"""
    assert session.run(StdioInput(source), LIMITS).stdout == b"True\n"


@pytest.mark.parametrize("table", [CPU, WALL, MEMORY, OUTPUT], ids=["cpu", "wall", "memory", "output"])
def test_a_run_after_a_limit_is_as_good_as_the_first(session: Session, table: dict[str, str]) -> None:
    tight = replace(LIMITS, cpu_time_s=0.3, wall_time_s=0.5)
    session.run(StdioInput(next(iter(table.values())).encode()), tight)
    result = session.run(
        StdioInput(b"import os\nprint(len(os.listdir('/proc/self/task')), os.listdir('.'))"), LIMITS
    )
    assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, b"1 []\n")
    assert result.cpu_time_s < 1


def test_limits_hold_for_one_run_only(session: Session) -> None:
    work = StdioInput(b"import time\nwhile time.process_time() < 0.5: pass\nprint('done')")
    ends = [session.run(work, replace(LIMITS, cpu_time_s=limit_s)).end for limit_s in (0.2, 3.0, 0.2)]
    assert ends == [End.CPU_LIMIT, End.EXITED, End.CPU_LIMIT]
