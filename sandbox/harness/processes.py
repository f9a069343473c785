"""The processes below the harness: what they used, and their end.

In a jail the harness is the first process of a pid namespace: it may signal "everybody", and orphans become its
children. Outside one (the unsafe way) it makes itself the reaper of its descendants and finds them in /proc.
"""

from __future__ import annotations

import _signal
import os

from sandbox.harness import clocks, interpreter

ALONE = os.getpid() == 1
# In a container: what was there before any program was. It stays as long as this process, so its numbers do too.
STRANGERS = frozenset(os.listdir("/proc")) if ALONE and os.path.isdir("/proc") else frozenset()
PR_SET_CHILD_SUBREAPER = 36
WALL = 0x40000000  # __WALL: children that send no signal at their end, too

if not ALONE:
    interpreter.prctl(PR_SET_CHILD_SUBREAPER, 1)


class Usage:
    """What ended processes used, and the wait statuses of the ones asked for."""

    def __init__(self, statuses: dict[int, int], cpu_time_s: float, memory_peak_bytes: int) -> None:
        self.statuses = statuses
        self.cpu_time_s = cpu_time_s
        self.memory_peak_bytes = memory_peak_bytes


def cpu_time_s(*known: int) -> float:
    """Return the CPU time of a run's living processes and of the children that they have waited for.

    ``known`` processes are counted even without /proc.
    """
    return sum(clocks.used_s(pid) + clocks.of_waited_for_s(pid) for pid in {*known, *others()})


def others() -> list[int]:
    """Return the processes below this one that can be seen."""
    if not ALONE:
        return clocks.descendants(os.getpid())
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and name not in STRANGERS]
    except OSError:
        return []


def end_all(wanted: tuple[int, ...]) -> Usage:
    """Kill and reap every process below this one; nothing of the run is alive when this returns."""
    statuses: dict[int, int] = {}
    cpu_time = 0.0
    peak_kib = 0
    while True:
        kill_all()
        try:
            pid, status, usage = os.wait4(-1, WALL)
        except ChildProcessError:
            break
        if pid in wanted:
            statuses[pid] = status
        cpu_time += usage.ru_utime + usage.ru_stime
        peak_kib = max(peak_kib, usage.ru_maxrss)
    return Usage(statuses, cpu_time, peak_kib * 1024)


def kill_all() -> None:
    """Kill every process below this one."""
    if ALONE:
        try:
            os.kill(-1, _signal.SIGKILL)
        except ProcessLookupError:
            return  # nobody left
    for pid in () if ALONE else others():
        try:
            os.kill(pid, _signal.SIGKILL)
        except ProcessLookupError:
            continue
