"""From facts to verdicts: the only place where how a run ended becomes what it is worth."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sandbox import End, Limits, Outcome, RunResult
from service.text import last_line, shortened
from service.wire import Verdict

# When nothing stops a submission at its first failure, the gravest failure names it.
PRECEDENCE = (Verdict.IE, Verdict.CE, Verdict.TLE, Verdict.MLE, Verdict.OLE, Verdict.RE, Verdict.WA)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a run amounts to before any comparison; ``verdict`` None means: compare what it gave."""

    verdict: Verdict | None
    feedback: str = ""
    limit: Literal["cpu", "wall"] | None = None


def of_run(result: RunResult, mode: str, limits: Limits) -> Finding:
    """Judge how a run ended that was to keep within ``limits``."""
    match result.end:
        case End.OUTPUT_LIMIT:
            return Finding(Verdict.OLE, "more output than allowed")
        case End.MEMORY_LIMIT:
            return Finding(Verdict.MLE, "more memory than allowed")
        case End.CPU_LIMIT:
            return Finding(Verdict.TLE, f"{result.cpu_time_s:.2f} s of CPU time", "cpu")
        case End.WALL_LIMIT:
            return Finding(Verdict.TLE, f"{result.wall_time_s:.2f} s of wall time", "wall")
    if result.cpu_time_s > limits.cpu_time_s:
        return Finding(Verdict.TLE, f"{result.cpu_time_s:.2f} s of CPU time", "cpu")
    if mode == "stdio":
        return _of_script(result)
    return _of_call(result) if mode == "call" else _of_assert(result)


def _of_script(result: RunResult) -> Finding:
    return Finding(None) if result.exit_code == 0 else Finding(Verdict.RE, _how_it_failed(result))


def _of_call(result: RunResult) -> Finding:
    match result.outcome:
        case Outcome.RETURNED:
            return Finding(None)
        case Outcome.NOT_PLAIN:
            return Finding(Verdict.WA, result.message)
        case Outcome.NO_ENTRY_POINT:
            return Finding(Verdict.RE, f"entry point not found: {result.message}")
    return Finding(Verdict.RE, _how_it_failed(result))


def _of_assert(result: RunResult) -> Finding:
    match result.outcome:
        case Outcome.PASSED:
            return Finding(Verdict.AC)
        case Outcome.FAILED:
            return Finding(Verdict.WA, shortened(result.message))
        case Outcome.RAISED:
            return Finding(Verdict.RE, shortened(result.message))
        case Outcome.BROKEN_TEST:
            return Finding(Verdict.IE, f"the test is no good: {shortened(result.message)}")
    return Finding(Verdict.RE, _how_it_failed(result))


def _how_it_failed(result: RunResult) -> str:
    if result.signal is not None:
        return f"killed by {_signal_name(result.signal)}"
    if result.exit_code == 0:
        return "the program ended before the test did"
    line = last_line(result.stderr)
    return f"exit code {result.exit_code}" + (f": {line}" if line else "")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def of_submission(verdicts: Sequence[Verdict], *, stopped_at_failure: bool) -> Verdict:
    """Return the verdict of a submission from those of its tests, in the problem's order."""
    failures = [verdict for verdict in verdicts if verdict not in (Verdict.AC, Verdict.SKIPPED)]
    if not failures:
        return Verdict.AC
    return failures[0] if stopped_at_failure else min(failures, key=PRECEDENCE.index)


def reward(verdict: Verdict) -> float | None:
    """Return 1.0 for AC, None for IE (leave the sample out), 0.0 for everything else."""
    if verdict is Verdict.IE:
        return None
    return 1.0 if verdict is Verdict.AC else 0.0
