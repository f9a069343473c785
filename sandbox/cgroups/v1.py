"""Groups of version 1: one for memory and, where that can be made too, one for the number of processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from sandbox.cgroups.folder import SLACK_BYTES, GroupFolder, remove_stale
from sandbox.cgroups.places import Places

# Not cgroup.procs: moving a whole process waits for every core to pass a quiet point, about 10 ms.
ENTRANCE = "tasks"


class Maker:
    """Makes groups below those that this process lives in."""

    version: Literal["cgroup-v1"] = "cgroup-v1"

    def __init__(self, memory: Path, pids: Path | None) -> None:
        self._memory = memory
        self._pids = pids

    @classmethod
    def found(cls, places: Places) -> Maker | None:
        """Return a maker, or None where the memory controller is not one of version 1 that lets us make groups."""
        memory, pids = places.version_1("memory"), places.version_1("pids")
        if memory is None or not os.access(memory, os.W_OK):
            return None
        return cls(memory, pids if pids is not None and os.access(pids, os.W_OK) else None)

    def create(self) -> Group:
        """Make a group. Raises OSError."""
        memory = GroupFolder(self._memory, ENTRANCE)
        try:
            return Group(memory, GroupFolder(self._pids, ENTRANCE) if self._pids else None)
        except OSError:
            memory.remove()
            raise

    def remove_stale(self) -> None:
        """Remove the groups of dead services."""
        for parent in (self._memory, self._pids):
            if parent is not None:
                remove_stale(parent)


class Group:
    """One session's groups (see ``cgroups.MemoryGroup``)."""

    def __init__(self, memory: GroupFolder, pids: GroupFolder | None) -> None:
        self._memory = memory
        self._pids = pids
        self._base_bytes = 0
        self._peak = -1

    @property
    def limits_processes(self) -> bool:
        """Whether there is a group for that."""
        return self._pids is not None

    def enter(self) -> None:
        """Move the calling process into the groups. Raises OSError."""
        self._memory.enter()
        if self._pids is not None:
            self._pids.enter()

    def limit(self, memory_bytes: int, processes: int | None = None) -> None:
        """Set new limits and start a new peak. Raises OSError."""
        memory = self._memory
        self._base_bytes = int(memory.read("memory.usage_in_bytes"))
        bound_bytes = self._base_bytes + memory_bytes + SLACK_BYTES
        names = ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"]
        if not (memory.path / names[1]).exists():
            names.pop()
        elif int(memory.read(names[1])) < bound_bytes:
            names.reverse()  # the limit with swap may never be below the one without
        for name in names:
            memory.write(name, bound_bytes)
        self.restart_peak()
        if self._pids is not None and processes is not None:
            self._pids.write("pids.max", processes)

    def restart_peak(self) -> None:
        """Start a new peak without measuring anew what limit and peak start from. Raises OSError."""
        os.pwrite(self._peak_fd(), b"0", 0)

    def peak_bytes(self) -> int:
        """Return the most that was used since the peak was last started, above what was used at ``limit``."""
        return max(0, int(os.pread(self._peak_fd(), 64, 0)) - self._base_bytes)

    def _peak_fd(self) -> int:
        # Kept open: it is read for every test.
        if self._peak < 0:
            path = self._memory.path / "memory.max_usage_in_bytes"
            self._peak = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        return self._peak

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        lines = self._memory.read("memory.oom_control").splitlines()
        return int(dict(line.split() for line in lines)["oom_kill"])

    def remove(self) -> None:
        """Kill what is left in the groups and remove them."""
        if self._peak >= 0:
            os.close(self._peak)
            self._peak = -1
        self._memory.remove()
        if self._pids is not None:
            self._pids.remove()
