"""`docker compose up` with more and more workers: ``python -m benchmarks.compose_scale``.

The checkout's own compose file, a batch of mixed submissions for each number of workers, and the same kinds of
submissions through the queue of one process for comparison. Every verdict must be right.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import httpx
from rich.table import Table

from benchmarks import tables
from benchmarks.lab import ROOT, until
from benchmarks.mixed import mixed, wrong
from benchmarks.redis_server import free_port
from benchmarks.serving import Serving

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVES_WITHIN_S = 120.0
PATIENCE_S = 900.0


@click.command()
@click.option("--submissions", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--workers", multiple=True, type=click.IntRange(1), default=(1, 2, 4), show_default=True)
def main(*, submissions: int, workers: tuple[int, ...]) -> None:
    """Judge the same mixture with the embedded queue and with numbers of containers."""
    table = Table(title=f"{submissions} mixed submissions, {len(os.sched_getaffinity(0))} cores")
    for name in (
        "judged by",
        "seconds until ready",
        "seconds",
        "submissions/s",
        "wrong",
        "workers that judged",
    ):
        table.add_column(name, justify="right")
    with Serving() as service:
        _judge(service.url, 50)
        table.add_row("microcoder serve", "", *_judge(service.url, submissions))
    with _composed() as (compose, url):
        for number in workers:
            started_s = time.monotonic()
            compose("up", "--detach", "--no-recreate", "--scale", f"worker={number}")
            until(lambda number=number: _ready(url, number), SERVES_WITHIN_S, "the containers are not ready")  # type: ignore[misc]
            ready_s = time.monotonic() - started_s
            _judge(url, 50)
            table.add_row(f"compose, {number} workers", f"{ready_s:.1f}", *_judge(url, submissions))
    tables.console_of(sys.stdout).print(table)


class _Compose:
    def __init__(self, port: int) -> None:
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith("MICROCODER_")}
        self._environment["MICROCODER_PORT"] = str(port)
        self._project = f"microcoder-scale-{os.getpid()}"

    def __call__(self, *arguments: str) -> None:
        command = ["docker", "compose", "--project-name", self._project, *arguments]
        subprocess.run(command, cwd=ROOT, env=self._environment, check=True, capture_output=True)


@contextmanager
def _composed() -> Iterator[tuple[_Compose, str]]:
    port = free_port()
    compose = _Compose(port)
    try:
        compose("build", "--quiet")
        yield compose, f"http://127.0.0.1:{port}"
    finally:
        compose("down", "--volumes", "--timeout", "5")


def _ready(url: str, workers: int) -> bool:
    try:
        answer = httpx.get(f"{url}/readyz")
    except httpx.TransportError:
        return False
    return answer.status_code == httpx.codes.OK and answer.json()["workers_alive"] == workers


def _judge(url: str, number: int) -> tuple[str, str, str, str]:
    made = mixed(number)
    started_s = time.monotonic()
    body = {"submissions": [submission for submission, _ in made]}
    answer = httpx.post(f"{url}/evaluate/batch", json=body, timeout=PATIENCE_S)
    seconds = time.monotonic() - started_s
    answer.raise_for_status()
    judgements = answer.json()["judgements"]
    differing = wrong([verdict for _, verdict in made], judgements)
    if differing:
        click.echo(f"right, given: {differing}", err=True)
    judges = len({one["worker"] for one in judgements})
    return f"{seconds:.1f}", f"{number / seconds:.1f}", str(len(differing)), str(judges)


if __name__ == "__main__":
    main()
