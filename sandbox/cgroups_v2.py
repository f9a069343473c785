"""Memory limits by control group, version 2, where the service's own group is a leaf of a part that it may manage.

That is what systemd makes of ``Delegate=memory`` with ``DelegateSubgroup=...``, and ``deploy/image/memory_groups.py``
of a container: groups of runs are siblings of the service's own.
"""

from __future__ import annotations

import os
from pathlib import Path

from sandbox.cgroup_folders import remove

SLACK_BYTES = 8 << 20  # as in version 1


class MemoryGroupV2:
    """One group; limits and counters in bytes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._base_bytes = 0
        self._runs = 0
        self._peak_fd = _open_peak(path / "memory.peak")
        self._peak_starts_anew = False

    @property
    def entrance(self) -> Path:
        """The file to which a process writes ``0`` to enter."""
        return self._path / "cgroup.procs"

    def limit(self, memory_bytes: int) -> None:
        """Let the group use this much more than it does now, without swap, and start a new peak. Raises OSError."""
        self._base_bytes = int((self._path / "memory.current").read_text())
        (self._path / "memory.max").write_text(str(self._base_bytes + memory_bytes + SLACK_BYTES))
        swap = self._path / "memory.swap.max"
        if swap.exists():
            swap.write_text("0")
        self.restart_peak()

    def restart_peak(self) -> None:
        """Start a new peak without measuring anew what the limit and the peak start from."""
        self._runs += 1
        self._peak_starts_anew = self._peak_fd is not None and _start_anew(self._peak_fd)

    def peak_bytes(self) -> int | None:
        """Return the most that was used since ``limit`` was last called, above what was used then.

        None where the kernel (before 6.12) keeps one peak for all of a group's life and this is not its first run.
        """
        if self._peak_fd is None or not (self._peak_starts_anew or self._runs == 1):
            return None
        return max(0, int(os.pread(self._peak_fd, 64, 0)) - self._base_bytes)

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        lines = (self._path / "memory.events").read_text().splitlines()
        return int(dict(line.split() for line in lines)["oom_kill"])

    def remove(self) -> None:
        """Remove the group once its last process is gone."""
        if self._peak_fd is not None:
            os.close(self._peak_fd)
            self._peak_fd = None
        remove(self._path)


def _open_peak(path: Path) -> int | None:
    for flags in (os.O_RDWR, os.O_RDONLY):
        try:
            return os.open(path, flags | os.O_CLOEXEC)
        except OSError:
            continue
    return None


def _start_anew(fd: int) -> bool:
    """Have reads of this descriptor tell of what comes; False where the kernel cannot."""
    try:
        os.pwrite(fd, b"reset", 0)
    except OSError:
        return False
    return True
