"""The files of a run: /box/work (where it starts), /box/source, /box/tmp, /box/shm; new for each run."""

from __future__ import annotations

import os

ROOT = os.environ.get("MICROCODER_BOX", "/box")
WORK = f"{ROOT}/work"
SOURCE = f"{ROOT}/source"
TMP = f"{ROOT}/tmp"  # noqa: S108 - private to the jail
# In a container /dev/shm cannot be a link to /box/shm: there it is itself one of these folders.
DEVICE = "/dev/shm"  # noqa: S108 - the jail's or container's own: this is its first process
OWN_DEVICE = os.getpid() == 1 and os.path.isdir(DEVICE) and not os.path.islink(DEVICE)
FOLDERS = (WORK, SOURCE, TMP, DEVICE if OWN_DEVICE else f"{ROOT}/shm")


def prepare() -> None:
    """Make the folders of the next run."""
    for folder in FOLDERS:
        if not os.path.isdir(folder):
            os.mkdir(folder)
            _as_new(folder)


def wipe() -> bool:
    """Remove everything that a run left. False means that something resists and the jail must not be used again."""
    try:
        _clear(ROOT, FOLDERS)
        for folder in FOLDERS:
            if os.path.lexists(folder):
                _as_new(folder)
                _clear(folder)
        for folder in (ROOT, *FOLDERS):
            if os.path.lexists(folder):
                _as_new(folder)
    except (OSError, RecursionError):
        return False
    return True


def _as_new(folder: str) -> None:
    # A run may not tell the next one anything by what it leaves of modes and times either.
    os.chmod(folder, 0o777)  # noqa: S103 - private to the jail
    os.utime(folder)


def _clear(folder: str, keep: tuple[str, ...] = ()) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
            elif entry.path not in keep:
                import shutil

                shutil.rmtree(entry.path)
