"""How ``microcoder judge`` tells what it found: a table for people, one JSON document for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from service.wire import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

PIPE_WIDTH = 200
MANY_VERDICTS = 5


class Result(BaseModel):
    """One submission's judgement beside what was expected of it."""

    file: str
    expected: list[Verdict] | None
    verdict: Verdict
    as_expected: bool
    judgement: Judgement


class SkippedFile(BaseModel):
    """A file that was not judged."""

    file: str
    reason: str


class Summary(BaseModel):
    """Counts over the whole call."""

    judged: int
    as_expected: int
    differing: int
    skipped: int


class Report(BaseModel):
    """What ``--json`` prints."""

    results: list[Result]
    skipped: list[SkippedFile]
    summary: Summary


def result_of(file: str, expected: frozenset[Verdict] | None, judgement: Judgement) -> Result:
    """Compare a judgement with what was expected; our own failure (IE) is never what was expected."""
    verdict = judgement.verdict
    fits = verdict is not Verdict.IE and (expected is None or verdict in expected)
    names = None if expected is None else sorted(expected)
    return Result(file=file, expected=names, verdict=verdict, as_expected=fits, judgement=judgement)


def report_of(results: list[Result], skipped: Sequence[tuple[str, str]]) -> Report:
    """Return the whole report."""
    fitting = sum(result.as_expected for result in results)
    return Report(
        results=results,
        skipped=[SkippedFile(file=file, reason=reason) for file, reason in skipped],
        summary=Summary(
            judged=len(results),
            as_expected=fitting,
            differing=len(results) - fitting,
            skipped=len(skipped),
        ),
    )


def print_table(report: Report) -> None:
    """Print the report to standard output.

    Raises:
        OSError: it cannot be written there.

    """
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH, highlight=False)
    # Printed here, since the console itself would end the process with status 1 at a closed pipe.
    with console.capture() as text:
        _render(console, report)
    click.echo(text.get(), nl=False)


def _render(console: Console, report: Report) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("file", overflow="fold")
    table.add_column("expected")
    table.add_column("verdict")
    table.add_column("tests", justify="right")
    table.add_column("time", justify="right")
    table.add_column("message", overflow="fold")
    for result in report.results:
        judgement = result.judgement
        colour = "green" if result.as_expected else "bold red"
        table.add_row(
            escape(result.file),
            _expected(result.expected),
            f"[{colour}]{result.verdict}[/]",
            f"{judgement.passed}/{judgement.total}",
            f"{judgement.duration_s:.2f} s",
            escape(judgement.message),
        )
    for skipped in report.skipped:
        table.add_row(
            escape(skipped.file), "", "[dim]skipped[/]", "", "", f"[dim]{escape(skipped.reason)}[/]"
        )
    console.print(table)
    for result in report.results:
        _print_cases(console, result)
    summary = report.summary
    console.print(
        f"{summary.judged} judged: {summary.as_expected} as expected, {summary.differing} not; "
        f"{summary.skipped} skipped"
    )


def _print_cases(console: Console, result: Result) -> None:
    """Print the tests that failed in a submission whose verdict was not expected."""
    if result.as_expected:
        return
    for case in result.judgement.cases:
        if case.verdict not in {Verdict.AC, Verdict.SKIPPED}:
            name = escape(f"{result.file}: test {case.id or case.index}: {case.verdict}")
            console.print(f"{name}  {escape(case.feedback or '')}")


def _expected(verdicts: list[Verdict] | None) -> str:
    if verdicts is None:
        return "any"
    return "rejected" if len(verdicts) >= MANY_VERDICTS else " ".join(verdicts)
