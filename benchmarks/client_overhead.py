"""What the client costs: its import, and a submission beside bare httpx: ``python -m benchmarks.client_overhead``.

The service's part is left out: a small server in the same process answers every batch at once with prepared
judgements. Measured is CPU time, the server's included, of the client and of bare httpx with the same submissions.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import httpx
from rich.console import Console
from rich.table import Table

from benchmarks.fault_proxy import decompressed
from trainer_client import EvaluatorClient, StdioCase, StdioProblem, Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainer_client import Judgement

IMPORT = """
import sys, time
before, started_s = set(sys.modules), time.process_time()
import {module}
print(time.process_time() - started_s, len(set(sys.modules) - before))
"""
JUDGEMENT = {
    "index": 0, "verdict": "AC", "reward": 1.0, "score": 1.0, "passed": 1, "total": 1, "first_failed": None,
    "message": "all 1 tests passed", "cases": [], "cached": False, "duration_s": 0.04, "worker": "local-1",
    "isolation": "strict",
}  # fmt: skip
PROBLEM = StdioProblem(mode="stdio", tests=[StdioCase(input="1 2\n", expected="3\n")])
CODE = "print(sum(map(int, input().split())))\n" * 20


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()
            return
        fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:] if line)
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        if not head.startswith(b"POST"):
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            continue
        text = decompressed(body, fields.get("content-encoding"))
        ids = [one["id"] for one in json.loads(text)["submissions"]]
        lines = b"".join(json.dumps({"id": one, **JUDGEMENT}).encode() + b"\n" for one in ids)
        kind = "Content-Type: application/x-ndjson"
        writer.write(f"HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {len(lines)}\r\n\r\n".encode() + lines)


@contextmanager
def answering() -> Iterator[str]:
    """Give the URL of a server that answers at once."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    starting = asyncio.run_coroutine_threadsafe(asyncio.start_server(_serve, "127.0.0.1", 0), loop)
    port = starting.result().sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def imported(module: str, times: int) -> tuple[float, int]:
    """Return the median CPU seconds that importing ``module`` takes in a new process, and the modules it loads."""
    seconds, modules = [], 0
    for _ in range(times):
        output = subprocess.check_output([sys.executable, "-c", IMPORT.format(module=module)], text=True)
        second, count = output.split()
        seconds.append(float(second))
        modules = int(count)
    return statistics.median(seconds), modules


def per_submission_us(judge: Callable[[int], object], size: int, rounds: int) -> float:
    """Return the median CPU microseconds per submission of batches of ``size``."""
    judge(size)
    taken = []
    for _ in range(rounds):
        started_s = time.process_time()
        judge(size)
        taken.append((time.process_time() - started_s) / size)
    return 1e6 * statistics.median(taken)


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=30, show_default=True)
def main(*, rounds: int) -> None:
    """Measure and print."""
    table = Table(title="import")
    for name in ("module", "CPU ms", "modules"):
        table.add_column(name)
    for module in ("httpx", "pydantic", "trainer_client", "trainer_client.problems", "trainer_client.client"):
        second, modules = imported(module, 5)
        table.add_row(module, f"{1000 * second:.0f}", str(modules))
    cost = Table(title="CPU µs per submission")
    for name in ("batch of", "httpx", "client", "difference"):
        cost.add_column(name, justify="right")
    with answering() as url, httpx.Client() as http, EvaluatorClient(url, chunk_bytes=1 << 30) as client:

        def bare(size: int) -> object:
            batch = [{"id": str(n), "code": CODE, "problem": PROBLEM.model_dump()} for n in range(size)]
            answer = http.post(f"{url}/evaluate/batch", json={"submissions": batch})
            return [json.loads(line) for line in answer.text.splitlines()]

        def whole(size: int) -> list[Judgement]:
            return client.evaluate_batch([Submission(code=CODE, problem=PROBLEM) for _ in range(size)])

        for size in (1, 32, 256):
            httpx_us, client_us = (per_submission_us(judge, size, rounds) for judge in (bare, whole))
            cost.add_row(str(size), f"{httpx_us:.0f}", f"{client_us:.0f}", f"{client_us - httpx_us:.0f}")
    console = Console(width=90)
    console.print(table, cost)


if __name__ == "__main__":
    main()
