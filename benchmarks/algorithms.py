"""GRPO, DAPO's settings and MicroCoder-GRPO on the same tiny problems and seeds: ``python -m benchmarks.algorithms``.

Runs ``microcoder train`` on the example for a CPU, one run after the other, against a service that is running, and
draws reward, held-out accuracy, length, diversity, masked and truncated share side by side. The model is a random one
of 75,000 parameters: it shows how the algorithms differ in mechanism, not which is better on real problems.
Runs whose record is complete are not run again.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml
from rich.table import Table

from benchmarks import tables
from trainer_client.train.plots import plot_runs
from trainer_client.train.record import NAME, read_record

if TYPE_CHECKING:
    from trainer_client.train.record import Line

EXAMPLE = Path(__file__).parents[1] / "trainer_client" / "examples" / "train" / "cpu.yaml"
ALGORITHMS = ("grpo", "dapo", "microcoder")
LAST = 10
COLUMNS = ("reward", "length", "diversity", "masked", "truncated")


@click.command()
@click.option("--url", required=True, help="A service that is running.")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--seeds", type=click.IntRange(1), default=2, show_default=True)
@click.option("--steps", type=click.IntRange(10), default=150, show_default=True)
def main(*, url: str, output: Path, seeds: int, steps: int) -> None:
    """Run every algorithm with every seed, then draw and tabulate."""
    output.mkdir(parents=True, exist_ok=True)
    runs: dict[str, list[list[Line]]] = {name: [] for name in ALGORITHMS}
    for seed in range(seeds):
        for name in ALGORITHMS:
            runs[name].append(run(name, seed, steps, output, url))
    plot_runs(runs, output / "algorithms.png")
    table = Table(title=f"{steps} steps, means of the last {LAST} and of {seeds} seeds")
    for column in ("algorithm", *COLUMNS, "held-out accuracy"):
        table.add_column(column, justify="left" if column == "algorithm" else "right")
    for name, records in runs.items():
        table.add_row(name, *(f"{last(records, one):.3f}" for one in COLUMNS), f"{heldout(records):.3f}")
    tables.console_of(sys.stdout).print(table)


def run(algorithm: str, seed: int, steps: int, output: Path, url: str) -> list[Line]:
    """Train, unless that was done before; return the record."""
    folder = output / f"{algorithm}-{seed}"
    if not _complete(folder / NAME):
        config = output / f"{algorithm}-{seed}.yaml"
        config.write_text(yaml.safe_dump(_config(algorithm, seed, steps)), encoding="utf-8")
        command = [sys.executable, "-m", "trainer_client.train", str(config)]
        subprocess.run([*command, "--url", url, "--output", str(folder)], check=True)
    return read_record(folder / NAME)


def _config(algorithm: str, seed: int, steps: int) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    config["data"] = {name: str(EXAMPLE.parent / file) for name, file in config["data"].items()}
    if algorithm != config["algorithm"]["name"]:
        config["algorithm"] = {"name": algorithm}
    config["run"] |= {"seed": seed, "steps": steps}
    return config


def _complete(path: Path) -> bool:
    return path.is_file() and read_record(path)[-1]["kind"] == "end"


def last(records: list[list[Line]], figure: str) -> float:
    """Return the mean of a figure over the last steps of all records; NaN where it was not measured."""
    values: list[float] = [
        line[figure]
        for record in records
        for line in [one for one in record if one["kind"] == "step"][-LAST:]
        if line[figure] is not None
    ]
    return sum(values) / len(values) if values else float("nan")


def heldout(records: list[list[Line]]) -> float:
    """Return the mean of the last accuracies."""
    values: list[float] = [
        [one["accuracy"] for one in record if one["kind"] == "heldout"][-1] for record in records
    ]
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
