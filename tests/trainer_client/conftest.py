"""One real service for all tests of the client, and proxies that harm what passes."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from benchmarks.fault_proxy import PASS, Fault, FaultProxy, Request
from trainer_client import StdioCase, StdioProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """Give the URL of a service."""
    with serving() as (_, address):
        yield address


@pytest.fixture(scope="session")
def keeping_url(url: str) -> str:
    """Give the URL of the service, of which problems and idempotency keys are wanted."""
    answer = httpx.put(f"{url}/problems/probe", json=PROBLEM.model_dump(exclude_unset=True))
    if not answer.is_success:
        pytest.skip("this service keeps no problems")
    return url


@pytest.fixture
def harm(url: str) -> Iterator[Callable[..., FaultProxy]]:
    """Give a function that starts a proxy in front of the service.

    It is given the faults of the batches to come, one each, after which all pass; or a function of the request.
    Uploads of problems pass.
    """
    with ExitStack() as stack:

        def start(*faults: Fault, plan: Callable[[Request], Fault] | None = None) -> FaultProxy:
            coming = iter(faults)

            def scripted(request: Request) -> Fault:
                return next(coming, PASS) if request.path == "/evaluate/batch" else PASS

            return stack.enter_context(FaultProxy(urlsplit(url).port or 0, plan or scripted))

        yield start


@pytest.fixture
def nowhere() -> str:
    """Give a URL at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"
