"""CPU time of everything below this process: the living, the dead, and those whose parents died before them.

A jail is killed together with the process that started it, so its last processes become orphans, which no parent
waits for. As reaper of its descendants this process inherits them and loses nothing of their time.

The kernel reports the time of living processes in ticks (10 ms as a rule): measure rounds of a second, not less.
"""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Places in /proc/PID/stat behind the name: user and system time, then the same of children waited for.
FIRST_TIME, LAST_TIME = 11, 15
STATE = 0


class CpuMeter:
    """Adds up CPU time. ``kept`` are children that somebody else waits for; every other dead child is reaped here."""

    def __init__(self, kept: set[int]) -> None:
        """Make this process the reaper of its descendants. Raises OSError."""
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot become the reaper of descendants")
        self._kept = kept

    def descendants_s(self) -> float:
        """Return the CPU time of all processes below this one so far, this one not included."""
        living_s = sum(_time_s(pid) for pid in self._reap())
        dead = resource.getrusage(resource.RUSAGE_CHILDREN)
        return living_s + dead.ru_utime + dead.ru_stime

    def _reap(self) -> list[int]:
        """Reap orphans; return all descendants that are left."""
        left: list[int] = []
        for pid in _children(os.getpid()):
            if pid not in self._kept and _is_dead(pid):
                os.waitpid(pid, 0)
            else:
                left.append(pid)
        pending = list(left)
        while pending:
            children = _children(pending.pop())
            left += children
            pending += children
        return left


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except (FileNotFoundError, ProcessLookupError):
        return []  # ended meanwhile: its parent has its time now


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _is_dead(pid: int) -> bool:
    return _stat(pid)[STATE] == "Z"


def _time_s(pid: int) -> float:
    try:
        return sum(map(int, _stat(pid)[FIRST_TIME:LAST_TIME])) / TICKS_PER_S
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
