"""A machine on which everybody has to wait for a core."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

BUSY = "import time\nend = time.monotonic() + 30\nwhile time.monotonic() < end: pass"


@contextmanager
def loaded_machine() -> Iterator[None]:
    """Let four processes want each core."""
    # Each in a session of its own: the scheduler shares cores out among sessions.
    busy = [
        subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
        for _ in range(4 * len(os.sched_getaffinity(0)))
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
