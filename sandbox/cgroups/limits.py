"""Limits by control group, where this process may make groups: exact over a whole process tree.

A group is entered by the process that becomes the jail, before it starts, so everything in the jail is counted:
processes, files in its tmpfs, kernel buffers behind its pipes. One group serves one session. Which version of control
groups has the memory controller decides; the number of processes is limited too where its controller is at hand.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Literal, Protocol

from sandbox.cgroups import v1, v2
from sandbox.cgroups.places import Places, read_places

PROBE_BYTES = 64 << 20
PROBE_PROCESSES = 64
PROBE_TIMEOUT_S = 30.0


class MemoryGroup(Protocol):
    """One group; limits and counters in bytes and processes (threads count as such)."""

    @property
    def limits_processes(self) -> bool:
        """Whether ``limit`` limits the number of processes."""
        ...

    def enter(self) -> None:
        """Move the calling process, which has one thread, into the group. Raises OSError."""
        ...

    def limit(self, memory_bytes: int, processes: int | None = None) -> None:
        """Let the group use this much more memory than it does now, swap included, and start a new peak.

        ``processes`` is the most that it may have; None leaves that as it is. Raises OSError.
        """
        ...

    def restart_peak(self) -> None:
        """Start a new peak without measuring anew what limit and peak start from. Raises OSError."""
        ...

    def peak_bytes(self) -> int | None:
        """Return the most that was used since ``limit`` was last called, above what was used then; None: unknown."""
        ...

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        ...

    def remove(self) -> None:
        """Kill what is left in the group and remove it."""
        ...


class MemoryGroups:
    """Makes groups. ``version`` names the kind."""

    def __init__(self, maker: v1.Maker | v2.Maker) -> None:
        self._maker = maker
        self.version: Literal["cgroup-v1", "cgroup-v2"] = maker.version
        self.limits_processes = False

    @classmethod
    def available(cls, places: Places | None = None) -> MemoryGroups | None:
        """Return a maker of groups that has proved to work here, or None. ``places`` are this process's own."""
        places = places or read_places()
        maker = v1.Maker.found(places) or v2.Maker.found(places)
        if maker is None:
            return None
        groups = cls(maker)
        try:
            groups._prove()
        except (OSError, ValueError, LookupError, subprocess.SubprocessError):
            return None
        return groups

    def create(self) -> MemoryGroup:
        """Make a group. Raises OSError."""
        return self._maker.create()

    def _prove(self) -> None:
        """Make a group, let a process enter it, read all that is read later. Raises what shows that it is no use."""
        self._maker.remove_stale()
        probe = self.create()
        try:
            probe.limit(PROBE_BYTES, PROBE_PROCESSES)
            subprocess.run(
                [sys.executable, "-I", "-S", "-c", ""],
                preexec_fn=probe.enter,  # no other thread does more than poll
                check=True,
                timeout=PROBE_TIMEOUT_S,
                stdin=subprocess.DEVNULL,
            )
            probe.peak_bytes()
            probe.oom_kills()
            self.limits_processes = probe.limits_processes
        finally:
            probe.remove()
