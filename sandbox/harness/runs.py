"""One run: starts its processes, watches CPU and wall time, ends and reaps everything, measures.

CPU time is the sum over all processes of the run, the dead ones by their rusage. Wall time excludes what the
busiest thread spent waiting for a core, up to a hard cap, so that a loaded machine changes verdicts as
little as can be.
"""

from __future__ import annotations

import _socket
import os
import select
import time

from sandbox.harness import clocks, processes, waits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.harness import command, compiling
    from sandbox.harness.request import Request


class Started:
    """The processes of a run: the end of ``main`` ends it; ``program`` is where the submission runs."""

    def __init__(self, main: int, program: int, at: float) -> None:
        self.main = main
        self.program = program
        self.at = at
        self.waits = waits.Waits()

    def waited_s(self) -> float:
        """Return how long it has waited for a core."""
        return self.waits.look({self.main, self.program, *processes.others()})


def start(request: Request, loaded: compiling.Loaded | command.Loaded) -> Started | None:
    """Fork the processes of a run. None comes back in the program's own process.

    Test code goes to a process of its own before the program's exists, so that the program's memory never holds it.
    """
    main = 0
    if loaded.spec["mode"] == "assert" and not request.shared:
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        main = os.fork()
        if main == 0:
            from sandbox.harness import tester  # already imported by whoever loaded an assert problem

            ours.close()
            tester.run(theirs.detach(), request, loaded.spec)
        theirs.close()
        os.close(request.payload)
        os.close(request.report)
        request.payload = request.report = -1
        request.link = ours.detach()
    at = time.monotonic()
    pid = os.fork()
    if pid == 0:
        return None
    request.close()
    return Started(main or pid, pid, at)


def supervise(started: Started, request: Request, channel: _socket.socket) -> dict[str, object]:
    """Wait until the run ends or a limit does it in; return its facts."""
    pidfd = os.pidfd_open(started.main)
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    poller.register(channel.fileno(), select.POLLIN)
    killed = ""
    wait_s = clocks.first_look_s(request.cpu_time_s, request.wall_time_s)
    while not killed:
        ready = {fd for fd, _ in poller.poll(wait_s * 1000)}
        if pidfd in ready:
            break
        if channel.fileno() in ready:
            if not channel.recv(1 << 16):
                processes.kill_all()
                os._exit(0)  # nobody waits for an answer any more
            killed = "asked"
        else:
            killed, wait_s = _check(started, request)
    wall_time_s = time.monotonic() - started.at
    near_a_limit = killed or wall_time_s > clocks.first_look_s(request.cpu_time_s, request.wall_time_s)
    waiting_s = started.waited_s() if near_a_limit else 0.0
    os.close(pidfd)
    usage = processes.end_all((started.main, started.program))
    return {
        "status": usage.statuses.get(started.program, -1),
        "killed": killed,
        "cpu_time_s": usage.cpu_time_s,
        "wall_time_s": wall_time_s,
        "memory_peak_bytes": usage.memory_peak_bytes,
        "waiting_s": waiting_s,
    }


def _check(started: Started, request: Request) -> tuple[str, float]:
    """Return which limit is exceeded, or how long none can be."""
    return clocks.exceeded(
        processes.cpu_time_s(started.main, started.program),
        time.monotonic() - started.at,
        (request.cpu_time_s, request.wall_time_s),
        started.waited_s(),
    )
