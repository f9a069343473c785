"""A pool's worker, with a judge of ``hooked_worker``, on a machine whose clock is ``SKEW_S`` seconds ahead."""

from __future__ import annotations

import datetime as dt
import os
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import rq.utils

from service.distributed.worker_main import serve
from service.processes.child import run_child


class Skewed(dt.datetime):
    """What this machine takes for the time."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        """Return it."""
        return dt.datetime.now(tz) + dt.timedelta(seconds=float(os.environ["SKEW_S"]))


if __name__ == "__main__":
    vars(rq.utils)["datetime"] = SimpleNamespace(datetime=Skewed, timezone=dt.timezone)
    hooked = (sys.executable, str(Path(__file__).with_name("hooked_worker.py")))
    run_child(partial(serve, command=hooked))
