"""A package's files may come from anybody: only regular files of bounded size, and none outside the package."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from service.packages.errors import PackageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_PACKAGE_BYTES = 2 << 30
# The folders that are read; those of statements and the like may hold whatever they do.
_READ = frozenset({"data", "submissions", "output_validator", "output_validators"})


def check_tree(root: Path) -> None:
    """Check what will be read of the package at ``root``.

    Raises:
        PackageError: a link leads out of the package, something is no file (a pipe or a device would keep its reader
            waiting for ever), or all of it is larger than ``MAX_PACKAGE_BYTES``.

    """
    total_bytes = 0
    for file in _files(root):
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise PackageError(file, "is no regular file")
        total_bytes += status.st_size
        if total_bytes > MAX_PACKAGE_BYTES:
            raise PackageError(root, f"has more than {MAX_PACKAGE_BYTES} bytes")


def _files(root: Path) -> Iterator[Path]:
    """Yield what is in the package's own folder and below those that are read, following links within the package."""
    inside = root.resolve()
    entered: set[Path] = set()
    pending = [entry for entry in root.iterdir() if entry.name in _READ or not entry.is_dir()]
    while pending:
        entry = pending.pop()
        # It leads nowhere, or to itself: whoever wants it misses it by name.
        if not entry.exists():
            continue
        target = entry.resolve()
        if not target.is_relative_to(inside):
            raise PackageError(entry, "is a link out of the package")
        if not entry.is_dir():
            yield entry
        elif target not in entered:
            entered.add(target)
            pending.extend(entry.iterdir())
