"""The self-check: before anything is judged, hostile little programs prove that jails isolate and that limits bite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from sandbox.errors import SandboxUnavailableError
from sandbox.facts import AssertInput, End, Limits, Outcome, Program, RunInput, RunResult, StdioInput

if TYPE_CHECKING:
    from sandbox.sandbox import Sandbox

LIMITS = Limits(cpu_time_s=20.0, wall_time_s=60.0)
# Executes what it is given, so that one session serves for all checks.
PROGRAM = Program("exec(open(0).read())")
# Prints who it is and what it could do; a jail in which this has a network or sees the host is none.
PROBE = b"""
import os, socket
def outcome(action):
    try:
        action()
    except OSError:
        return "refused"
    return "allowed"
def processes():
    try:
        return {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}
    except OSError:
        return set()
print(os.getpid() > 1, outcome(lambda: socket.socket()), outcome(lambda: os.listdir("/root/.ssh")),
      outcome(lambda: open("/etc/shadow")), outcome(lambda: open("/usr/probe", "w")), os.getuid() > 0,
      len(processes()), *(line for line in open("/proc/self/environ") if "SECRET" in line))
"""
ANSWER = b"True refused refused refused refused True %d\n"
FORKS = b"""
import os, time
made = 0
try:
    for _ in range(40):
        if os.fork() == 0:
            time.sleep(30)
        made += 1
except OSError:
    print("refused" if made < 20 else made)
"""


class Runs(Protocol):
    """What runs a program: any session."""

    def run(self, given: RunInput, limits: Limits) -> RunResult:
        """Run it once."""
        ...


@dataclass(frozen=True, slots=True)
class _Limit:
    """A limit, a program that exceeds it, and how that has to end."""

    name: str
    source: bytes
    limits: Limits
    ends: tuple[End, ...]
    output: bytes | None = None


CHECKED = (
    _Limit("CPU time", b"while True: pass", replace(LIMITS, cpu_time_s=0.03), (End.CPU_LIMIT,)),
    _Limit("wall time", b"import time; time.sleep(30)", replace(LIMITS, wall_time_s=0.03), (End.WALL_LIMIT,)),
    _Limit(
        "memory",
        b"a = [bytearray(b'x' * (1 << 20)) for _ in range(192)]",
        replace(LIMITS, memory_bytes=64 << 20),
        (End.MEMORY_LIMIT,),
    ),
    _Limit("output", b"print('x' * (1 << 20))", replace(LIMITS, output_bytes=1 << 16), (End.OUTPUT_LIMIT,)),
    _Limit("processes", FORKS, replace(LIMITS, processes=8), (End.EXITED,), b"refused\n"),
)


def check_isolation(session: Runs, *, strangers: int = 0) -> None:
    """Let the probe find itself isolated and exceed each limit in ``session``, which holds PROGRAM.

    ``strangers`` is how many processes it may see besides itself and the first one.

    Raises SandboxUnavailableError where it can do what it must not.
    """
    result = session.run(StdioInput(PROBE), LIMITS)
    if result.stdout != ANSWER % strangers:
        raise SandboxUnavailableError(
            f"The jail does not isolate as it must: its probe printed {result.stdout!r} {result.stderr[-200:]!r}.",
            "Do not judge untrusted programs on this machine; report this output.",
        )
    for limit in CHECKED:
        result = session.run(StdioInput(limit.source), limit.limits)
        if result.end not in limit.ends or (limit.output is not None and result.stdout != limit.output):
            raise SandboxUnavailableError(
                f"The limit on {limit.name} does not hold: a program that exceeds it ended with {result.end},"
                f" {result.stdout[:80]!r} {result.stderr[-200:]!r}.",
                "Do not judge untrusted programs on this machine; report this output.",
            )


def check_asserts(sandbox: Sandbox) -> None:
    """Refuse to judge where a failing assert would pass (an interpreter that runs optimised code)."""
    program = Program("def f(): return 1\n", mode="assert")
    with sandbox.session(program, LIMITS) as session:
        outcomes = [session.run(AssertInput(f"assert f() == {value}"), LIMITS).outcome for value in (1, 2)]
    if outcomes != [Outcome.PASSED, Outcome.FAILED]:
        raise SandboxUnavailableError(
            f"A failing assert is not seen: {outcomes}.",
            "Use an interpreter that does not optimise asserts away.",
        )
