"""A pool's worker whose judge is ``hooked_worker``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from service.distributed.worker_main import serve
from service.processes.child import run_child

if __name__ == "__main__":
    hooked = (sys.executable, str(Path(__file__).with_name("hooked_worker.py")))
    run_child(partial(serve, command=hooked))
