"""Folders of control groups, in both versions: where this process's own are, and how one is removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

REMOVAL_TIMEOUT_S = 1.0
FIRST_REMOVAL_PAUSE_S = 0.0005


def own_memory_group_v1() -> Path | None:
    """Return the folder of this process's memory group, where version 1 is mounted."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if "memory" in controllers.split(","):
            return _folder(group, "cgroup", "memory")
    return None


def delegated_group_v2() -> Path | None:
    """Return the folder above this process's own group, where version 2 limits memory and we may make groups."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, controllers, group = line.split(":", 2)
        if (number, controllers) == ("0", "") and group != "/":
            folder = _folder(os.path.dirname(group), "cgroup2", None)  # noqa: PTH120 - a name, not a file
            if folder is not None and _limits_memory_below(folder) and os.access(folder, os.W_OK):
                return folder
    return None


def _limits_memory_below(folder: Path) -> bool:
    file = folder / "cgroup.subtree_control"
    return file.is_file() and "memory" in file.read_text().split()


def _folder(group: str, wanted: str, option: str | None) -> Path | None:
    """Return where a group is found in the first mount of the wanted kind that shows it."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == wanted and (option is None or option in options.split(",")):
            root, mountpoint = before.split(" ")[3:5]
            inside = os.path.relpath(group, root)
            folder = Path(mountpoint) if inside.startswith("..") else Path(mountpoint) / inside
            return folder if folder.is_dir() else None
    return None


def remove(path: Path) -> None:
    """Remove a group once its last process is gone."""
    deadline = time.monotonic() + REMOVAL_TIMEOUT_S
    pause_s = FIRST_REMOVAL_PAUSE_S
    while True:
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(pause_s)
            pause_s *= 2
        else:
            return
