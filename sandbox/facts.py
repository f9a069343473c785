"""What goes into a sandbox and what comes out: plain frozen types, facts only, no verdicts and no expected answers.

Units are in the names: ``_s`` seconds, ``_bytes`` bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Mode = Literal["stdio", "call", "assert"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run."""

    cpu_time_s: float = 6.0
    wall_time_s: float = 14.0
    memory_bytes: int = 1 << 30
    output_bytes: int = 16 << 20
    processes: int = 32


@dataclass(frozen=True, slots=True)
class Program:
    """A program and how tests drive it.

    ``stdio``: every run starts the source as ``__main__``. ``call``: every run loads the source and calls
    ``entry_point`` once. ``assert``: every run loads the source and executes test code against it.
    ``prelude`` is code whose names the program finds defined; None means the usual import block.
    """

    source: str
    mode: Mode = "stdio"
    language: str = "python"
    entry_point: str | None = None
    prelude: str | None = ""
    arg_types: tuple[str, ...] = ()
    return_type: str | None = None
    answer_from: str = "return"
    operations: bool = False


@dataclass(frozen=True, slots=True)
class StdioInput:
    """Bytes for standard input."""

    stdin: bytes = b""


@dataclass(frozen=True, slots=True)
class CallInput:
    """Arguments of one call: JSON-like plain data."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AssertInput:
    """Test code that raises when the program is wrong. The program's process never sees it."""

    code: str


RunInput = StdioInput | CallInput | AssertInput


class End(StrEnum):
    """How a run ended. Limits come first: a run killed for its limit is never reported as signalled."""

    EXITED = "exited"
    SIGNALED = "signaled"
    CPU_LIMIT = "cpu-limit"
    WALL_LIMIT = "wall-limit"
    MEMORY_LIMIT = "memory-limit"
    OUTPUT_LIMIT = "output-limit"


class Outcome(StrEnum):
    """What the harness saw in ``call`` and ``assert`` runs that ended by themselves."""

    NONE = "none"  # nothing was reported: a stdio run, an early exit, a silent death
    RETURNED = "returned"  # call: the value is in ``value``
    RAISED = "raised"  # the program raised; ``message`` says what
    NO_ENTRY_POINT = "no-entry-point"  # the program does not define what is to be called
    NOT_PLAIN = "not-plain"  # call: the result is no plain data; ``message`` says why
    PASSED = "passed"  # assert: the test code ran to its end
    FAILED = "failed"  # assert: the test code raised AssertionError or found a difference
    BROKEN_TEST = "broken-test"  # assert: the test code itself is no good; never the program's fault
    NEEDS_SHARING = "needs-sharing"  # assert: internal to this package; the run is repeated in one process


@dataclass(frozen=True, slots=True)
class RunResult:
    """The facts of one run.

    ``stdout`` and ``stderr`` hold at most the output limit (stderr at most 64 KiB, its head and tail);
    ``stdout_cut``/``stderr_cut`` tell that more was written. CPU time is that of all processes of the run.
    ``cpu_limit_s`` is the limit that it was held to: the one asked for, or a quarter more where the run waited for a
    core for so long that others must have made the same work cost more.
    ``shared`` tells that test code had to run inside the program's process, ``reused`` that the process had run
    another test before.
    """

    end: End
    exit_code: int | None
    signal: int | None
    cpu_time_s: float
    cpu_limit_s: float
    wall_time_s: float
    memory_peak_bytes: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_cut: bool = False
    stderr_cut: bool = False
    outcome: Outcome = Outcome.NONE
    value: Any = None
    message: str = ""
    shared: bool = False
    reused: bool = False


@dataclass(frozen=True, slots=True)
class CompileResult:
    """Whether the program compiles; ``message`` is the compiler's where it does not.

    ``broken_prelude`` tells that it is not the program's fault: the problem's prelude does not run.
    """

    ok: bool
    message: str = ""
    broken_prelude: bool = False
