"""A ``microcoder serve`` of its own for a benchmark, which can be killed and started again on its port."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Self

COMMAND = (sys.executable, "-m", "service.cli", "serve", "--log-level", "error")


class Serving:
    """A service process on the loopback interface."""

    def __init__(self) -> None:
        self.port = 0
        self._process = self._started()

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}"

    def restart(self) -> None:
        """Kill it, with everything that it holds, and start it again."""
        self.close()
        self._process = self._started()

    def close(self) -> None:
        """Kill it."""
        self._process.kill()
        with self._process:
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, "--port", str(self.port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = process.stdout.readline() if process.stdout else ""
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if not found:
            process.kill()
            raise RuntimeError("the service did not start; `microcoder serve` says why")
        self.port = int(found[1])
        return process
