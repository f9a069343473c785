"""How a child process of the service ends: whatever it has open is closed, and its status tells why it ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from service.processes.process import ChildProcess

if TYPE_CHECKING:
    from collections.abc import Callable

# What it has open takes a while to close, and says when it is closed.
CHILD = """
import asyncio, contextlib, pathlib, sys, time
from service.processes.child import leaving, run_child

@contextlib.contextmanager
def held():
    try:
        yield
    finally:
        time.sleep(0.5)
        pathlib.Path({closed!r}).touch()

def serve(channel):
    with held():
        {body}
    return 7

run_child(serve)
"""
UNTIL_THE_END = "while channel.read() is not None: channel.write([b'ok'])"
BUSY = "channel.read(); channel.write([b'ok']); time.sleep(60)"
# Its last answer is never read: the end of such a channel is a reset.
UNHEARD = "channel.read(); channel.write([b'ok', b'unheard'])\n        " + UNTIL_THE_END
BY_ITSELF = "channel.read(); leaving(); channel.write([b'ok'])"


async def ended(body: str, end: Callable[[ChildProcess], object], closed: Path) -> int:
    child = await ChildProcess.start([sys.executable, "-c", CHILD.format(closed=str(closed), body=body)])
    assert await child.ask([b"hello"], 1, 20) == [b"ok"]
    result = end(child)
    if asyncio.iscoroutine(result):
        await result
    status = await child.exited
    await child.kill()
    return status


@pytest.mark.parametrize(
    ("body", "statuses"),
    # Whether it reads the end or is told of it first, nobody can say.
    [(UNTIL_THE_END, {0, 7}), (UNHEARD, {0, 7}), (BY_ITSELF, {7}), (BUSY, {0})],
    ids=["reads to the end", "is not heard", "by itself", "in the middle of work"],
)
def test_what_a_child_has_open_is_closed_when_the_service_hangs_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], body: str, statuses: set[int]
) -> None:
    closed = tmp_path / "closed"
    assert asyncio.run(ended(body, ChildProcess.close, closed)) in statuses
    assert closed.exists()
    assert capfd.readouterr().err == ""


def test_a_second_order_to_stop_does_not_break_off_what_the_first_one_closes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def twice(child: ChildProcess) -> None:
        for _ in range(2):
            os.kill(child.pid, signal.SIGTERM)
            time.sleep(0.1)

    closed = tmp_path / "closed"
    assert asyncio.run(ended(BUSY, twice, closed)) == 0
    assert closed.exists()
    assert capfd.readouterr().err == ""


def test_a_child_that_does_not_end_is_killed(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    stuck = "channel.read(); leaving(); channel.write([b'ok']); time.sleep(60)"
    started_s = time.monotonic()
    assert asyncio.run(ended(stuck, ChildProcess.close, closed)) == -signal.SIGKILL
    assert time.monotonic() - started_s < 30
    assert not closed.exists()
