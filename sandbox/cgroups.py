"""Memory limits by control group, where this process may make groups: exact over a whole process tree.

A group is entered by the process that becomes the jail, before it starts, so everything in the jail is counted:
processes, files in its tmpfs, kernel buffers behind its pipes.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from contextlib import suppress
from pathlib import Path

from sandbox.cgroup_folders import delegated_group_v2, own_memory_group_v1, remove
from sandbox.cgroups_v2 import MemoryGroupV2

PREFIX = "microcoder-"
# For what the kernel keeps of processes that are no more, and what the harness needs to answer.
SLACK_BYTES = 8 << 20


class MemoryGroups:
    """Makes memory groups of one version (1 or 2) in a folder of groups."""

    def __init__(self, parent: Path, version: int) -> None:
        self.version = version
        self._parent = parent

    @classmethod
    def available(cls) -> MemoryGroups | None:
        """Return a maker of groups that has proved to work here, or None."""
        for version, parent in ((1, own_memory_group_v1()), (2, delegated_group_v2())):
            if parent is not None:
                groups = cls(parent, version)
                groups._remove_stale()
                if groups._works():
                    return groups
        return None

    def create(self) -> MemoryGroup | MemoryGroupV2:
        """Make a group. Raises OSError."""
        path = self._parent / f"{PREFIX}{os.getpid()}-{secrets.token_hex(6)}"
        path.mkdir()
        return MemoryGroup(path) if self.version == 1 else MemoryGroupV2(path)

    def _works(self) -> bool:
        """Whether a group can be made, limited, entered by a process, asked, and removed again."""
        try:
            probe = self.create()
        except OSError:
            return False
        try:
            probe.limit(64 << 20)
            entrance = probe.entrance
            subprocess.run(
                ["/bin/true"],
                check=True,
                preexec_fn=lambda: entrance.write_text("0"),
            )
            probe.peak_bytes()
            probe.oom_kills()
        except (OSError, ValueError, LookupError, subprocess.SubprocessError):
            return False
        finally:
            probe.remove()
        return True

    def _remove_stale(self) -> None:
        # Groups of services that were killed before they could tidy up.
        for path in self._parent.glob(f"{PREFIX}*-*"):
            owner = path.name.removeprefix(PREFIX).partition("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                with suppress(OSError):
                    path.rmdir()


class MemoryGroup:
    """One group of version 1; limits and counters in bytes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._base_bytes = 0
        self._peak = -1

    @property
    def entrance(self) -> Path:
        """The file to which a process of one thread writes ``0`` to enter."""
        # Not cgroup.procs: moving a whole process waits for every core to pass a quiet point, about 10 ms.
        return self._path / "tasks"

    def limit(self, memory_bytes: int) -> None:
        """Let the group use this much more than it does now, swap included, and start a new peak. Raises OSError."""
        self._base_bytes = int((self._path / "memory.usage_in_bytes").read_text())
        bound_bytes = self._base_bytes + memory_bytes + SLACK_BYTES
        swap = self._path / "memory.memsw.limit_in_bytes"
        ram = self._path / "memory.limit_in_bytes"
        order = [ram, swap] if swap.exists() else [ram]
        if len(order) > 1 and int(swap.read_text()) < bound_bytes:
            order.reverse()  # the limit with swap may never be below the one without
        for file in order:
            file.write_text(str(bound_bytes))
        self.restart_peak()

    def restart_peak(self) -> None:
        """Start a new peak without measuring anew what the limit and the peak start from. Raises OSError."""
        os.pwrite(self._peak_fd(), b"0", 0)

    def peak_bytes(self) -> int:
        """Return the most that was used since ``limit`` was last called, above what was used then."""
        return max(0, int(os.pread(self._peak_fd(), 32, 0)) - self._base_bytes)

    def _peak_fd(self) -> int:
        # Kept open: it is read for every test.
        if self._peak < 0:
            self._peak = os.open(self._path / "memory.max_usage_in_bytes", os.O_RDWR | os.O_CLOEXEC)
        return self._peak

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        lines = (self._path / "memory.oom_control").read_text().splitlines()
        return int(dict(line.split() for line in lines)["oom_kill"])

    def remove(self) -> None:
        """Remove the group once its last process is gone."""
        if self._peak >= 0:
            os.close(self._peak)
            self._peak = -1
        remove(self._path)
