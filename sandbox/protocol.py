"""Turns limits into a request to the harness, and its answer into facts."""

from __future__ import annotations

import json
import os
import resource
import signal
from dataclasses import dataclass
from typing import Any, Protocol

from sandbox import jail
from sandbox.facts import End, Limits, Outcome, RunResult
from sandbox.harness import clocks, forks, messages, plain

WHOLE_LIFE_S = 3600
BESIDE_THE_PROGRAM = 2  # an init and a zygote, where they are of the program's user
ROOMY_BYTES = 64 << 30
MAX_MESSAGE_CHARACTERS = 4000


def request(limits: Limits, *, by_group: bool, disk_bytes: int) -> dict[str, Any]:
    """Return the fields of a ``run`` request.

    With a memory group the address space is all but free: what is only reserved costs nothing.
    """
    return {
        "op": "run",
        "cpu_time_s": limits.cpu_time_s,
        "wall_time_s": limits.wall_time_s,
        "address_space_bytes": max(ROOMY_BYTES, 4 * limits.memory_bytes) if by_group else limits.memory_bytes,
        "stack_bytes": min(jail.STACK_BYTES, limits.memory_bytes),
        "file_bytes": max(disk_bytes, limits.output_bytes),
        "processes": limits.processes,
    }


class Grouped(Protocol):
    """What tells which limits a control group takes care of."""

    @property
    def by_group(self) -> bool:
        """Whether memory is one."""
        ...

    @property
    def limits_processes(self) -> bool:
        """Whether the number of processes is one."""
        ...


def process_limits(limits: Limits, groups: Grouped, *, disk_bytes: int) -> dict[int, tuple[int, int]]:
    """Return the soft and hard resource limits of a process that runs several tests."""
    fields = request(limits, by_group=groups.by_group, disk_bytes=disk_bytes)
    processes = forks.INFINITE if groups.limits_processes else limits.processes + BESIDE_THE_PROGRAM
    stack = min(fields["stack_bytes"], resource.getrlimit(resource.RLIMIT_STACK)[1] & forks.INFINITE)
    space = fields["address_space_bytes"] or forks.INFINITE
    return {
        resource.RLIMIT_CPU: (WHOLE_LIFE_S, WHOLE_LIFE_S),  # the limit of each test is watched from outside
        resource.RLIMIT_FSIZE: (fields["file_bytes"],) * 2,
        resource.RLIMIT_NPROC: (processes, processes),
        resource.RLIMIT_CORE: (
            1,
            1,
        ),  # unlike 0, this also keeps the kernel from piping a dump to a host's program
        resource.RLIMIT_STACK: (stack, forks.INFINITE),
        resource.RLIMIT_AS: (space, space),
    }


def compiler_death(number: int) -> str:
    """Say why a program does not compile whose compiler was killed by a signal."""
    if number in (signal.SIGXCPU, signal.SIGKILL):
        return "compiling took too much time or memory"
    return f"the compiler crashed on this program ({signal.Signals(number).name})"


@dataclass(frozen=True, slots=True)
class Ended:
    """What the harness says of an ended run; ``status`` is the program's wait status, None where it has none."""

    status: int | None
    killed: str
    cpu_time_s: float
    wall_time_s: float
    memory_peak_bytes: int
    clean: bool
    waiting_s: float = 0.0


def ended(data: bytes) -> Ended | None:
    """Return the facts of a run; None where the harness's end of the channel is closed. Raises ValueError."""
    if not data:
        return None
    facts = messages.outside(data)
    status = int(facts["status"])
    return Ended(
        status=status if status >= 0 else None,
        killed=facts["killed"],
        cpu_time_s=float(facts["cpu_time_s"]),
        wall_time_s=float(facts["wall_time_s"]),
        memory_peak_bytes=int(facts["memory_peak_bytes"]),
        clean=facts["clean"] == "True",
        waiting_s=float(facts["waiting_s"]),
    )


class Written(Protocol):
    """What was read of one stream of a run."""

    @property
    def over(self) -> bool:
        """Whether more was written than allowed."""
        ...

    @property
    def cut(self) -> bool:
        """Whether less is kept than was written."""
        ...

    def content(self) -> bytes:
        """Return what was kept."""
        ...


def result(
    facts: Ended | None,
    limits: Limits,
    streams: tuple[Written, Written, Written],
    *,
    killed_for_memory: bool,
    peak_bytes: int | None,
    reused: bool = False,
) -> RunResult:
    """Return the facts of a run. ``facts`` is None where the harness died with the program at the memory limit."""
    stdout, stderr, report = streams
    written = report.content() if not report.over else b""
    record = _record(written) if written else {}
    exit_code, number = _how(facts.status if facts else None)
    memory = killed_for_memory or record.get("memory") is True
    if peak_bytes is None and facts is not None:
        peak_bytes = facts.memory_peak_bytes
    return RunResult(
        end=_end(facts, limits, number, over=any(stream.over for stream in streams), memory=memory),
        exit_code=exit_code,
        signal=number,
        cpu_time_s=facts.cpu_time_s if facts else 0.0,
        cpu_limit_s=_cpu_limit_s(facts, limits),
        wall_time_s=facts.wall_time_s if facts else 0.0,
        memory_peak_bytes=peak_bytes,
        stdout=stdout.content(),
        stderr=stderr.content(),
        stdout_cut=stdout.cut,
        stderr_cut=stderr.cut,
        reused=reused,
        **(_outcome(record) if record else {}),
    )


def _how(status: int | None) -> tuple[int | None, int | None]:
    if status is None:
        return None, None
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None


def _end(facts: Ended | None, limits: Limits, number: int | None, *, over: bool, memory: bool) -> End:
    if over:
        return End.OUTPUT_LIMIT
    if memory or facts is None:
        return End.MEMORY_LIMIT
    if facts.killed == "cpu" or facts.cpu_time_s > _cpu_limit_s(facts, limits) or number == signal.SIGXCPU:
        return End.CPU_LIMIT
    if facts.killed == "wall":
        return End.WALL_LIMIT
    return End.EXITED if number is None else End.SIGNALED


def _cpu_limit_s(facts: Ended | None, limits: Limits) -> float:
    return clocks.extended(limits.cpu_time_s, facts.waiting_s if facts else 0.0)


def _record(data: bytes) -> dict[str, Any]:
    """Return the first record that the run reported. The program's process may have written it: nothing is trusted."""
    try:
        record = json.loads(data.partition(b"\n")[0], parse_int=plain.small_int)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _outcome(record: dict[str, Any]) -> dict[str, Any]:
    try:
        outcome = Outcome(record["outcome"])
        value = plain.decode(record["value"]) if outcome is Outcome.RETURNED else None
        message = record.get("message")
    except (KeyError, ValueError, TypeError):
        return {}
    return {
        "outcome": outcome,
        "value": value,
        "message": message[:MAX_MESSAGE_CHARACTERS] if isinstance(message, str) else "",
    }
