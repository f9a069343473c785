"""Work that nobody waits for any longer is ended at the service, and nobody else's with it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from benchmarks.fault_proxy import PASS, Fault
from tests.trainer_client.live import PROBLEM, RIGHT
from trainer_client import (
    AsyncEvaluatorClient,
    ClosedError,
    EvaluatorClient,
    Limits,
    RefusedError,
    problem_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.fault_proxy import FaultProxy

ROOT = Path(__file__).parents[2]
# Much longer than any test waits for it to be gone.
ASLEEP_S = 50.0
PATIENT = PROBLEM.model_copy(update={"limits": Limits(wall_time_s=ASLEEP_S)})
LONG = f"```python\nimport time; time.sleep({ASLEEP_S - 1})\n```"


def waiting(url: str) -> int:
    held: int = httpx.get(f"{url}/readyz").json()["waiting"]
    return held


def idle_soon(url: str) -> bool:
    started_s = time.monotonic()
    while waiting(url) and time.monotonic() - started_s < ASLEEP_S / 2:
        time.sleep(0.05)
    return waiting(url) == 0


def until_begun(url: str, count: int) -> None:
    started_s = time.monotonic()
    while waiting(url) < count:
        assert time.monotonic() - started_s < ASLEEP_S
        time.sleep(0.02)


def test_what_is_given_up_at_the_deadline_is_ended(keeping_url: str) -> None:
    with EvaluatorClient(keeping_url, chunk_submissions=2) as client:
        found = client.rewards([RIGHT, *[LONG] * 5], [PATIENT] * 6, deadline_s=3)
        assert found == [1.0, *[None] * 5]
        assert idle_soon(keeping_url)


def test_what_is_under_way_when_a_client_is_closed_is_ended(keeping_url: str) -> None:
    client = EvaluatorClient(keeping_url)
    errors: list[ClosedError] = []

    def call() -> None:
        with pytest.raises(ClosedError) as caught:
            client.rewards([LONG] * 3, [PATIENT] * 3)
        errors.append(caught.value)

    thread = threading.Thread(target=call)
    thread.start()
    until_begun(keeping_url, 3)
    client.close()
    thread.join(20)
    assert errors
    assert idle_soon(keeping_url)


def test_calls_of_the_asynchronous_client_are_ended_by_closing_it_and_by_cancelling_them(
    keeping_url: str,
) -> None:
    async def main() -> None:
        client = AsyncEvaluatorClient(keeping_url)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await client.rewards([LONG], [PATIENT])
        assert await asyncio.to_thread(idle_soon, keeping_url)
        call = asyncio.ensure_future(client.rewards([LONG] * 2, [PATIENT] * 2))
        await asyncio.to_thread(until_begun, keeping_url, 2)
        await client.aclose()
        with pytest.raises(ClosedError, match="during the call"):
            await call

    asyncio.run(main())
    assert idle_soon(keeping_url)


INTERRUPTED = """
import sys
from trainer_client import EvaluatorClient
EvaluatorClient(sys.argv[1]).rewards([sys.argv[2]] * 3, [sys.argv[3]] * 3)
"""


def test_an_interrupt_ends_the_call_and_the_work(keeping_url: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, keeping_url, LONG, problem_text(PATIENT)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until_begun(keeping_url, 3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in said
    assert idle_soon(keeping_url)


def test_what_is_refused_ends_the_rest_of_its_batch(keeping_url: str) -> None:
    greedy = PROBLEM.model_copy(update={"limits": Limits(cpu_time_s=1e6)})
    with EvaluatorClient(keeping_url, chunk_submissions=1) as client, pytest.raises(RefusedError):
        client.rewards([LONG] * 2 + [RIGHT], [PATIENT] * 2 + [greedy])
    assert idle_soon(keeping_url)


def test_the_same_program_of_somebody_else_goes_on(keeping_url: str) -> None:
    slow = f"```python\nimport time; time.sleep(3)\n{RIGHT[len('```python') + 1 :]}"
    clients = [EvaluatorClient(keeping_url, partial_credit=True) for _ in range(2)]
    with clients[0] as hasty, clients[1] as patient, ThreadPoolExecutor(2) as pool:
        late = pool.submit(patient.rewards, [slow], [PATIENT])
        until_begun(keeping_url, 1)
        assert hasty.rewards([slow], [PATIENT], deadline_s=1) == [None]
        assert late.result(40) == [1.0]


def test_a_service_that_no_longer_listens_does_not_keep_a_batch_past_its_deadline(
    keeping_url: str, harm: Callable[..., FaultProxy]
) -> None:
    asked: list[str] = []

    def plan(request: Any) -> Fault:
        if request.method == "DELETE":
            asked.append(request.path)
            return Fault(hold_s=60)
        return PASS

    started_s = time.monotonic()
    with EvaluatorClient(harm(plan=plan).url) as client:
        assert client.rewards([LONG], [PATIENT], deadline_s=1) == [None]
    assert time.monotonic() - started_s < 15
    assert len(asked) == 1
    assert httpx.delete(keeping_url + asked[0]).json()["status"] == "cancelled"


def test_an_answered_batch_has_nothing_to_end(harm: Callable[..., FaultProxy]) -> None:
    proxy = harm(Fault(cut_after_bytes=700))
    with EvaluatorClient(proxy.url, first_backoff_s=0.01) as client:
        assert client.rewards([RIGHT] * 4, [PROBLEM] * 4) == [1.0] * 4
    assert {one.method for one in proxy.seen.requests} <= {"PUT", "POST", "GET"}
