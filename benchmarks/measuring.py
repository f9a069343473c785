"""Rounds in which every contender has its turn, so that a machine that changes its speed changes it for all."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from benchmarks.cpu_time import CpuMeter
from benchmarks.hosts import Host, judge_together
from benchmarks.work import Work

WARM_UP_SUBMISSIONS = 2
FEWEST_LAPS = 2


@dataclass(frozen=True, slots=True)
class Lane:
    """A contender with a number of processes; a server starts its own workers, one per core."""

    contender: str
    processes: int = 1

    @property
    def workers(self) -> int:
        """Return how many submissions are judged at a time."""
        return len(os.sched_getaffinity(0)) if self.contender == "server" else self.processes


@dataclass(slots=True)
class Cell:
    """What was measured of one lane with one number of tests; a sample per round."""

    lane: Lane
    tests: int
    submissions: int
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    laps_s: list[float] = field(default_factory=list)

    @property
    def submissions_per_s(self) -> float:
        """Return the median over the rounds."""
        return self.submissions / statistics.median(self.wall_s)

    def latency_ms(self, share: float) -> float | None:
        """Return the latency that this share of all submissions did not exceed; None where it was not measured."""
        if len(self.laps_s) < FEWEST_LAPS:
            return None
        return 1000 * statistics.quantiles(self.laps_s, n=100, method="inclusive")[round(100 * share) - 1]

    @property
    def cpu_ms(self) -> float:
        """Return the median over the rounds, per submission, of all processes."""
        return 1000 * statistics.median(self.cpu_s) / self.submissions

    @property
    def cpu_ms_range(self) -> tuple[float, float]:
        """Return the least and the most over the rounds, per submission."""
        return 1000 * min(self.cpu_s) / self.submissions, 1000 * max(self.cpu_s) / self.submissions


def measure(
    lanes: list[Lane], test_counts: list[int], *, rounds: int, round_s: float, progress: Callable[[str], None]
) -> list[Cell]:
    """Return a cell for each lane and number of tests. Raises RuntimeError where a contender does not judge."""
    kept: set[int] = set()
    meter = CpuMeter(kept)
    with _hosts(lanes, kept) as hosts:
        cells = []
        for lane in lanes:
            for tests in test_counts:
                progress(f"{lane.contender} warms up")
                cells.append(Cell(lane, tests, _fitting(_of(hosts, lane), lane, tests, round_s)))
        for number in range(rounds):
            # The other way round every second time: nobody always follows the same neighbour.
            for cell in cells[:: 1 if number % 2 == 0 else -1]:
                progress(f"round {number + 1} of {rounds}: {cell.lane.contender}")
                cpu_s = meter.descendants_s()
                wall_s, laps_s = judge_together(_of(hosts, cell.lane), Work(cell.submissions, cell.tests))
                cell.wall_s.append(wall_s)
                cell.laps_s += laps_s
                cell.cpu_s.append(meter.descendants_s() - cpu_s)
    return cells


def _of(hosts: dict[str, list[Host]], lane: Lane) -> list[Host]:
    return hosts[lane.contender][: lane.processes]


@contextmanager
def _hosts(lanes: list[Lane], kept: set[int]) -> Iterator[dict[str, list[Host]]]:
    with ExitStack() as stack:
        hosts: dict[str, list[Host]] = {}
        for lane in lanes:
            of_contender = hosts.setdefault(lane.contender, [])
            while len(of_contender) < lane.processes:
                host = Host(lane.contender)
                stack.callback(host.close)
                kept.add(host.pid)
                of_contender.append(host)
        for host in [host for of_contender in hosts.values() for host in of_contender]:
            host.wait_open()
        yield hosts


def _fitting(hosts: list[Host], lane: Lane, tests: int, round_s: float) -> int:
    """Return how many submissions fill a round, a multiple of the workers."""
    warm_up = Work(WARM_UP_SUBMISSIONS * lane.workers, tests)
    judge_together(hosts, warm_up)
    pace_s = judge_together(hosts, warm_up)[0] / WARM_UP_SUBMISSIONS
    return lane.workers * max(1, round(round_s / pace_s))
