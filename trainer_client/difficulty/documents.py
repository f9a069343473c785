"""The documents that commands leave for each other and for their users, and how they are read and written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from trainer_client.difficulty.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Document(BaseModel):
    """Base of them and their parts. ``schema_version`` changes whenever a reader of the one before could misread it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LeftOut(Document):
    """A problem that has no part in a result, and why."""

    problem: str
    reason: str


def read_document[D: Document](path: Path, kind: type[D], made_by: str) -> D:
    """Read a document of ``kind`` that the command ``made_by`` writes.

    Raises:
        InputError: it is not there, or is not of this version.

    """
    try:
        return kind.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path}: not there; `microcoder difficulty {made_by}` makes it") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"])) or "document"
        raise InputError(
            f"{path}: not as `{made_by}` of this version writes it: {where}: {fault['msg']}"
        ) from error


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file so that it is there whole or as it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    with unfinished.open("wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def write_document(path: Path, document: Document) -> None:
    """Write a document as indented JSON."""
    write_whole(path, [document.model_dump_json(indent=1).encode(), b"\n"])
