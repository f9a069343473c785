"""Where this process's control groups lie, by what the kernel tells of processes and mounts (cgroups(7), proc(5))."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """``groups`` and ``mounts`` are the texts of /proc/self/cgroup and /proc/self/mountinfo."""

    groups: str
    mounts: str

    def version_1(self, controller: str) -> Path | None:
        """Return the folder of the group that ``controller`` has this process in, where version 1 is mounted."""
        for line in self.groups.splitlines():
            _, controllers, group = line.split(":", 2)
            if controller in controllers.split(","):
                return self._folder(group, "cgroup", controller)
        return None

    def version_2(self) -> Path | None:
        """Return the folder of this process's version 2 group, where that hierarchy is mounted."""
        for line in self.groups.splitlines():
            number, _, group = line.split(":", 2)
            if number == "0":
                return self._folder(group, "cgroup2", None)
        return None

    def _folder(self, group: str, kind: str, option: str | None) -> Path | None:
        found = None
        for line in self.mounts.splitlines():
            before, _, after = line.partition(" - ")
            mounted, _, options = after.split(" ", 2)
            if mounted != kind or (option is not None and option not in options.split(",")):
                continue
            root, mountpoint = before.split(" ")[3:5]
            inside = os.path.relpath(group, root)
            folder = Path(mountpoint) if inside.startswith("..") else Path(mountpoint) / inside
            if folder.is_dir():
                found = folder  # a later mount covers an earlier one
        return found


def read_places() -> Places:
    """Return the places of this process. Raises OSError."""
    return Places(Path("/proc/self/cgroup").read_text(), Path("/proc/self/mountinfo").read_text())
