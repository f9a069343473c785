"""What Redis costs over the queue in one process: ``python -m benchmarks.distributed``.

A batch of 1,024 submissions of 64 stored problems, each with a test of 1 MB, goes through both, in turns. Judges
accept everything at once, so that what is measured is the way there and back. CPU time, over all processes and Redis
itself, is the figure to trust on a machine that does other things as well.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click
import httpx
from rich.table import Table

from benchmarks import tables
from benchmarks.lab import ROOT, children, until
from benchmarks.redis_server import RedisServer, free_port, redis_server

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBLEMS = 64
ROLLOUTS = 16
TEST_BYTES = 1_000_000
SUBMISSIONS = PROBLEMS * ROLLOUTS
READY_S = 60.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


@dataclass(slots=True)
class Installation:
    """A service with its processes, and what was measured of it."""

    name: str
    url: str
    api: int
    roots: list[int]
    redis: RedisServer | None = None
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    upload_bytes: int = 0
    http_bytes: int = 0
    redis_bytes: int = 0

    @property
    def wall_ms(self) -> float:
        """Return the median wall time of a submission."""
        return 1000 * statistics.median(self.wall_s) / SUBMISSIONS

    @property
    def cpu_ms(self) -> float:
        """Return the median CPU time of a submission, over all processes."""
        return 1000 * statistics.median(self.cpu_s) / SUBMISSIONS

    def api_peak_bytes(self) -> int:
        """Return the most memory that the API process had."""
        status = Path(f"/proc/{self.api}/status").read_text("ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) << 10

    def redis_peak_bytes(self) -> int:
        """Return the most memory that Redis had."""
        return int(self.redis.client().info("memory")["used_memory_peak"]) if self.redis else 0

    def used_cpu_s(self) -> float:
        """Return the CPU time of all processes so far."""
        pending, total_s = list(self.roots), 0.0
        while pending:
            pid = pending.pop()
            pending += children(pid)
            fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
            total_s += (int(fields[11]) + int(fields[12])) / TICKS_PER_S
        return total_s

    def moved_bytes(self) -> int:
        """Return the bytes that went into and out of Redis so far."""
        if self.redis is None:
            return 0
        stats = self.redis.client().info("stats")
        return int(stats["total_net_input_bytes"]) + int(stats["total_net_output_bytes"])


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=len(os.sched_getaffinity(0)), show_default=True)
def main(*, rounds: int, workers: int) -> None:
    """Measure both queues on this machine."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis = stack.enter_context(redis_server(folder))
        both = [
            stack.enter_context(_local(workers)),
            stack.enter_context(_distributed(redis, workers)),
        ]
        for one in both:
            _upload(one)
            _judge(one, "warm-up")
        for number in range(rounds):
            for one in both[:: 1 if number % 2 == 0 else -1]:
                before_s, moved = one.used_cpu_s(), one.moved_bytes()
                one.wall_s.append(_judge(one, f"{number}"))
                one.cpu_s.append(one.used_cpu_s() - before_s)
                one.redis_bytes = one.moved_bytes() - moved
        tables.console_of(sys.stdout).print(_table(both))


def _table(both: list[Installation]) -> Table:
    local, shared = both
    table = Table(title=f"{SUBMISSIONS} submissions of {PROBLEMS} problems with 1 MB tests; medians")
    for name in ("", local.name, shared.name, "difference"):
        table.add_column(name, justify="right")
    rows = {
        "CPU ms/submission, all processes": [one.cpu_ms for one in both],
        "wall ms/submission": [one.wall_ms for one in both],
        "problems, uploaded MiB over HTTP": [one.upload_bytes / MIB for one in both],
        "batch, MiB over HTTP": [one.http_bytes / MIB for one in both],
        "batch, MiB in and out of Redis": [one.redis_bytes / MIB for one in both],
        "peak memory of the API, MiB": [one.api_peak_bytes() / MIB for one in both],
        "peak memory of Redis, MiB": [one.redis_peak_bytes() / MIB for one in both],
    }
    for name, (before, after) in rows.items():
        table.add_row(name, f"{before:.2f}", f"{after:.2f}", f"{after - before:+.2f}")
    return table


@contextmanager
def _local(workers: int) -> Iterator[Installation]:
    with _api(workers) as (url, api):
        yield Installation("own queue", url, api, [api])


@contextmanager
def _distributed(redis: RedisServer, workers: int) -> Iterator[Installation]:
    with _process("pool", redis.url, str(workers)) as pool, _api(workers, redis.url) as (url, api):
        yield Installation("Redis", url, api, [api, pool, redis.process.pid], redis)


@contextmanager
def _api(workers: int, *queue: str) -> Iterator[tuple[str, int]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with _process("serve", str(port), str(workers), *queue) as pid:
        until(lambda: _ready(url, workers), READY_S, "the service is not ready")
        yield url, pid


@contextmanager
def _process(*arguments: str) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.null_host", *arguments], cwd=ROOT)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(READY_S)


def _ready(url: str, workers: int) -> bool:
    try:
        answer = httpx.get(f"{url}/readyz")
    except httpx.TransportError:
        return False
    return answer.status_code == httpx.codes.OK and answer.json()["workers_alive"] >= workers


def _upload(one: Installation) -> None:
    with httpx.Client(base_url=one.url, timeout=READY_S) as client:
        for number in range(PROBLEMS):
            text = os.urandom(TEST_BYTES // 2).hex()
            problem = {"mode": "stdio", "tests": [{"input": text, "expected": f"{number}"}]}
            answer = client.put(f"/problems/p{number}", json=problem)
            answer.raise_for_status()
            one.upload_bytes += len(answer.request.content)


def _judge(one: Installation, mark: str) -> float:
    body = {
        "submissions": [
            {"code": f"print({number})  # {mark}", "problem_id": f"p{number // ROLLOUTS}"}
            for number in range(SUBMISSIONS)
        ]
    }
    with httpx.Client(base_url=one.url, timeout=600) as client:
        started_s = time.monotonic()
        answer = client.post("/evaluate/batch", json=body)
        seconds = time.monotonic() - started_s
    answer.raise_for_status()
    judgements = answer.json()["judgements"]
    if len(judgements) != SUBMISSIONS or {judgement["verdict"] for judgement in judgements} != {"AC"}:
        raise RuntimeError("not everything was judged")
    one.http_bytes = len(answer.request.content) + answer.num_bytes_downloaded
    return seconds


if __name__ == "__main__":
    main()
