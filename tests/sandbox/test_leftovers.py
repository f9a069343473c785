"""Nothing of a program is left: on the host after its session, or for the next run of the same session."""

import gc
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from sandbox import End, Limits, Program, RunResult, Sandbox, SandboxSettings, StdioInput, open_sandbox
from sandbox.cgroups.folder import PREFIX
from service.settings import default_python

Script = Callable[..., RunResult]

LIMITS = Limits(cpu_time_s=2.0, wall_time_s=10.0, memory_bytes=256 << 20, output_bytes=1 << 20)
TIGHT = Limits(cpu_time_s=0.3, wall_time_s=0.5, memory_bytes=64 << 20, output_bytes=1 << 16, processes=8)

LITTER = {
    "nothing": "pass",
    "files": "for d in ('.', '/tmp', '/dev/shm', '/box'): open(d + '/mark', 'w').write('x' * 4096)",
    "deep folders": "import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')",
    "folders that nobody may enter": "import os\nos.makedirs('a/b/c')\nos.chmod('a/b', 0)\nos.chmod('a', 0)",
    "links": "import os\nos.symlink('/', 'root')\nos.symlink('loop', 'loop')\nos.link(__file__, 'hard')",
    "pipes and odd names": "import os\nos.mkfifo('fifo')\nopen(b'\\xff\\n', 'w')\nopen('a' * 255, 'w')",
    "its own folder gone": "import os, shutil\nshutil.rmtree('/box/work')\nshutil.rmtree('/box/tmp')",
    "a folder replaced by a link": "import os\nos.rmdir('/box/tmp')\nos.symlink('/usr', '/box/tmp')",
    "orphans": "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n"
    "        time.sleep(1000)",
    "a loop": "while True: pass",
    "a flood": "while True: print('x' * 1000)",
    "too much memory": "a = []\nwhile True: a.append(bytearray(1 << 20))",
    "a stopped process": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "a crash": "import os\nos.abort()",
    "kills of everybody": "import os\nos.kill(-1, 9)",
    "kills of the first process": "import os\nfor n in (9, 19, 15, 2): os.kill(1, n)\nos.kill(os.getppid(), 9)",
}


def _namespaces() -> dict[int, str]:
    """Return the pid namespace of every process that can be asked."""
    found = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                found[int(path.name)] = str((path / "ns" / "pid").readlink())
            except OSError:
                continue  # gone meanwhile, or another user's
    return found


def _held_namespaces(stack: ExitStack) -> set[str]:
    """Return the pid namespaces of this process's descendants, held so that no other jail gets their numbers."""
    own = Path("/proc/self/ns/pid").readlink()
    held = set()
    for pid in _descendants(os.getpid()):
        path = Path(f"/proc/{pid}/ns/pid")
        try:
            name = path.readlink()
            if name != own and str(name) not in held:
                stack.callback(os.close, os.open(path, os.O_RDONLY))
                held.add(str(name))
        except OSError:
            continue  # gone meanwhile
    return held


def _descendants(pid: int) -> set[int]:
    found: set[int] = set()
    pending = [pid]
    while pending:
        for task in Path(f"/proc/{pending.pop()}/task").glob("*/children"):
            try:
                children = [int(word) for word in task.read_text().split()]
            except OSError:
                continue
            found.update(children)
            pending += children
    return found


def _groups() -> list[str]:
    return [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/{PREFIX}{os.getpid()}.*")]


def _traces() -> dict[str, object]:
    gc.collect()
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "children": _descendants(os.getpid()),
        "mounts": [
            line for line in Path("/proc/self/mountinfo").read_text().splitlines() if "docker" not in line
        ],
        "groups": _groups(),
        "temporary files": sorted(Path(tempfile.gettempdir()).iterdir()),
    }


@pytest.mark.jail
@pytest.mark.parametrize("source", LITTER.values(), ids=LITTER.keys())
def test_a_session_leaves_nothing_on_the_host(
    sandbox: Sandbox, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with sandbox.session(Program("pass"), LIMITS) as session:
        session.run(StdioInput(), LIMITS)  # what stays warm between sessions is there from now on
    before = _traces()
    with ExitStack() as stack:
        warm = _held_namespaces(stack)
        with sandbox.session(Program(source), LIMITS) as session:
            inner = _held_namespaces(stack) - warm
            session.run(StdioInput(), TIGHT)
        assert inner
        # A session that has been closed does not wait for the kernel to have taken everything away.
        deadline = time.monotonic() + 10
        while inner & set(_namespaces().values()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert _traces() == before


@pytest.mark.jail
@pytest.mark.parametrize("source", LITTER.values(), ids=LITTER.keys())
def test_the_next_run_of_the_session_finds_nothing(sandbox: Sandbox, source: str) -> None:
    look = (
        "import os\nprint([(d, n) for d in ('.', '/tmp', '/dev/shm') for n in os.listdir(d)])\n"
        "print(sorted(os.listdir('/box')))\n"
        "print([p for p in os.listdir('/proc') if p.isdigit() and int(p) > 1] == [str(os.getpid())])"
    )
    with sandbox.session(Program("exec(open(0).read())"), LIMITS) as session:
        session.run(StdioInput(source.encode()), TIGHT)
        result = session.run(StdioInput(look.encode()), LIMITS)
    assert (result.end, result.exit_code) == (End.EXITED, 0), result.stderr
    assert result.stdout == b"[]\n['shm', 'source', 'tmp', 'work']\nTrue\n"


def test_the_next_run_sees_no_state_of_the_interpreter(sandbox: Sandbox) -> None:
    source = (
        "import sys, os, builtins, math\n"
        "print(hasattr(builtins, 'mark'), hasattr(math, 'mark'), 'mark' in os.environ, len(sys.path))\n"
        "builtins.mark = math.mark = 1\nos.environ['mark'] = '1'\nsys.path.append('mark')\nmath.sqrt = None\n"
        "sys.setrecursionlimit(50)\nos.umask(0o777)\nos.chdir('/')"
    )
    with sandbox.session(Program(source), LIMITS) as session:
        first, second = (session.run(StdioInput(), LIMITS) for _ in range(2))
    assert first.exit_code == 0
    assert first.stdout == second.stdout
    assert first.stdout.startswith(b"False False False")


@pytest.mark.jail
def test_many_runs_of_one_session_leave_no_descriptor(sandbox: Sandbox) -> None:
    with sandbox.session(Program("print(len(__import__('os').listdir('/proc/self/fd')))"), LIMITS) as session:
        session.run(StdioInput(), LIMITS)
        before = len(list(Path("/proc/self/fd").iterdir()))
        outputs = {session.run(StdioInput(b"x"), LIMITS).stdout for _ in range(20)}
        assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert len(outputs) == 1


@pytest.mark.jail
def test_a_sandbox_leaves_nothing_when_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = _traces()
    with open_sandbox(SandboxSettings(python=default_python())) as opened:
        session = opened.session(Program("print(1)"), LIMITS)
        assert session.run(StdioInput(), LIMITS).stdout == b"1\n"
        session.close()
        session.close()
    assert _traces() == before


def test_an_unsafe_process_leaves_nothing_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = _traces()
    with open_sandbox(SandboxSettings(kind="unsafe-process", python=default_python())) as opened:
        for source in (LITTER["files"].replace("'/box'", "'.'"), LITTER["orphans"], LITTER["a loop"]):
            with opened.session(Program(source), LIMITS) as session:
                session.run(StdioInput(), TIGHT)
    assert _traces() == before
