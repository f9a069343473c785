"""A pool's worker whose judge is ``hooked_worker``."""

from __future__ import annotations

import sys
from pathlib import Path

from service.distributed.worker_main import serve
from service.processes.child import channel_of_this_child

if __name__ == "__main__":
    hooked = (sys.executable, str(Path(__file__).with_name("hooked_worker.py")))
    sys.exit(serve(channel_of_this_child(), hooked))
