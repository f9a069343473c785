"""What can be wrong with a problem package."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import ValidationError


MAX_MESSAGE_CHARS = 500


class PackageError(Exception):
    """A package that cannot be judged faithfully. The text names the file, the field if any, and why."""

    def __init__(self, file: Path, message: str, field: str | None = None) -> None:
        # What a parser says may quote all of the file.
        if len(message) > MAX_MESSAGE_CHARS:
            message = f"{message[: MAX_MESSAGE_CHARS - 3]}..."
        super().__init__(f"{file}: {field}: {message}" if field else f"{file}: {message}")
        self.file = file
        self.field = field


def first_error(file: Path, error: ValidationError, prefix: str = "") -> PackageError:
    """Return the first of pydantic's findings as an error of the package."""
    detail = error.errors()[0]
    field = prefix + ".".join(str(part) for part in detail["loc"])
    return PackageError(file, f"{detail['msg']} (found {shown(detail['input'])})", field)


def shown(value: object) -> str:
    """Show a value in at most 80 characters: a few references in YAML can stand for more than memory holds."""
    try:
        return f"{reprlib.Repr(maxlevel=2).repr(value):.80}"
    except ValueError:
        # An integer of more digits than Python writes.
        return f"a value of type {type(value).__name__}"
