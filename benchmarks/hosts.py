"""Processes that hold contenders: each starts afresh, so that none carries the memory of another into its forks."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from benchmarks.contenders import CONTENDERS
from benchmarks.work import Work

OPEN_TIMEOUT_S = 180.0
JUDGE_TIMEOUT_S = 900.0
CLOSE_TIMEOUT_S = 30.0


class Host:
    """A contender in a process of its own."""

    def __init__(self, contender: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._channel, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=_serve, args=(contender, theirs))
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """Return the process id."""
        if self._process.pid is None:
            raise RuntimeError("a host that was never started")
        return self._process.pid

    def wait_open(self) -> None:
        """Wait until the contender can judge. Raises RuntimeError."""
        self._answer(OPEN_TIMEOUT_S)

    def begin(self, work: Work) -> None:
        """Let it judge."""
        self._channel.send(work)

    def finish(self) -> list[float]:
        """Wait for the end of what was begun; return the seconds of each submission. Raises RuntimeError."""
        return self._answer(JUDGE_TIMEOUT_S)

    def close(self) -> None:
        """End it; kill it where it does not end."""
        self._channel.close()
        self._process.join(CLOSE_TIMEOUT_S)
        self._process.kill()
        self._process.join()

    def _answer(self, timeout_s: float) -> list[float]:
        try:
            answer = self._channel.recv() if self._channel.poll(timeout_s) else "no answer"
        except EOFError:
            answer = "the process died"
        if isinstance(answer, str):
            raise RuntimeError(f"{self._process.name}: {answer}")  # noqa: TRY004 -- it is what went wrong there
        laps_s: list[float] = answer
        return laps_s


def judge_together(hosts: list[Host], work: Work) -> tuple[float, list[float]]:
    """Share ``work`` out among ``hosts``; return the seconds until the last is done, and those of each submission."""
    share = Work(max(1, work.submissions // len(hosts)), work.tests)
    started = time.perf_counter()
    for host in hosts:
        host.begin(share)
    laps_s = [lap_s for host in hosts for lap_s in host.finish()]
    return time.perf_counter() - started, laps_s


def _serve(name: str, channel: Connection) -> None:
    try:
        contender = CONTENDERS[name]()
    except Exception as error:  # noqa: BLE001 -- told to whoever started this process
        channel.send(f"{type(error).__name__}: {error}")
        return
    channel.send([])
    try:
        while True:
            work: Work = channel.recv()
            try:
                laps_s = contender.judge(work)
            except Exception as error:  # noqa: BLE001 -- the same
                channel.send(f"{type(error).__name__}: {error}")
            else:
                channel.send(laps_s)
    except EOFError:
        contender.close()
