"""Control groups as folders: made, entered, emptied, removed, and told from what dead services have left behind.

Whoever made a group holds a lock on its folder, which the kernel releases with the last of his descriptors. So a group
without a lock belongs to nobody, whatever became of its maker and whoever has his process id by now.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "microcoder."
# For what the kernel keeps of processes that are no more, and what the harness needs to answer.
SLACK_BYTES = 8 << 20
MAKING_ATTEMPTS = 10
REMOVAL_TIMEOUT_S = 5.0
FIRST_REMOVAL_PAUSE_S = 0.0005


class GroupFolder:
    """One group in one hierarchy; a process of one thread enters by writing ``0`` to the file named ``entrance``."""

    def __init__(self, parent: Path, entrance: str) -> None:
        """Make a group below ``parent``. Raises OSError."""
        for _ in range(MAKING_ATTEMPTS):
            self.path = parent / f"{PREFIX}{os.getpid()}.{secrets.token_hex(4)}"
            self.path.mkdir()
            lock = _locked(self.path, fcntl.LOCK_SH)
            if lock is not None:
                self._lock = lock
                break
        else:
            raise FileNotFoundError(f"{parent}: new groups vanish at once")
        self._entrance = self.path / entrance

    def enter(self) -> None:
        """Move the calling process into the group. Raises OSError."""
        self._entrance.write_text("0")

    def read(self, name: str) -> str:
        """Return what a file of the group says. Raises OSError."""
        return (self.path / name).read_text().strip()

    def write(self, name: str, value: int | str) -> None:
        """Set a file of the group. Raises OSError."""
        (self.path / name).write_text(str(value))

    def remove(self) -> None:
        """Kill what is left in the group and remove it."""
        try:
            _remove(self.path)
        finally:
            os.close(self._lock)


def remove_stale(parent: Path) -> None:
    """Remove the groups below ``parent`` of services that were killed before they could, with all that runs in them."""
    for path in parent.glob(f"{PREFIX}*"):
        lock = _locked(path, fcntl.LOCK_EX)
        if lock is not None:
            _remove(path)
            os.close(lock)


def _locked(path: Path, how: int) -> int | None:
    """Return a descriptor that holds a lock on ``path``; None where somebody else has one, or it is gone."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
        if not path.exists():
            raise FileNotFoundError(path)
    except OSError:
        os.close(fd)
        return None
    return fd


def _remove(path: Path) -> None:
    deadline = time.monotonic() + REMOVAL_TIMEOUT_S
    pause_s = FIRST_REMOVAL_PAUSE_S
    while True:
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                return  # whoever starts next tries again
            _kill_all(path)
            time.sleep(pause_s)
            pause_s *= 2
        else:
            return


def _kill_all(path: Path) -> None:
    at_once = path / "cgroup.kill"  # version 2 only
    with suppress(OSError):
        if at_once.exists():
            at_once.write_text("1")
            return
        for pid in (path / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
