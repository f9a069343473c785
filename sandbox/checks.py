"""The self-check: before anything is judged, hostile little programs prove that a jail isolates and that its limits bite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sandbox.errors import SandboxUnavailableError
from sandbox.facts import AssertInput, Limits, Outcome, Program, RunInput, RunResult, StdioInput

if TYPE_CHECKING:
    from sandbox.sandbox import Sandbox

LIMITS = Limits(cpu_time_s=20.0, wall_time_s=60.0)
# Prints who it is and what it could do; a jail in which this has a network or sees the host's files is none.
PROGRAM = Program(
    """
import os, socket
def outcome(action):
    try:
        action()
    except OSError:
        return "refused"
    return "allowed"
print(os.getpid() > 1, outcome(lambda: socket.socket()), outcome(lambda: os.listdir("/root/.ssh")),
      outcome(lambda: open("/etc/shadow")), outcome(lambda: open("/usr/probe", "w")), os.getuid() > 0)
"""
)
ANSWER = b"True refused refused refused refused True\n"


class Runs(Protocol):
    """What runs a program: any session."""

    def run(self, given: RunInput, limits: Limits) -> RunResult:
        """Run it once."""
        ...


def check_isolation(session: Runs) -> None:
    """Run PROGRAM, which ``session`` holds. Raises SandboxUnavailableError where it can do what it must not."""
    result = session.run(StdioInput(), LIMITS)
    if result.stdout != ANSWER:
        raise SandboxUnavailableError(
            f"The jail does not isolate as it must: its probe printed {result.stdout!r} {result.stderr[-200:]!r}.",
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
