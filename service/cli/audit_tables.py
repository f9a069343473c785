"""Reports of ``microcoder audit`` for people at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from service.audit.changes import Changes
    from service.audit.report import Rate, Report

PIPE_WIDTH = 200
MAX_LISTED = 20


def print_report(report: Report) -> None:
    """Print what was found; the whole list of disagreements is in the page and in the JSON."""
    console = _console()
    with console.capture() as text:
        console.print(f"[bold]{escape(report.headline)}[/]")
        _incomplete(console, report)
        console.print(_profiles(report))
        console.print(_steps(report))
        if report.controls:
            console.print(_controls(report))
        _listed(console, report)
        isolation = (
            "" if report.environment.isolation == "nsjail" else f", isolation {report.environment.isolation}"
        )
        console.print(
            f"{report.runs} runs, {report.comparisons} comparisons in {report.wall_time_s:.1f} s{isolation}"
        )
    click.echo(text.get(), nl=False)


def print_changes(found: Changes) -> None:
    """Print what changed."""
    console = _console()
    with console.capture() as text:
        console.print(f"before  {escape(found.before)}\nafter   {escape(found.after)}")
        table = _table("item or control", "profile", "truth", "before", "after", "")
        for one in found.verdicts:
            table.add_row(
                escape(one.id), one.profile, one.truth, one.before, one.after, _coloured(one.direction)
            )
        for control in found.controls:
            truth = "accept" if control.right else "reject"
            shares = (f"{_percent(control.before)} accepted", f"{_percent(control.after)} accepted")
            table.add_row(
                f"control: {control.kind}", control.profile, truth, *shares, _coloured(control.direction)
            )
        if table.row_count:
            console.print(table)
        for name, ids in (
            ("missing after", found.lost),
            ("controls missing after", found.lost_controls),
            ("not comparable", found.other_items),
            ("new", found.gained),
        ):
            if ids:
                more = f" and {len(ids) - MAX_LISTED} more" if len(ids) > MAX_LISTED else ""
                console.print(f"{name}: {escape(', '.join(ids[:MAX_LISTED]))}{more}")
        console.print(f"{found.compared} items compared, {len(found.verdicts)} verdicts changed")
        if not found.compared:
            console.print("[bold red]nothing was compared[/]: no item of one report is the same in the other")
    click.echo(text.get(), nl=False)


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=PIPE_WIDTH, highlight=False)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _incomplete(console: Console, report: Report) -> None:
    completeness = report.completeness
    for word, entries in (("skipped", completeness.skipped), ("failed on our side", completeness.unscored)):
        for one in entries[:MAX_LISTED]:
            console.print(f"[yellow]{word}[/] {escape(one.name)}: {escape(one.reason)}")
        if len(entries) > MAX_LISTED:
            console.print(f"[yellow]{word}[/] {len(entries) - MAX_LISTED} more")


def _profiles(report: Report) -> Table:
    table = _table(
        "profile",
        "false rejects",
        "false accepts",
        "right",
        "kappa",
        "mean reward",
        *([f"against {report.baseline}"] if report.baseline else []),
    )
    for one in report.profiles:
        against = ""
        if one.mcnemar is not None:
            test = one.mcnemar
            against = f"+{test.only_this_right} -{test.only_baseline_right}, p = {test.p_value:.2g}"
        table.add_row(
            one.name,
            _shown(one.false_reject_rate),
            _shown(one.false_accept_rate),
            _shown(one.agreement),
            "" if one.kappa is None else f"{one.kappa:.3f}",
            "" if one.mean_reward is None else f"{one.mean_reward:.3f}",
            *([against] if report.baseline else []),
        )
    truth = "" if report.truth_mean_reward is None else f"{report.truth_mean_reward:.3f}"
    table.add_row("truth" if report.labels == "truth" else "logged", "", "", "", "", truth)
    return table


def _steps(report: Report) -> Table:
    table = _table("profile", "step: submissions that it decided (wrongly)")
    for one in report.profiles:
        steps = (
            f"{step.name} {step.submissions}" + (f" [red]({step.wrong})[/]" if step.wrong else "")
            for step in one.steps
        )
        table.add_row(one.name, ", ".join(steps))
    return table


def _controls(report: Report) -> Table:
    names = [one.name for one in report.profiles]
    table = _table("control", "truth", "made", *(f"{name} accepts" for name in names))
    for one in report.controls:
        cells = (
            f"[red]{one.accepted[name].count}[/]"
            if name in one.wrong_profiles
            else str(one.accepted[name].count)
            for name in names
        )
        table.add_row(one.kind, "accept" if one.right else "reject", str(one.tries), *cells)
    return table


def _listed(console: Console, report: Report) -> None:
    first = report.profiles[0].name
    wrong = [one for one in report.disagreements if not one.views[first].right]
    for one in wrong[:MAX_LISTED]:
        view = one.views[first]
        console.print(
            f"[red]wrong[/] {escape(one.id)}: the truth is {one.truth}, {first} says {view.verdict} "
            f"{escape(view.step or view.feedback)}"
        )
    if len(wrong) > MAX_LISTED:
        console.print(f"[red]wrong[/] {len(wrong) - MAX_LISTED} more")
    for suspect in report.suspects[:MAX_LISTED]:
        console.print(
            f"[yellow]suspect[/] {escape(suspect.problem)}: {suspect.cause}: {escape(suspect.reason)}"
        )
    if len(report.suspects) > MAX_LISTED:
        console.print(f"[yellow]suspect[/] {len(report.suspects) - MAX_LISTED} more, in the JSON report")
    for change in report.repeatability.changed[:MAX_LISTED]:
        verdicts = ", ".join(change.verdicts)
        console.print(
            f"[yellow]unstable[/] {escape(change.id)}, {change.profile}: {verdicts} ({change.cause})"
        )


def _shown(rate: Rate) -> str:
    interval = f" ({100 * rate.low:.1f} to {100 * rate.high:.1f})" if rate.total else ""
    return f"{rate.count} of {rate.total}, {_percent(rate.rate)}{interval}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f} %"


def _coloured(direction: str) -> str:
    return {"better": "[green]better[/]", "worse": "[bold red]worse[/]"}.get(direction, direction)
