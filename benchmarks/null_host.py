"""The service around judges that accept everything: ``serve PORT WORKERS [QUEUE]``, ``pool QUEUE WORKERS``.

A pool's workers are started as ``worker DESCRIPTOR``.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from functools import partial

import uvicorn

from benchmarks.null_judge import COMMAND
from service.distributed.pool import Pool
from service.distributed.worker_main import serve as serve_pool
from service.http.app import create_app
from service.processes.child import run_child
from service.settings import Settings
from service.telemetry import configure_logging

WORKER = (sys.executable, "-m", "benchmarks.null_host", "worker")


def settings(workers: int, queue: str | None) -> Settings:
    """Return settings under which every submission is judged."""
    return Settings(
        sandbox="unsafe-process", workers=workers, queue=queue, cache_ttl_s=0, log_level="warning"
    )


def _serve(port: int, workers: int, queue: str | None) -> None:
    app = create_app(settings(workers, queue), COMMAND)
    uvicorn.run(app, host="127.0.0.1", port=port, loop="uvloop", http="httptools", log_level="warning")


async def _pool(queue: str, workers: int) -> None:
    pool = Pool(settings(workers, queue), WORKER)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, pool.stop)
    await pool.run()


def main(arguments: list[str]) -> int:
    """Run one of the parts; return the exit status."""
    configure_logging("warning", "json")
    match arguments:
        case ["serve", port, workers, *queue]:
            _serve(int(port), int(workers), queue[0] if queue else None)
        case ["pool", queue, workers]:
            asyncio.run(_pool(queue, int(workers)))
        case ["worker", descriptor]:
            sys.argv = [sys.argv[0], descriptor]
            run_child(partial(serve_pool, command=COMMAND))
        case _:
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
