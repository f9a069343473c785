"""How many submissions a second this machine judges, and what one costs: ``python -m benchmarks.sandbox``.

Contenders take turns, round by round. CPU time per submission, over all processes, is the figure to trust on a
machine that does other things as well; submissions per second need an idle one. Nothing is asserted.
"""

from __future__ import annotations

import json
import os
import sys

import click
from rich.console import Console

from benchmarks import tables
from benchmarks.measuring import Lane, measure

TEST_COUNTS = [1, 10, 50]
QUICK_TEST_COUNTS = [1, 10]


def lanes(cores: int) -> list[Lane]:
    """Return what is measured on a machine with ``cores`` cores."""
    alone = ("warm", "strict", "cold", "subprocess", "fork")
    chosen = [Lane(name) for name in (*alone, "evaluate", "server")]
    if cores > 1:
        chosen += [Lane(name, processes=2) for name in (*alone, "evaluate")]
    return chosen


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--quick", is_flag=True, help="Half a minute: fewer and shorter rounds, no 50 tests.")
@click.option("--rounds", type=click.IntRange(1), help="Number of rounds (5; 3 with --quick).")
@click.option(
    "--round-s", type=click.FloatRange(0.1), help="Length of a contender's turn (1; 0.5 with --quick)."
)
def main(*, as_json: bool, quick: bool, rounds: int | None, round_s: float | None) -> None:
    """Measure the judging of trivial submissions on this machine."""
    notes = Console(stderr=True)
    with notes.status("contenders start") as status:
        cells = measure(
            lanes(len(os.sched_getaffinity(0))),
            QUICK_TEST_COUNTS if quick else TEST_COUNTS,
            rounds=rounds or (3 if quick else 5),
            round_s=round_s or (0.5 if quick else 1.0),
            progress=status.update,
        )
    if as_json:
        machine = {"cores": len(os.sched_getaffinity(0)), "kernel": os.uname().release}
        print(json.dumps({"machine": machine, "cells": tables.as_data(cells)}, indent=1))
        return
    console = tables.console_of(sys.stdout)
    for table in (tables.measured(cells), tables.one_more_test(cells), tables.against_references(cells)):
        console.print(table)


if __name__ == "__main__":
    main()
