"""Judges labelled submissions and counts wrong verdicts: ``python -m benchmarks.peers_workload WORKLOAD.json``.

The file holds ``problems`` (``id``, ``kind`` ``stdio`` or ``call``, ``fn_name``, ``inputs``, ``outputs``; a call's
input has one JSON argument a line and its output is JSON) and ``submissions`` (``pid``, ``variant``, ``code``,
``truth``: whether the program is right). Two parts are judged: light, without the variants ``slow`` and ``tle``,
shows what judging itself costs; whole is dominated by programs that use up their time. ``--naive`` also judges the
light part with a plain process per test: its ratio to ours can be compared with other machines.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import click
from pydantic import BaseModel, ValidationError
from rich.table import Table

from benchmarks import naive, references
from benchmarks.cpu_time import CpuMeter
from benchmarks.tables import console_of
from service.inputs import Work
from service.queue.offline import judge_all
from service.settings import Settings, default_python
from service.telemetry import configure_logging
from service.wire import (
    CallCase,
    CallProblem,
    Judgement,
    Limits,
    Options,
    Problem,
    StdioCase,
    StdioProblem,
    Submission,
    Verdict,
)

WORKERS = 2
CPU_TIME_S = 2.0
NAIVE_WALL_FACTOR = 3  # it has no clock for CPU time, and two of them share the machine with others
HEAVY_VARIANTS = {"slow", "tle"}


class ProblemEntry(BaseModel):
    """A problem as the file has it."""

    id: str
    kind: Literal["stdio", "call"]
    fn_name: str | None
    inputs: list[str]
    outputs: list[str]

    def problem(self) -> Problem:
        """Return it in the words of the service; ``call`` problems name a method of ``Solution``."""
        limits = Limits(cpu_time_s=CPU_TIME_S)
        pairs = list(zip(self.inputs, self.outputs, strict=True))
        if self.kind == "stdio":
            stdio = [StdioCase(input=given, expected=expected) for given, expected in pairs]
            return StdioProblem(mode="stdio", tests=stdio, limits=limits)
        calls = [
            CallCase(args=[json.loads(line) for line in given.split("\n")], expected=json.loads(expected))
            for given, expected in pairs
        ]
        return CallProblem(mode="call", entry_point=f"Solution.{self.fn_name}", tests=calls, limits=limits)


class SubmissionEntry(BaseModel):
    """A program as the file has it; ``truth`` tells whether it is right."""

    pid: str
    variant: str
    code: str
    truth: bool


class Workload(BaseModel):
    """The file."""

    problems: list[ProblemEntry]
    submissions: list[SubmissionEntry]


@dataclass(slots=True)
class Outcome:
    """What judging one part took, and which verdicts are wrong (``problem/variant: verdict``)."""

    part: str
    submissions: int
    wall_s: float = 0.0
    cpu_s: float = 0.0
    false_rejects: list[str] = field(default_factory=list)
    false_accepts: list[str] = field(default_factory=list)
    failures_of_ours: list[str] = field(default_factory=list)

    def note(self, entry: SubmissionEntry, verdict: Verdict, message: str) -> None:
        """Compare a verdict with the truth; our own failure is neither an accept nor a reject."""
        name = f"{entry.pid}/{entry.variant}: {verdict} {message}"
        if verdict is Verdict.IE:
            self.failures_of_ours.append(name)
        elif (verdict is Verdict.AC) != entry.truth:
            (self.false_rejects if entry.truth else self.false_accepts).append(name)


def run(part: str, entries: list[SubmissionEntry], problems: dict[str, Problem], meter: CpuMeter) -> Outcome:
    """Judge ``entries`` through the local queue, the start of its workers included."""
    outcome = Outcome(part, len(entries))
    work = [
        Work(
            f"{entry.pid}/{entry.variant}",
            Submission(code=entry.code, problem_id=entry.pid),
            problems[entry.pid],
            None,
        )
        for entry in entries
    ]

    def on_judged(index: int, answer: bytes) -> None:
        judgement = Judgement.model_validate_json(answer)
        outcome.note(entries[index], judgement.verdict, judgement.message)

    with _timed(outcome, meter):
        asyncio.run(
            judge_all(
                work,
                Settings(workers=WORKERS, log_level="error"),
                lambda _work: Options(detail="none"),
                on_judged,
            )
        )
    return outcome


def run_naive(entries: list[SubmissionEntry], problems: dict[str, Problem], meter: CpuMeter) -> Outcome:
    """Judge ``entries`` with a plain process per test."""
    outcome = Outcome("naive", len(entries))
    work = [(entry.code, problems[entry.pid]) for entry in entries]
    with _timed(outcome, meter):
        passed = naive.judge_all(
            work, python=default_python(), workers=WORKERS, wall_time_s=NAIVE_WALL_FACTOR * CPU_TIME_S
        )
    for entry, accepted in zip(entries, passed, strict=True):
        outcome.note(entry, Verdict.AC if accepted else Verdict.WA, "")
    return outcome


@contextmanager
def _timed(outcome: Outcome, meter: CpuMeter) -> Iterator[None]:
    cpu_s = meter.descendants_s() + time.process_time()
    started = time.perf_counter()
    yield
    outcome.wall_s = time.perf_counter() - started
    outcome.cpu_s = meter.descendants_s() + time.process_time() - cpu_s


def _table(outcomes: dict[str, Outcome]) -> Table:
    table = Table(title=f"{WORKERS} in flight, {CPU_TIME_S:g} s a test")
    table.add_column("evaluator")
    columns = (
        "light wall s",
        "CPU s",
        "CPU ÷ naive",
        "whole wall s",
        "CPU s",
        "false rejects",
        "false accepts",
    )
    for name in columns:
        table.add_column(name, justify="right")
    yardstick = outcomes.get("naive")
    light, whole = outcomes["light"], outcomes.get("whole")
    table.add_row("this one", *_part(light, yardstick), *_whole(whole))
    if yardstick is not None:
        table.add_row("a process per test", *_part(yardstick, yardstick))
    table.add_section()
    for peer in references.PEERS:
        table.add_row(peer.name, *_peer(peer))
    table.caption = f"Rows below the line: {references.SOURCE}."
    return table


def _part(outcome: Outcome, yardstick: Outcome | None) -> tuple[str, str, str]:
    ratio = "" if yardstick is None else f"{outcome.cpu_s / yardstick.cpu_s:.2f}"
    return f"{outcome.wall_s:.1f}", f"{outcome.cpu_s:.1f}", ratio


def _whole(outcome: Outcome | None) -> tuple[str, ...]:
    if outcome is None:
        return ()
    wrong = (str(len(outcome.false_rejects)), str(len(outcome.false_accepts)))
    return (f"{outcome.wall_s:.1f}", f"{outcome.cpu_s:.1f}", *wrong)


def _peer(peer: references.Peer) -> tuple[str, ...]:
    light = ("", "", "")
    if peer.light is not None:
        ratio = peer.light.cpu_s / references.NAIVE_LIGHT.cpu_s
        light = (f"{peer.light.wall_s:.1f}", f"{peer.light.cpu_s:.1f}", f"{ratio:.2f}")
    wrong = (str(peer.false_rejects), str(peer.false_accepts))
    return (*light, f"{peer.whole.wall_s:.1f}", f"{peer.whole.cpu_s:.1f}", *wrong)


@click.command()
@click.argument("workload", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--light", "light_only", is_flag=True, help="Leave the whole workload out.")
@click.option(
    "--naive", "with_naive", is_flag=True, help="Also judge the light part with a process per test."
)
def main(workload: Path, *, as_json: bool, light_only: bool, with_naive: bool) -> None:
    """Judge WORKLOAD and count wrong verdicts."""
    configure_logging("error", "console")
    try:
        given = Workload.model_validate_json(workload.read_bytes())
    except ValidationError as error:
        raise click.ClickException(f"{workload}: {error}") from error
    problems = {entry.id: entry.problem() for entry in given.problems}
    light = [entry for entry in given.submissions if entry.variant not in HEAVY_VARIANTS]
    meter = CpuMeter(kept=set())
    outcomes = {"light": run("light", light, problems, meter)}
    if with_naive:
        outcomes["naive"] = run_naive(light, problems, meter)
    if not light_only:
        outcomes["whole"] = run("whole", given.submissions, problems, meter)
    if as_json:
        print(json.dumps([asdict(outcome) for outcome in outcomes.values()], indent=1))
        return
    console = console_of(sys.stdout)
    console.print(_table(outcomes))
    for outcome in outcomes.values():
        for name in ("false_rejects", "false_accepts", "failures_of_ours"):
            for line in getattr(outcome, name):
                console.print(f"{outcome.part}, {name.replace('_', ' ')}: {line}", markup=False)


if __name__ == "__main__":
    main()
