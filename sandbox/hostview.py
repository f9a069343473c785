"""A private view of the host's folders, for jails that root starts under another user id.

The process that builds a jail's root has the jail's own, unprivileged user id. It cannot reach folders below a
0700 home (an interpreter, a checkout). So a helper process, still root, makes a mount namespace of its own,
covers /tmp there and binds those folders below it, readable; jails are started inside that namespace, and the
host sees none of it. Needs no cleaning up: the namespace is gone with its last user.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox.errors import SandboxUnavailableError

HELPER = Path(__file__).with_name("hostview_helper.py")


class HostView:
    """An open mount namespace; ``sources`` says where each folder is found in it."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Build the view. Raises SandboxUnavailableError."""
        self.sources = {str(folder): f"/tmp/{index}" for index, folder in enumerate(folders)}  # noqa: S108 - its own /tmp
        helper = subprocess.Popen(
            [sys.executable, "-I", str(HELPER), *map(str, folders)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with helper:
            if helper.stdin is None or helper.stdout is None or helper.stderr is None:
                raise AssertionError("pipes were asked for")
            if helper.stdout.readline() != b"ready\n":
                reason = helper.stderr.read().decode(errors="replace").strip().rpartition("\n")[2]
                raise SandboxUnavailableError(
                    f"No private mount namespace can be made: {reason or 'the helper ended'}.",
                    "Run as root with CAP_SYS_ADMIN, or as an ordinary user who can read the interpreter's folders.",
                )
            self.fd = os.open(f"/proc/{helper.pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
            helper.stdin.close()  # the helper ends; the open descriptor keeps the namespace

    def close(self) -> None:
        """Give the namespace up."""
        os.close(self.fd)
