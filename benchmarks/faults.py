"""What an installation loses when parts of it fail under load: ``python -m benchmarks.faults``."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import click
from rich.table import Table

from benchmarks import tables
from benchmarks.fault_list import FAULTS, inject
from benchmarks.lab import Lab
from benchmarks.load import Load

COLUMNS = ("submissions sent", "answered", "lost", "wrong", "IE", "seconds")


@click.command()
@click.option("--batches", type=click.IntRange(1), default=4, show_default=True)
@click.option("--submissions", type=click.IntRange(1), default=60, show_default=True, help="In each batch.")
@click.option("--only", multiple=True, type=click.Choice(list(FAULTS)), help="Only these faults.")
@click.option("--sandbox", type=click.Choice(["nsjail", "unsafe-process"]), default="nsjail")
def main(*, batches: int, submissions: int, only: tuple[str, ...], sandbox: str) -> None:
    """Inject faults one after the other, each into an installation of its own with two pools of two workers."""
    table = Table(title="Faults under load; two pools of two workers, an API process, Redis with AOF")
    table.add_column("injected")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for name in only or FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            row = _measured(Path(folder), name, batches, submissions, sandbox)
        click.echo(f"{name}: {dict(zip(COLUMNS, row, strict=True))}", err=True)
        table.add_row(name, *row)
    tables.console_of(sys.stdout).print(table)


def _measured(folder: Path, name: str, batches: int, submissions: int, sandbox: str) -> list[str]:
    with Lab(folder, pools=(2, 2), flags=("--sandbox", sandbox)) as lab:
        load = Load(lab.url, batches=batches, submissions=submissions, seconds_each=0.1)
        started_s = time.monotonic()
        load.start()
        inject(lab, name)
        tally = load.finish()
        seconds = time.monotonic() - started_s
    figures = (tally.sent, tally.answered, tally.lost, tally.wrong, tally.failures)
    return [*map(str, figures), f"{seconds:.1f}"]


if __name__ == "__main__":
    main()
