"""A pool of hooked workers in a thread."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from service.distributed.pool import Pool
from service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOOKED_POOL = (sys.executable, str(Path(__file__).with_name("hooked_pool_worker.py")))


@contextmanager
def pool(url: str, workers: int = 1, command: Sequence[str] = HOOKED_POOL, **settings: Any) -> Iterator[Pool]:
    """Run a pool until the context ends."""
    started: list[tuple[Pool, asyncio.AbstractEventLoop]] = []
    ready = threading.Event()

    async def run() -> None:
        values = {"sandbox": "unsafe-process", "python": sys.executable, "drain_s": 2.0, **settings}
        one = Pool(Settings(queue=url, workers=workers, **values), command)
        started.append((one, asyncio.get_running_loop()))
        ready.set()
        await one.run()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert ready.wait(20)
    one, loop = started[0]
    try:
        yield one
    finally:
        loop.call_soon_threadsafe(one.stop)
        thread.join(60)
        assert not thread.is_alive()
