"""Builds the mount namespace of ``hostview.py`` in a process of its own: ``python hostview_helper.py FOLDER...``.

Prints ``ready`` once the namespace can be opened, and ends when its standard input does.
"""

import ctypes
import os
import sys
from pathlib import Path

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
MS_REC_PRIVATE = 16384 | (1 << 18)


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount something. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    texts = [text.encode() if text is not None else None for text in (source, target, kind, data)]
    if libc.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]):
        number = ctypes.get_errno()
        raise OSError(number, f"mount {source} at {target}: {os.strerror(number)}")


def main(folders: list[str]) -> None:
    """Make the namespace and hold it until standard input ends."""
    os.unshare(os.CLONE_NEWNS)
    mount("none", "/", None, MS_REC_PRIVATE)
    opened = [os.open(folder, os.O_PATH | os.O_DIRECTORY) for folder in folders]  # some may lie below /tmp
    mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=1777")  # noqa: S108
    for index, fd in enumerate(opened):
        target = f"/tmp/{index}"  # noqa: S108
        Path(target).mkdir()
        mount(f"/proc/self/fd/{fd}", target, None, MS_BIND)
        mount("none", target, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()


main(sys.argv[1:])
