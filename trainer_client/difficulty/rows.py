"""Rows of problems and of completions: JSON Lines, one object a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainer_client.adapters.texts import completion_text
from trainer_client.difficulty.errors import InputError
from trainer_client.errors import EvaluatorError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IDENTITY_FIELDS = ("id", "problem_id", "question_id", "task_id", "name")
STATEMENT_FIELDS = (
    "statement",
    "question_content",
    "question",
    "problem_description",
    "description",
    "prompt",
    "text",
    "query",
    "problem",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ``where`` names it in complaints, ``line`` is its text in the file."""

    where: str
    index: int
    fields: Mapping[str, Any]
    line: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What a problem asks for. ``digest`` tells a text from any other."""

    problem: str
    text: str

    @property
    def digest(self) -> str:
        """A digest of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_rows(path: Path) -> Iterator[Row]:
    """Read a file's rows; blank lines are passed over.

    Raises:
        InputError: the file cannot be read, or a line is no JSON object.

    """
    index = 0
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield Row(f"{path}: line {number}", index, _object(line, f"{path}: line {number}"), line)
                    index += 1
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 after row {index}: {error}") from error


def identity_of(row: Row, field: str | None = None) -> str:
    """Return a problem's name: that of ``field``, else of the first of ``IDENTITY_FIELDS`` it has, else its position.

    Raises:
        InputError: ``field`` is missing, or is no name.

    """
    if field is not None and row.fields.get(field) is None:
        raise InputError(f"{row.where}: {field}: missing")
    for name in (field,) if field is not None else IDENTITY_FIELDS:
        value = row.fields.get(name)
        if value is not None:
            if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
                raise InputError(f"{row.where}: {name}: neither a text nor an integer")
            try:
                str(value).encode()
            except UnicodeEncodeError as error:
                raise InputError(f"{row.where}: {name}: {error}") from error
            return str(value)
    return f"row-{row.index}"


def statement_of(row: Row, identity: str, field: str | None = None) -> Statement:
    """Return what a row asks for: the text of ``field``, else of the first of ``STATEMENT_FIELDS`` that has any.

    Starter code that a row has is part of it.

    Raises:
        InputError: no such field has a text.

    """
    for name in (field,) if field is not None else STATEMENT_FIELDS:
        text = _text(row.fields.get(name))
        if text is not None and text.strip():
            starter = row.fields.get("starter_code")
            if isinstance(starter, str) and starter.strip() and starter.strip() not in text:
                text = f"{text}\n\nThe program completes this code:\n{starter}"
            return Statement(identity, text)
    raise InputError(f"{row.where}: {field or 'statement'}: missing (name the field with --statement-field)")


def read_statements(path: Path, id_field: str | None, statement_field: str | None) -> list[Statement]:
    """Read the statements of a file of problems.

    Raises:
        InputError: a row has no statement, or two have the same name.

    """
    found: list[Statement] = []
    seen: dict[str, str] = {}
    for row in read_rows(path):
        identity = identity_of(row, id_field)
        if identity in seen:
            raise InputError(
                f"{row.where}: id: {identity!r} is that of {seen[identity]} as well; "
                "every problem needs a name of its own"
            )
        seen[identity] = row.where.rpartition(": ")[2]
        found.append(statement_of(row, identity, statement_field))
    if not found:
        raise InputError(f"{path}: no rows")
    return found


def holds_tests(value: Any) -> bool:
    """Whether a column ``problem`` is a problem of the contract, as an object or as JSON text, not a statement."""
    if isinstance(value, str):
        return value.lstrip().startswith("{") and '"mode"' in value
    return isinstance(value, Mapping)


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object")
    return value


def _text(value: Any) -> str | None:
    """Return a text or what a user says in messages; a problem of the contract is neither."""
    if isinstance(value, str):
        return None if holds_tests(value) else value
    if isinstance(value, Sequence) and value and all(isinstance(one, Mapping) for one in value):
        try:
            said = [completion_text(one) for one in value if one.get("role") != "system"]
        except EvaluatorError:
            return None
        return "\n\n".join(said)
    return None
