"""A real service for tests of the client, a problem, and a right and a wrong completion."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainer_client import StdioCase, StdioProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = (sys.executable, "-m", "service.cli", "serve", "--workers", "2", "--log-level", "error")
PROBLEM = StdioProblem(
    mode="stdio",
    tests=[StdioCase(input="1 2\n", expected="3\n"), StdioCase(input="10 -4\n", expected="6\n")],
)
RIGHT = "```python\nprint(sum(map(int, input().split())))\n```"
WRONG = "```python\nprint(3)\n```"


@contextmanager
def serving(port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a service; gives its process and URL."""
    process = subprocess.Popen(
        [*COMMAND, "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert found
            yield process, found[0]
        finally:
            process.kill()
            process.wait()
