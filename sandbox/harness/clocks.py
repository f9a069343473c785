"""What processes used, read from the outside: works in a jail, above one, and without one."""

from __future__ import annotations

import os
import time

CORES = len(os.sched_getaffinity(0))
CPUCLOCK_SCHED = 2
CLOCK_TICKS_HZ = os.sysconf("SC_CLK_TCK")
HARD_WALL_FACTOR = 4
# A run that waits for a core for this share of its CPU time limit has others on its machine's caches as well: the same
# work costs up to a quarter more.
LOADED = 0.25
LOADED_FACTOR = 1.25
SHORTEST_WAIT_S = 0.002
LONGEST_WAIT_S = 0.5


def clock_of(pid: int) -> int:
    """Return the CPU-time clock of a process, as clock_getcpuclockid(3) computes it on Linux."""
    return (~pid << 3) | CPUCLOCK_SCHED


def used_s(pid: int) -> float:
    """Return the CPU time of a process, without its children's; 0 where it is gone."""
    try:
        return time.clock_gettime(clock_of(pid))
    except OSError:
        return 0.0


def of_waited_for_s(pid: int) -> float:
    """Return the CPU time of the children that a process has waited for: they are gone, their time counts."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return sum(map(int, fields[13:15])) / CLOCK_TICKS_HZ
    except (OSError, ValueError):
        return 0.0


def resident_bytes(pid: int) -> int:
    """Return how much memory a process has in use; 0 where it is gone."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 0


def descendants(pid: int) -> list[int]:
    """Return the processes below one, however deep, the dead ones included that nobody has waited for."""
    found: list[int] = []
    pending = [pid]
    while pending:
        try:
            parent = pending.pop()
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children", encoding="ascii") as file:
                    children = [int(word) for word in file.read().split()]
                found += children
                pending += children
        except OSError:
            continue
    return found


def clamped(seconds: float) -> float:
    """Return a time to wait until the next look at the clocks."""
    return min(max(seconds, SHORTEST_WAIT_S), LONGEST_WAIT_S)


def first_look_s(cpu_time_s: float, wall_time_s: float) -> float:
    """Return how long no limit can be exceeded, from the start of a run."""
    return clamped(min(cpu_time_s / CORES, wall_time_s))


def extended(cpu_limit_s: float, delay_s: float) -> float:
    """Return the CPU time limit of a run that waited for a core for ``delay_s``."""
    return LOADED_FACTOR * cpu_limit_s if delay_s > LOADED * cpu_limit_s else cpu_limit_s


def exceeded(used: float, wall: float, limits: tuple[float, float], delay_s: float) -> tuple[str, float]:
    """Return which limit is exceeded (``cpu``, ``wall`` or none), and how long none can be.

    ``used`` and ``wall`` are a run's CPU and wall time so far, ``limits`` the limits of both, in seconds. The wall
    limit is extended by ``delay_s``, the time spent waiting for a core, up to a hard cap, and the CPU limit as
    :func:`extended` says, so that a loaded machine changes verdicts as little as can be.
    """
    cpu_limit_s, wall_limit_s = extended(limits[0], delay_s), limits[1]
    if used >= cpu_limit_s:
        return "cpu", 0.0
    left_s = wall_limit_s - wall
    if left_s <= 0:
        left_s = 0.0 if wall >= HARD_WALL_FACTOR * wall_limit_s else left_s + delay_s
        if left_s <= 0:
            return "wall", 0.0
    return "", clamped(min((cpu_limit_s - used) / CORES, left_s))
