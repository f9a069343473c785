"""Completions of the reference model: rows that name a problem and hold one or many."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from trainer_client.adapters.texts import completion_text
from trainer_client.difficulty.errors import InputError
from trainer_client.difficulty.rows import IDENTITY_FIELDS, Row, identity_of, read_rows
from trainer_client.errors import EvaluatorError

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = ("completions", "completion", "output", "response")


def read_completions(path: Path, id_field: str | None = None) -> dict[str, list[str]]:
    """Return the completions of each problem, those of several rows in the order of the file.

    A row has ``completions``, a list, or one ``completion``, ``output`` or ``response``; each is a text, a message,
    or a list of messages of which the last counts.

    Raises:
        InputError: a row names no problem or has no completion.

    """
    found: dict[str, list[str]] = {}
    for row in read_rows(path):
        if id_field is None and not any(row.fields.get(name) is not None for name in IDENTITY_FIELDS):
            raise InputError(f"{row.where}: id: missing; which problem is this a completion of?")
        found.setdefault(identity_of(row, id_field), []).extend(_texts(row))
    return found


def digest_of(completion: str) -> str:
    """Return what tells one completion from another."""
    return hashlib.sha256(completion.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _texts(row: Row) -> list[str]:
    name = next((name for name in FIELDS if row.fields.get(name) is not None), None)
    if name is None:
        raise InputError(f"{row.where}: completions: missing")
    value: Any = row.fields[name]
    if name != "completions":
        value = [value]
    if not isinstance(value, list):
        raise InputError(f"{row.where}: completions: not a list")
    try:
        return [completion_text(one) for one in value]
    except EvaluatorError as error:
        raise InputError(f"{row.where}: {name}: {error}") from error
