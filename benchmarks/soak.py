"""Does anything grow? ``python -m benchmarks.soak`` keeps an installation busy and watches what it holds.

An API process, Redis and a pool of workers, batches of mixed submissions one after the other from several clients, and
every so often a row of a table: memory, file descriptors, processes, temporary files, keys in Redis. Every verdict
must be right.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import httpx
from rich.table import Table

from benchmarks import tables
from benchmarks.lab import Lab, children
from benchmarks.mixed import mixed, wrong

CLIENTS = 4
BATCH = 64
STORED = 8
PATIENCE_S = 300.0
MIB = 1 << 20
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
COLUMNS = (
    *("minute", "submissions", "wrong or unanswered"),
    *("API MiB", "workers MiB", "judges MiB", "jails MiB", "Redis MiB"),
    *("descriptors", "processes", "temporary files", "Redis keys"),
)


@dataclass(slots=True)
class Count:
    """What clients saw so far."""

    submissions: int = 0
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, submissions: int, failures: list[str]) -> None:
        """Note the end of a batch."""
        with self.lock:
            self.submissions += submissions
            self.failures += failures


@click.command()
@click.option("--minutes", type=click.FloatRange(0.1), default=20.0, show_default=True)
@click.option(
    "--every-s", type=click.FloatRange(1), default=60.0, show_default=True, help="Between two rows."
)
@click.option("--workers", type=click.IntRange(1), default=len(os.sched_getaffinity(0)), show_default=True)
@click.option(
    "--kept-s",
    type=click.IntRange(1),
    default=120,
    show_default=True,
    help="How long judgements and problems are kept, so that a short run sees them go as well.",
)
def main(*, minutes: float, every_s: float, workers: int, kept_s: int) -> None:
    """Keep everything busy and print what it holds."""
    table = Table(title=f"{CLIENTS} clients, batches of {BATCH} mixed submissions, {workers} workers")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    with ExitStack() as stack:
        folder, temporary = (stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2))
        os.environ["TMPDIR"] = temporary  # of all that is started from here
        for name in ("CACHE", "RESULT", "PROBLEM"):
            os.environ[f"MICROCODER_{name}_TTL_S"] = str(kept_s)
        lab = stack.enter_context(Lab(Path(folder), pools=(workers,)))
        count, stop = Count(), threading.Event()
        threads = [threading.Thread(target=_client, args=(lab.url, count, stop, n)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        started_s = time.monotonic()
        while (passed_s := time.monotonic() - started_s) < 60 * minutes:
            time.sleep(min(every_s, 60 * minutes - passed_s))
            row = _row(lab, temporary, count, (time.monotonic() - started_s) / 60)
            click.echo("  ".join(row), err=True)
            table.add_row(*row)
        stop.set()
        for thread in threads:
            thread.join()
    tables.console_of(sys.stdout).print(table)
    for failure in count.failures:
        click.echo(failure)
    sys.exit(bool(count.failures))


def _client(url: str, count: Count, stop: threading.Event, seed: int) -> None:
    with httpx.Client(base_url=url, timeout=PATIENCE_S) as client:
        while not stop.is_set():
            seed += CLIENTS
            made = mixed(BATCH, seed)
            submissions = [_stored(client, submission, seed) for submission, _ in made]
            headers = {"Idempotency-Key": f"{submissions[0]['id']}"} if seed % 2 else {}
            try:
                answer = client.post("/evaluate/batch", json={"submissions": submissions}, headers=headers)
                answer.raise_for_status()
            except httpx.HTTPError as error:
                count.add(len(made), [f"{error!r}"] * len(made))
                continue
            differing = wrong([verdict for _, verdict in made], answer.json()["judgements"])
            count.add(len(made), [f"{right} expected, {given} given" for right, given in differing])


def _stored(client: httpx.Client, submission: dict[str, Any], seed: int) -> dict[str, Any]:
    """Let some submissions name a stored problem; their contents change, so that old ones have to go."""
    if seed % STORED:
        return submission
    problem = {
        **submission["problem"],
        "limits": {**submission["problem"]["limits"], "wall_time_s": 20 + seed % 97},
    }
    name = f"soak-{problem['mode']}-{seed % 97}"
    client.put(f"/problems/{name}", json=problem).raise_for_status()
    return {"id": submission["id"], "code": submission["code"], "problem_id": name}


def _row(lab: Lab, temporary: str, count: Count, minute: float) -> list[str]:
    workers, judges = lab.worker_pids(), lab.judge_pids()
    jails = [pid for judge in judges for pid in _below(judge)]
    with lab.redis.client() as redis:
        redis_bytes, keys = int(redis.info("memory")["used_memory"]), int(redis.dbsize())
    everything = [lab.api.pid, lab.pools[0].pid, *workers, *judges, *jails]
    memory = [_resident_bytes(pids) for pids in ([lab.api.pid], workers, judges, jails)]
    return [
        f"{minute:.1f}",
        str(count.submissions),
        str(len(count.failures)),
        *(f"{one / MIB:.1f}" for one in (*memory, redis_bytes)),
        str(sum(_descriptors(pid) for pid in everything)),
        str(len(everything)),
        str(sum(len(files) for _, _, files in os.walk(temporary))),
        str(keys),
    ]


def _below(pid: int) -> list[int]:
    return [one for child in children(pid) for one in (child, *_below(child))]


def _resident_bytes(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * PAGE_BYTES
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 -- names only
    except (FileNotFoundError, ProcessLookupError):
        return 0


if __name__ == "__main__":
    main()
