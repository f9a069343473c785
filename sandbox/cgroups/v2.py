"""Groups of version 2, below a group that was delegated to this process.

Groups that hand controllers on may have no processes of their own, so where this process lives in the delegated group
itself, everything in it is moved to a leaf first. What counts as delegated: a group that systemd marks as such
(``Delegate=yes``), the root of a container's own hierarchy, and a parent that belongs to this unprivileged user.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from sandbox.cgroups.folder import SLACK_BYTES, GroupFolder, remove_stale
from sandbox.cgroups.places import Places

ENTRANCE = "cgroup.procs"
LEAF = "microcoder-service"
MOVING_ATTEMPTS = 20
MARKS = ("trusted.delegate", "user.delegate")


class Maker:
    """Makes groups below ``parent``."""

    version: Literal["cgroup-v2"] = "cgroup-v2"

    def __init__(self, parent: Path) -> None:
        self._parent = parent

    @classmethod
    def found(cls, places: Places) -> Maker | None:
        """Return a maker, or None where no delegated group with the memory controller is ours."""
        own = places.version_2()
        if own is None:
            return None
        for parent in (own.parent, own):
            if _is_ours(parent, own) and _hands_on_memory(parent, own):
                return cls(parent)
        return None

    def create(self) -> Group:
        """Make a group. Raises OSError."""
        return Group(GroupFolder(self._parent, ENTRANCE))

    def remove_stale(self) -> None:
        """Remove the groups of dead services."""
        remove_stale(self._parent)


class Group:
    """One session's group (see ``cgroups.MemoryGroup``)."""

    def __init__(self, folder: GroupFolder) -> None:
        self._folder = folder
        self._base_bytes = 0
        self._peak_before_bytes = 0
        self._peak_fd: int | None = None

    @property
    def limits_processes(self) -> bool:
        """Whether the controller for that was handed on to the group."""
        return (self._folder.path / "pids.max").exists()

    def enter(self) -> None:
        """Move the calling process into the group. Raises OSError."""
        self._folder.enter()

    def limit(self, memory_bytes: int, processes: int | None = None) -> None:
        """Set new limits and start a new peak. Raises OSError."""
        folder = self._folder
        self._base_bytes = int(folder.read("memory.current"))
        folder.write("memory.max", self._base_bytes + memory_bytes + SLACK_BYTES)
        if (folder.path / "memory.swap.max").exists():
            folder.write("memory.swap.max", 0)
        if processes is not None and self.limits_processes:
            folder.write("pids.max", processes)
        self.restart_peak()

    def peak_bytes(self) -> int | None:
        """Return the peak since ``limit`` was last called; None where an older one is higher and cannot be reset."""
        if self._peak_fd is not None:
            peak_bytes = int(os.pread(self._peak_fd, 64, 0))
        elif (self._folder.path / "memory.peak").exists():
            peak_bytes = int(self._folder.read("memory.peak"))
            if peak_bytes <= self._peak_before_bytes:
                return None
        else:
            return None  # kernels before 5.19
        return max(0, peak_bytes - self._base_bytes)

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        lines = self._folder.read("memory.events").splitlines()
        return int(dict(line.split() for line in lines)["oom_kill"])

    def remove(self) -> None:
        """Kill what is left in the group and remove it."""
        self._forget_peak()
        self._folder.remove()

    def restart_peak(self) -> None:
        """Start a new peak without measuring anew what limit and peak start from. Raises OSError."""
        # From kernel 6.12 on a write starts a new peak for the descriptor that wrote; before, it is refused.
        if self._peak_fd is not None:
            os.pwrite(self._peak_fd, b"0", 0)
            return
        path = self._folder.path / "memory.peak"
        if not path.exists():
            return
        self._peak_before_bytes = int(path.read_text())
        with suppress(OSError):
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                os.write(fd, b"0")
            except OSError:
                os.close(fd)
                raise
            self._peak_fd = fd

    def _forget_peak(self) -> None:
        if self._peak_fd is not None:
            os.close(self._peak_fd)
            self._peak_fd = None


def _is_ours(parent: Path, own: Path) -> bool:
    """Whether ``parent``, this process's own group or the one above it, was delegated to this process."""
    if not (parent / "cgroup.controllers").is_file() or not os.access(parent, os.W_OK):
        return False
    if _is_marked(parent):
        return True
    if parent == own:
        # A hierarchy's true root has no type; that of a container has.
        above = own.parent / "cgroup.controllers"
        return (own / "cgroup.type").exists() and not above.exists()
    return own.name == LEAF or parent.stat().st_uid == os.geteuid() != 0


def _is_marked(group: Path) -> bool:
    for name in MARKS:
        with suppress(OSError):
            if os.getxattr(group, name) == b"1":
                return True
    return False


def _hands_on_memory(parent: Path, own: Path) -> bool:
    """Make ``parent`` hand the controllers on to its children; False where it cannot be had."""
    if "memory" not in _words(parent / "cgroup.controllers"):
        return False
    for controller in ("memory", "pids"):
        control = parent / "cgroup.subtree_control"
        if controller in _words(control) or controller not in _words(parent / "cgroup.controllers"):
            continue
        try:
            if parent == own:
                _empty(own)
            control.write_text(f"+{controller}")
        except OSError:
            if controller == "memory":
                return False
    return True


def _empty(group: Path) -> None:
    """Move every process of ``group`` to a leaf below it. Raises OSError."""
    leaf = group / LEAF
    leaf.mkdir(exist_ok=True)
    for _ in range(MOVING_ATTEMPTS):
        pids = _words(group / "cgroup.procs")
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                (leaf / "cgroup.procs").write_text(pid)


def _words(path: Path) -> list[str]:
    return path.read_text().split()
