"""``microcoder judge``: programs against a problem, without a server."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from comparators import PROFILES
from sandbox import SandboxSettings, SandboxUnavailableError, languages
from service.cli.flags import load_settings
from service.cli.offline import UnusableError, quiet
from service.cli.report import Report, Result, print_table, report_of, result_of
from service.errors import NotReadyError
from service.inputs import InputError, Inputs, Work, read_inputs
from service.languages import PYTHON, every_name, fault
from service.queue.offline import NoSandboxError, judge_all
from service.wire import Judgement, Options

if TYPE_CHECKING:
    from service.settings import Settings

AS_EXPECTED, DIFFERS = 0, 1
STDOUT_DESCRIPTOR = 1


@click.command(
    epilog="Exit status: 0 all as expected, 1 something differs, 2 bad input, no usable sandbox, or no "
    "report written."
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--problem",
    "problem_file",
    type=click.Path(exists=True, path_type=Path),
    help="Problem as JSON, or a problem package; PATHS are then programs that are expected to be accepted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option(
    "--sandbox",
    help="nsjail, nsjail-cold, docker, or unsafe-process: no isolation, for programs that you trust.",
)
@click.option("--python", help="Interpreter that runs the programs.")
@click.option("--workers", help="Worker processes; default one per core.")
@click.option("--profile", type=click.Choice(sorted(PROFILES)), help="Comparison profile for all problems.")
@click.option("--all-tests", is_flag=True, help="Run all tests, also behind the first that fails.")
@click.option(
    "--detail", type=click.Choice(["none", "summary", "full"]), help="What is told of single tests."
)
def judge(  # noqa: PLR0913 -- one parameter per flag
    paths: tuple[Path, ...],
    problem_file: Path | None,
    *,
    as_json: bool,
    sandbox: str | None,
    python: str | None,
    workers: str | None,
    profile: str | None,
    all_tests: bool,
    detail: str | None,
) -> None:
    """Judge programs and compare their verdicts with what is expected of them.

    PATHS are JSON files, JSONL files and folders. A JSON file is a submission of the HTTP contract with its
    problem, a batch of them, or {"problem": ..., "submissions": [{"file", "code", "expect"}]} where
    `expect` is the right verdict or a list of them. A JSONL file has one of these a line. A folder is a
    problem package in the format of Kattis and ICPC, or holds packages; the folder of a submission says
    what is expected of it.

    What names no expectation is expected to be accepted.
    """
    flags = {"sandbox": sandbox, "python": python, "workers": workers}
    settings = load_settings({name: value for name, value in flags.items() if value is not None})
    try:
        inputs = read_inputs(list(paths), problem_file)
        _check(inputs, settings)
        settings = quiet(settings)
        changes: dict[str, object] = {"stop_on_failure": False if all_tests else None, "detail": detail}
        results = _judged(_with_profile(inputs.work, profile), settings, changes)
    except (InputError, NoSandboxError, NotReadyError, SandboxUnavailableError) as error:
        raise UnusableError(str(error)) from error
    report = report_of(results, inputs.skipped)
    _print(report, as_json=as_json)
    sys.exit(DIFFERS if report.summary.differing else AS_EXPECTED)


def _print(report: Report, *, as_json: bool) -> None:
    try:
        if as_json:
            click.echo(report.model_dump_json(indent=2))
        else:
            print_table(report)
        sys.stdout.flush()
    except (OSError, UnicodeEncodeError) as error:
        # What is still buffered would fail again at the end of the process and change its exit status.
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), STDOUT_DESCRIPTOR)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnusableError(f"the report cannot be written to standard output: {reason}") from error


def _check(inputs: Inputs, settings: Settings) -> None:
    if not inputs.work:
        reasons = "; ".join(f"{file}: {reason}" for file, reason in inputs.skipped)
        raise InputError(f"there is nothing to judge{': ' if reasons else ''}{reasons}")
    accepted = [PYTHON]
    if any(work.submission.language != PYTHON for work in inputs.work):
        accepted = every_name(languages(SandboxSettings(kind=settings.sandbox, python=settings.python)))
    for work in inputs.work:
        language, profile = work.submission.language, work.problem.comparison.profile
        if reason := fault(language, accepted, work.problem):
            raise InputError(f"{work.file}: language: {language!r}: {reason}")
        if profile not in PROFILES:
            known = ", ".join(sorted(PROFILES))
            raise InputError(f"{work.file}: problem.comparison.profile: {profile!r} is none of {known}")


def _with_profile(work: list[Work], profile: str | None) -> list[Work]:
    if profile is None:
        return work
    changed = {}
    for one in work:
        if id(one.problem) not in changed:
            comparison = one.problem.comparison.model_copy(update={"profile": profile})
            changed[id(one.problem)] = one.problem.model_copy(update={"comparison": comparison})
    return [replace(one, problem=changed[id(one.problem)]) for one in work]


def _judged(work: list[Work], settings: Settings, changes: dict[str, object]) -> list[Result]:
    """Judge with a progress bar where a person looks on; results come in the order of ``work``."""
    changes = {name: value for name, value in changes.items() if value is not None}
    judgements: dict[int, Judgement] = {}
    console = Console(stderr=True)
    columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("judging", total=len(work))

        def on_judged(index: int, judgement: bytes) -> None:
            judgements[index] = Judgement.model_validate_json(judgement)
            progress.advance(bar)

        def options(one: Work) -> Options:
            chosen = one.options or Options(isolation=settings.isolation)
            return chosen.model_copy(update=changes)

        asyncio.run(judge_all(work, settings, options, on_judged))
    return [result_of(one.file, one.expected, judgements[index]) for index, one in enumerate(work)]
