"""One real service for all tests of the client, and proxies that harm what passes."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from benchmarks.fault_proxy import PASS, Fault, FaultProxy, Request
from tests.trainer_client.live import PROBLEM, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
