"""Values out of the texts in which data sets keep them."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from service.wire import NO_CHARACTER, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)
_SURROGATES = re.compile("[\ud800-\udfff]")
MAX_FAULTS = 5
# How a text begins that was meant as a structure: one that does not parse is broken, not a string.
STRUCTURE_MARKS = ("[", "{", "(", '"', "'")


class RowError(Exception):
    """A row from which no sound problem can be made; the text names the field."""


def required(row: Mapping[str, Any], *names: str) -> Any:
    """Return the first of the fields ``names`` that ``row`` has.

    Raises:
        RowError: it has none of them.

    """
    for name in names:
        if row.get(name) is not None:
            return row[name]
    raise RowError(f"{names[0]}: missing")


def required_text(row: Mapping[str, Any], name: str) -> str:
    """Return the field ``name``, which has to be text.

    Raises:
        RowError: it is missing, or no text.

    """
    value = required(row, name)
    if not isinstance(value, str):
        raise RowError(f"{name}: {type(value).__name__} instead of text")
    return value


def list_of[T](kind: type[T], value: Any, field: str) -> list[T]:
    """Return a list of texts (``str``) or objects (``dict``), or the one that JSON text holds.

    Raises:
        RowError: it is no list, or one with something else in it.

    """
    found = json_value(value, field)
    if not isinstance(found, list) or not all(isinstance(one, kind) for one in found):
        raise RowError(f"{field}: not a list of {'texts' if kind is str else 'objects'}")
    return found


def json_value(text: Any, field: str) -> Any:
    """Return the value of JSON ``text``; what is no text is taken as it is.

    Raises:
        RowError: it is not JSON, or holds an integer of more digits than Python reads.

    """
    if not isinstance(text, str | bytes):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RowError(f"{field}: not JSON: {error}") from error


def json_arguments(text: Any, field: str) -> list[Any]:
    """Return the arguments of a call that is stored as one JSON value a line.

    An escaped line end within a string is no line end. A text that is one value over several lines is one argument.

    Raises:
        RowError: a line is not JSON.

    """
    if not isinstance(text, str):
        raise RowError(f"{field}: {type(text).__name__} instead of a text with one JSON value a line")
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        return [json_value(line, field) for line in lines]
    except RowError:
        if len(lines) < 2:  # noqa: PLR2004 -- one line has been tried
            raise
        return [json_value(text, field)]


def expected_value(text: Any, field: str) -> Any:
    """Return an expected value given as text: JSON, else a Python literal, else the text itself.

    A number that only Python reads (``0x1f``, ``1_0``) and brackets around nothing (``(())``) are texts.

    Raises:
        RowError: the text begins like a structure and is none, or is a structure that JSON cannot carry.

    """
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        value = ast.literal_eval(text.strip())
        if isinstance(value, int | float | complex) and not isinstance(value, bool):
            return text
        return text if isinstance(value, tuple) and "," not in text else plain(value, field)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        if text.lstrip().startswith(STRUCTURE_MARKS):
            raise RowError(f"{field}: neither JSON nor a Python literal: {error}") from error
        return text


def plain(value: Any, field: str) -> Any:
    """Return a Python literal as JSON has it: tuples as lists, keys as text.

    Raises:
        RowError: it holds what JSON has not: a set, bytes, a complex number.

    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [plain(element, field) for element in value]
        case dict():
            return {
                key if isinstance(key, str) else json.dumps(plain(key, field)): plain(element, field)
                for key, element in value.items()
            }
    raise RowError(f"{field}: a {type(value).__name__} is no value of JSON")


def as_text(value: Any, field: str) -> str:
    """Return standard input or output, which some sets keep as a list of lines, and some lines as numbers.

    Raises:
        RowError: it is neither text nor a number nor a list of those.

    """
    lines = value if isinstance(value, list) else [value]
    if all(isinstance(line, str | int | float) and not isinstance(line, bool) for line in lines):
        return "\n".join(map(str, lines))
    raise RowError(f"{field}: {type(value).__name__} instead of text or a list of lines")


def same_length(inputs: Sequence[Any], outputs: Sequence[Any], field: str) -> None:
    """Check that each input has its output; tests must not be dropped in silence.

    Raises:
        RowError: there are more of one, or none at all.

    """
    if len(inputs) != len(outputs):
        raise RowError(f"{field}: {len(inputs)} inputs, but {len(outputs)} outputs")
    if not inputs:
        raise RowError(f"{field}: no tests; nothing tested is never a pass")


def problem(
    mode: str, tests: Sequence[Mapping[str, Any]], *, cpu_time_s: float | None = None, **fields: Any
) -> Problem:
    """Return a validated problem; fields that are None are left to the service.

    Raises:
        RowError: it is no problem of the contract.

    """
    given = {name: value for name, value in fields.items() if value is not None}
    if cpu_time_s is not None:
        given["limits"] = {**given.get("limits", {}), "cpu_time_s": cpu_time_s}
    return validated({"mode": mode, "tests": list(tests), **given})


def validated(data: Mapping[str, Any]) -> Problem:
    """Return the problem that ``data`` is in the contract's words.

    Raises:
        RowError: it is none; the fields that are wrong are named.

    """
    try:
        return _PROBLEM.validate_python(_readable(data))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        # The first part of a place is the mode, which nobody wrote.
        listed = [
            f"{'.'.join(['problem', *map(str, fault['loc'][1:])])}: {fault['msg']}"
            for fault in faults[:MAX_FAULTS]
        ]
        raise RowError("; ".join(listed)) from error


def _readable(value: Any) -> Any:
    """Return a value whose texts UTF-8 can carry: half a character is read as the service reads it."""
    match value:
        case str():
            return value if value.isascii() else _SURROGATES.sub(NO_CHARACTER, value)
        case list():
            return [_readable(element) for element in value]
        case dict():
            return {_readable(key): _readable(element) for key, element in value.items()}
    return value
