"""What was measured, as tables for people and as plain data."""

from __future__ import annotations

from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

from benchmarks import references
from benchmarks.measuring import Cell

LABELS = {
    "warm": "sandbox alone, warm: reuse",
    "strict": "sandbox alone, warm: strict",
    "cold": "sandbox alone, cold",
    "evaluate": "evaluate",
    "server": "POST /evaluate/batch",
    "subprocess": "unsafe: python -I per test",
    "fork": "unsafe: forked child",
}
PIPE_WIDTH = 160
MEASURED_TESTS = 10


def console_of(stream: TextIO) -> Console:
    """Return where tables go; a pipe is wide enough for all columns."""
    return Console(file=stream, width=None if stream.isatty() else PIPE_WIDTH)


def measured(cells: list[Cell]) -> Table:
    """Return the table of everything that was measured."""
    table = Table(title="Trivial stdin tests; medians over interleaved rounds; CPU of all processes")
    table.add_column("judged by")
    for name in (
        "workers",
        "tests",
        "submissions/s",
        "p50 ms",
        "p95 ms",
        "CPU ms/submission",
        "min..max",
        "CPU ÷ process per test",
    ):
        table.add_column(name, justify="right")
    for cell in cells:
        least, most = cell.cpu_ms_range
        table.add_row(
            LABELS[cell.lane.contender],
            str(cell.lane.workers),
            str(cell.tests),
            f"{cell.submissions_per_s:.1f}",
            _milliseconds(cell.latency_ms(0.50)),
            _milliseconds(cell.latency_ms(0.95)),
            f"{cell.cpu_ms:.2f}",
            f"{least:.2f}..{most:.2f}",
            f"{cell.cpu_ms / _yardstick(cells, cell.tests).cpu_ms:.3f}",
            end_section=cell.tests == max(other.tests for other in cells),
        )
    return table


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def one_more_test(cells: list[Cell]) -> Table:
    """Return what a test costs that is added to a submission."""
    table = Table(title="One more test")
    table.add_column("judged by")
    for name in ("workers", "CPU ms", "wall ms x workers"):
        table.add_column(name, justify="right")
    for few, many in _ends(cells):
        more = many.tests - few.tests
        wall_ms = 1000 * many.lane.workers * (1 / many.submissions_per_s - 1 / few.submissions_per_s) / more
        table.add_row(
            LABELS[few.lane.contender],
            str(few.lane.workers),
            f"{(many.cpu_ms - few.cpu_ms) / more:.2f}",
            f"{wall_ms:.2f}",
        )
    return table


def against_references(cells: list[Cell]) -> Table:
    """Return our CPU time beside that of known designs, as ratios to a process per test."""
    table = Table(title=f"CPU ÷ process per test, {MEASURED_TESTS} tests")
    table.add_column("design")
    table.add_column("here", justify="right")
    table.add_column(references.SOURCE, justify="right")
    for cell in cells:
        if cell.tests == MEASURED_TESTS and cell.lane.processes == 1:
            ratio = cell.cpu_ms / _yardstick(cells, cell.tests).cpu_ms
            table.add_row(LABELS[cell.lane.contender], f"{ratio:.3f}", "")
    table.add_section()
    for design in references.DESIGNS:
        table.add_row(design.name, "", f"{design.cpu_ms_10 / references.PROCESS_PER_TEST.cpu_ms_10:.3f}")
    return table


def as_data(cells: list[Cell]) -> list[dict[str, Any]]:
    """Return what was measured as JSON-like data."""
    return [
        {
            "contender": cell.lane.contender,
            "workers": cell.lane.workers,
            "tests": cell.tests,
            "submissions_per_round": cell.submissions,
            "submissions_per_s": cell.submissions_per_s,
            "latency_p50_ms": cell.latency_ms(0.50),
            "latency_p95_ms": cell.latency_ms(0.95),
            "cpu_ms_per_submission": cell.cpu_ms,
            "cpu_ratio_to_process_per_test": cell.cpu_ms / _yardstick(cells, cell.tests).cpu_ms,
            "wall_s": cell.wall_s,
            "cpu_s": cell.cpu_s,
        }
        for cell in cells
    ]


def _yardstick(cells: list[Cell], tests: int) -> Cell:
    return next(
        cell
        for cell in cells
        if cell.lane.contender == "subprocess" and cell.lane.processes == 1 and cell.tests == tests
    )


def _ends(cells: list[Cell]) -> list[tuple[Cell, Cell]]:
    by_lane: dict[object, list[Cell]] = {}
    for cell in cells:
        by_lane.setdefault(cell.lane, []).append(cell)
    pairs = [
        (min(of_lane, key=lambda cell: cell.tests), max(of_lane, key=lambda cell: cell.tests))
        for of_lane in by_lane.values()
    ]
    return [(few, many) for few, many in pairs if many.tests > few.tests]
