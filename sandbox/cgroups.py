"""Memory limits by control group (version 1), where this process may make groups: exact over a whole process tree.

A group is entered by the process that becomes the jail, before it starts, so everything in the jail is counted:
processes, files in its tmpfs, kernel buffers behind its pipes.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "microcoder-"
# For what the kernel keeps of processes that are no more, and what the harness needs to answer.
SLACK_BYTES = 8 << 20
REMOVAL_TIMEOUT_S = 1.0
FIRST_REMOVAL_PAUSE_S = 0.0005


class MemoryGroups:
    """Makes memory groups below the one that this process lives in."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent

    @classmethod
    def available(cls) -> MemoryGroups | None:
        """Return a maker of groups that has proved to work here, or None."""
        parent = _own_memory_group()
        if parent is None:
            return None
        groups = cls(parent)
        groups._remove_stale()
        try:
            probe = groups.create()
            probe.limit(64 << 20)
            probe.peak_bytes()
            probe.oom_kills()
            probe.remove()
        except (OSError, ValueError, LookupError):
            return None
        return groups

    def create(self) -> MemoryGroup:
        """Make a group. Raises OSError."""
        path = self._parent / f"{PREFIX}{os.getpid()}-{secrets.token_hex(6)}"
        path.mkdir()
        return MemoryGroup(path)

    def _remove_stale(self) -> None:
        # Groups of services that were killed before they could tidy up.
        for path in self._parent.glob(f"{PREFIX}*-*"):
            owner = path.name.removeprefix(PREFIX).partition("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                with suppress(OSError):
                    path.rmdir()


class MemoryGroup:
    """One group; limits and counters in bytes."""

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
        deadline = time.monotonic() + REMOVAL_TIMEOUT_S
        pause_s = FIRST_REMOVAL_PAUSE_S
        while True:
            try:
                self._path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                if time.monotonic() > deadline:
                    return
                time.sleep(pause_s)
                pause_s *= 2
            else:
                return


def _own_memory_group() -> Path | None:
    """Return the folder of this process's memory group, where version 1 is mounted."""
    group = None
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            group = path
    if group is None:
        return None
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup" and "memory" in options.split(","):
            root, mountpoint = before.split(" ")[3:5]
            inside = os.path.relpath(group, root)
            folder = Path(mountpoint) if inside.startswith("..") else Path(mountpoint) / inside
            return folder if folder.is_dir() else None
    return None
