"""What a run of training loses when its service fails: ``python -m benchmarks.training_faults --output FOLDER``.

Trains the example for a CPU twice with the same seed: undisturbed, and through a proxy that answers requests with 503,
breaks connections and cuts answers, while workers of the service are killed. What fails for a while is asked again, so
that both records must be equal to the last digit. A run whose record is complete is not run again.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
import yaml

from benchmarks.algorithms import EXAMPLE
from benchmarks.fault_proxy import PASS, Fault, FaultProxy
from trainer_client.train.record import NAME, read_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.fault_proxy import Request
    from trainer_client.train.record import Line

BATCHES = "/evaluate/batch"
KILL_EVERY = 100
"""Requests from one killing of all workers to the next."""
FAULTS = {
    5: Fault("503", status=503, retry_after="0"),
    11: Fault("connection reset", reset=True),
    17: Fault("answer cut off", cut_after_bytes=400),
}
"""By remainder of a request's number by 20."""
UNSTABLE = frozenset({"seconds"})


class Saboteur:
    """Decides what becomes of each request, and kills workers."""

    def __init__(self, service: subprocess.Popen[str]) -> None:
        self._service = service
        self.requests = 0
        self.killed = 0

    def __call__(self, request: Request) -> Fault:
        """Return the fault of a request."""
        if request.path != BATCHES:
            return PASS
        self.requests += 1
        if self.requests % KILL_EVERY == 0:
            self._kill_workers()
        return FAULTS.get(self.requests % 20, PASS)

    def _kill_workers(self) -> None:
        pid = self._service.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
            os.kill(int(child), signal.SIGKILL)
            self.killed += 1


@click.command()
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--steps", type=click.IntRange(10), default=150, show_default=True)
def main(*, output: Path, steps: int) -> None:
    """Train twice and compare the records."""
    output.mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    config["data"] = {name: str(EXAMPLE.parent / file) for name, file in config["data"].items()}
    config["run"]["steps"] = steps
    file = output / "config.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    with _serving() as (service, url):
        undisturbed = _trained(file, output / "undisturbed", url)
        saboteur = Saboteur(service)
        with FaultProxy(urlsplit(url).port or 0, saboteur, keep_requests=False) as proxy:
            disturbed = _trained(file, output / "disturbed", proxy.url)
        faults = Counter({name: count for name, count in proxy.seen.faults.items() if name != PASS.name})
    click.echo(f"{saboteur.requests} requests: {dict(faults)}, {saboteur.killed} workers killed")
    for name, record in (("undisturbed", undisturbed), ("disturbed", disturbed)):
        steps_of = [line for line in record if line["kind"] == "step"]
        lost = sum(line["unscorable"] for line in steps_of) / len(steps_of)
        first, last = (sum(one["reward"] for one in part) / 10 for part in (steps_of[:10], steps_of[-10:]))
        click.echo(
            f"{name}: reward {first:.3f} -> {last:.3f}, unscorable {lost:.4f}, {record[-1]['seconds']} s"
        )
    differing = _differing(undisturbed, disturbed)
    click.echo(
        f"{len(differing)} lines of the records differ{': ' if differing else ''}{differing[:3] or ''}"
    )
    sys.exit(bool(differing))


@contextmanager
def _serving() -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [
        sys.executable,
        "-m",
        "service.cli",
        "serve",
        "--port",
        "0",
        "--workers",
        "2",
        "--log-level",
        "error",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            found = re.search(r"http://[\d.]+:\d+", process.stdout.readline() if process.stdout else "")
            if found is None:
                raise click.ClickException("the service does not start")
            yield process, found[0]
        finally:
            process.terminate()


def _trained(config: Path, folder: Path, url: str) -> list[Line]:
    if not (folder / NAME).is_file() or read_record(folder / NAME)[-1]["kind"] != "end":
        command = [
            sys.executable,
            "-m",
            "trainer_client.train",
            str(config),
            "--url",
            url,
            "--output",
            str(folder),
        ]
        subprocess.run(command, check=True)
    return read_record(folder / NAME)


def _differing(first: list[Line], second: list[Line]) -> list[tuple[Any, Any]]:
    """Return the lines of steps, evaluations and warnings that are not the same."""
    rows = [
        [
            {name: value for name, value in line.items() if name not in UNSTABLE}
            for line in record
            if line["kind"] not in {"run", "end"}
        ]
        for record in (first, second)
    ]
    if len(rows[0]) != len(rows[1]):
        return [(len(rows[0]), len(rows[1]))]
    return [(one, other) for one, other in zip(*rows, strict=True) if one != other]


if __name__ == "__main__":
    main()
