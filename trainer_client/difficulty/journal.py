"""A file that grows by a line as work is done, so that work that was ended goes on where it was.

JSON Lines: the first is the header, what the run was begun with; each later one is a piece of work. A last line
without its line end was being written when the process died: it is cut off, and its work is done again. One process
at a time has the file.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any, Self

from trainer_client.difficulty.errors import InputError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import BinaryIO


class Journal:
    """An open journal; ``entries`` are those it had when it was opened."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Open ``path``, or begin it with ``header``, plain JSON data.

        Raises:
            SettingsError: it was begun with another header; each difference is named.
            InputError: it is no journal, or another process has it.

        """
        self.path = path
        # As it would be read back: tuples are lists.
        wanted = json.loads(json.dumps(header))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = path.open("a+b")
        try:
            self._lock()
            self.entries = self._read()
            if self.entries:
                self._check(self.entries.pop(0), wanted)
            else:
                self.append(wanted)
        except BaseException:
            self._file.close()
            raise

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write one entry; it is with the operating system when this returns."""
        self._file.write(json.dumps(entry).encode("ascii") + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Write everything to the disk and let go of the file."""
        if not self._file.closed:
            os.fsync(self._file.fileno())
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(f"{self.path}: another process is writing to it") from error

    def _read(self) -> list[dict[str, Any]]:
        self._file.seek(0)
        content = self._file.read()
        whole, _, torn = content.rpartition(b"\n")
        if torn:
            self._file.truncate(len(content) - len(torn))
        lines = whole.split(b"\n") if whole else []
        return [self._entry(line, number) for number, line in enumerate(lines, start=1)]

    def _entry(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise InputError(f"{self.path}: line {number}: not JSON: {error}") from error
        if not isinstance(entry, dict) or (number == 1 and "kind" not in entry):
            raise InputError(f"{self.path}: line {number}: no line of a journal; was this file made by hand?")
        return entry

    def _check(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        changed = [
            f"{name} was {json.dumps(found.get(name))}, now {json.dumps(wanted.get(name))}"
            for name in sorted(found.keys() | wanted.keys())
            if found.get(name) != wanted.get(name)
        ]
        if changed:
            raise SettingsError(
                f"{self.path} was begun with other settings: {'; '.join(changed)}. What it holds does not mix with "
                "what would be added: use the settings of before, or another folder"
            )
