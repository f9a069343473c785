"""Invalid fields of a body, named by the paths that a caller knows.

Pydantic's locations name branches of unions (``stdio``, ``list``) between the fields. They are told apart by
walking the location through the data: what is neither a key nor an index there, but a known branch, is
dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from service.errors import MAX_ERRORS, InvalidFieldsError
from service.wire import ErrorDetail

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import ValidationError

Path = tuple[str | int, ...]

_BRANCHES = frozenset({"stdio", "call", "assert", "list", "dict", "str", "int", "float", "bool", "NoneType"})
_LEADING_PATH = re.compile(r"^((?:\w+\.)+\w+): ")


class Faults:
    """Collects invalid fields: all are counted, the first ``MAX_ERRORS`` are worded."""

    def __init__(self) -> None:
        self._listed: list[ErrorDetail] = []
        self._total = 0

    def __bool__(self) -> bool:
        return self._total > 0

    def add(self, path: Path, message: str) -> None:
        """Note one fault."""
        self._total += 1
        if len(self._listed) < MAX_ERRORS:
            self._listed.append(_entry(path, message))

    def add_all(self, error: ValidationError, data: Any, where: Path) -> None:
        """Note every fault that pydantic found in ``data``, which lies at ``where`` in the body."""
        room = MAX_ERRORS - len(self._listed)
        self._total += error.error_count()
        if room > 0:
            lines = error.errors(include_url=False, include_context=False, include_input=False)
            for line in lines[:room]:
                # A wrong or missing discriminator is reported at its object.
                tail = ("mode",) if line["type"].startswith("union_tag") else ()
                self._listed.append(_entry((*where, *_path(line["loc"], data), *tail), line["msg"]))

    def raise_if_any(self) -> None:
        """End the validation.

        Raises:
            InvalidFieldsError: there are faults.

        """
        if self._total:
            raise InvalidFieldsError(self._listed, self._total)


def _entry(path: Path, message: str) -> ErrorDetail:
    message = message.removeprefix("Value error, ")
    # Validators that look at a whole list name the element themselves.
    named = _LEADING_PATH.match(message)
    if named:
        path, message = (*path, named[1]), message[named.end() :]
    return ErrorDetail(field=".".join(map(str, path)) or "body", message=message)


def _path(location: Iterable[str | int], data: Any) -> Path:
    path: list[str | int] = []
    current = data
    for part in location:
        if _is_key(part, current):
            current = current[part]
        elif part in _BRANCHES:
            continue
        path.append(part)
    return tuple(path)


def _is_key(part: str | int, data: Any) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, dict) and part in data
