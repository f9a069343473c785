"""``microcoder audit``: how often the evaluator is right on submissions whose right verdict is known."""

from __future__ import annotations

import asyncio
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from comparators import PROFILES
from service.audit.changes import changes
from service.audit.engine import Plan
from service.audit.engine import audit as run_audit
from service.audit.gate import faults
from service.audit.report import Report
from service.audit.sources import FORMATS, Companions, Labelling, SourceError, builtin, load
from service.cli.audit_tables import print_changes, print_report
from service.cli.flags import load_settings
from service.cli.offline import UnusableError, quiet
from service.errors import MalformedBodyError, NotReadyError
from service.json_text import parsed
from service.queue.offline import NoSandboxError

if TYPE_CHECKING:
    from service.audit.items import Loaded
    from service.settings import Settings

MEASURED, FAILED = 0, 1
DEFAULT = "run"
GATED_PROFILE = "microcoder"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_WRITTEN = click.Path(dir_okay=False, writable=True, allow_dash=True, path_type=Path)


class _DefaultGroup(click.Group):
    """A group whose command ``run`` need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in {"--help", "-h"}):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_DefaultGroup)
def audit() -> None:
    """Measure comparison profiles on submissions whose right verdict is known.

    `microcoder audit [SOURCE]...` is short for `microcoder audit run [SOURCE]...`; without SOURCE the built-in set is
    audited.
    """


@audit.command(
    epilog="Exit status: 0 measured, 1 with --gate where profile microcoder is wrong on anything or something "
    "was not measured, 2 bad input, no usable sandbox, or nowhere to write the report."
)
@click.argument("sources", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="auto", help="Format of the sources.")
@click.option(
    "--submissions", type=_FILE, help="Labelled programs for problems without: problem, code, truth."
)
@click.option("--problems", type=_FILE, help="Problems that the rows of a rollout log name.")
@click.option("--reward-field", help="Field of a rollout log that holds the reward.")
@click.option(
    "--accept-from", type=float, default=1.0, help="Least reward that counts as accepted; default 1."
)
@click.option("--profile", "profiles", multiple=True, type=click.Choice(list(PROFILES)), help="Default: all.")
@click.option("--repeats", type=click.IntRange(1, 100), default=1, help="Runs of every program; default 1.")
@click.option("--no-controls", is_flag=True, help="Leave out mutated and reformatted outputs.")
@click.option("--json", "json_file", type=_WRITTEN, help="Write the report as JSON; - is standard output.")
@click.option("--html", "html_file", type=_WRITTEN, help="Write the report as a page.")
@click.option("--gate", is_flag=True, help="Fail where profile microcoder is wrong on anything.")
@click.option("--sandbox", help="nsjail, or unsafe-process: no isolation, for programs that you trust.")
@click.option("--python", help="Interpreter that runs the programs.")
@click.option("--workers", help="Worker processes; default one per core.")
def run(  # noqa: PLR0913 -- one parameter per flag
    sources: tuple[Path, ...],
    *,
    form: str,
    submissions: Path | None,
    problems: Path | None,
    reward_field: str | None,
    accept_from: float,
    profiles: tuple[str, ...],
    repeats: int,
    no_controls: bool,
    json_file: Path | None,
    html_file: Path | None,
    gate: bool,
    **flags: str | None,
) -> None:
    """Audit SOURCES: files and folders of labelled submissions; without any, the built-in set.

    Known are this project's labelled sets, problem packages of Kattis and ICPC, rows of LiveCodeBench, APPS, TACO,
    HumanEval, MBPP and verl (JSONL, JSON or Parquet), and rollout logs of trainers.
    """
    settings = load_settings({name: value for name, value in flags.items() if value is not None})
    plan = Plan(profiles or tuple(PROFILES), repeats, controls=not no_controls)
    if gate and GATED_PROFILE not in plan.profiles:
        raise click.UsageError(f"--gate looks at profile {GATED_PROFILE}, which --profile leaves out")
    if not math.isfinite(accept_from):
        raise click.UsageError(f"--accept-from must be a number, not {accept_from}")
    companions = Companions(submissions, problems, Labelling(reward_field, accept_from))
    for path in (json_file, html_file):
        # Known before all programs are run, not after.
        if path is not None and not path.parent.is_dir():
            raise UnusableError(f"{path.parent}: is no folder, so {path.name} cannot be written there")
    try:
        loaded = load(list(sources), form, companions) if sources else builtin()
        report = _measured(loaded, quiet(settings), plan)
    except (SourceError, NoSandboxError, NotReadyError, ValueError) as error:
        raise UnusableError(str(error)) from error
    if html_file is not None:
        # Plotting takes a second to import, and only this needs it.
        from service.audit.page.report_page import rendered  # noqa: PLC0415

        _write(html_file, rendered(report))
    if json_file is not None:
        _write(json_file, report.model_dump_json(indent=2) + "\n")
    if str(json_file) != "-":
        print_report(report)
    found = list(faults(report, GATED_PROFILE)) if gate else []
    for fault in found:
        click.echo(f"gate: {fault}", err=True)
    sys.exit(FAILED if found else MEASURED)


@audit.command(
    epilog="Exit status: 0 nothing is worse, 1 the profile is wrong somewhere it was right, items or controls are "
    "missing, or nothing could be compared, 2 bad input."
)
@click.argument("before", type=_FILE)
@click.argument("after", type=_FILE)
@click.option("--profile", default=GATED_PROFILE, help="Profile that decides on the exit status.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def compare(before: Path, after: Path, *, profile: str, as_json: bool) -> None:
    """List every verdict that changed from report BEFORE to report AFTER.

    Both are files that --json wrote, or answers of GET /audit/ID.
    """
    old, new = _read(before), _read(after)
    for path, report in ((before, old), (after, new)):
        if profile not in [one.name for one in report.profiles]:
            raise UnusableError(f"{path}: has no profile {profile!r}")
    found = changes(old, new)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        print_changes(found)
    sys.exit(FAILED if found.worse(profile) else MEASURED)


def _measured(loaded: Loaded, settings: Settings, plan: Plan) -> Report:
    console = Console(stderr=True)
    columns = (TextColumn("auditing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("auditing", total=len(loaded.items) * plan.repeats)
        return asyncio.run(
            run_audit(loaded, settings, plan, lambda done, _total: progress.update(bar, completed=done))
        )


def _write(path: Path, text: str) -> None:
    try:
        if str(path) == "-":
            click.echo(text, nl=False)
        else:
            path.write_text(text, encoding="utf-8")
    except (OSError, UnicodeEncodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnusableError(f"{path}: the report cannot be written: {reason}") from error


def _read(path: Path) -> Report:
    try:
        data = parsed(path.read_bytes())
        # An answer of the service has the report in it.
        return Report.model_validate(data["report"] if isinstance(data, dict) and "report" in data else data)
    except MalformedBodyError as error:
        raise UnusableError(f"{path}: is no JSON: {error}") from error
    except OSError as error:
        raise UnusableError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        detail: Any = error.errors(include_url=False)[0]
        where = ".".join(map(str, detail["loc"]))
        raise UnusableError(f"{path}: is no report of this version: {where}: {detail['msg']}") from error
