"""Stored problems: by which text contents are compared, and the receipt."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Literal

from pydantic import JsonValue

from service.wire.base import WireModel

# Stands for half a surrogate pair, which JSON can write and UTF-8 cannot: Unicode keeps it for no character.
NO_CHARACTER = "\uffff"

# Values that programs see: they can tell in which order an object's keys came.
_GIVEN = frozenset({"args", "kwargs", "expected"})
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


class StoredProblem(WireModel):
    """The receipt of a stored problem; ``digest`` is its content's, ``expires_in_s`` counts from its last use."""

    problem_id: str
    digest: str
    mode: Literal["stdio", "call", "assert"]
    tests: int
    size_bytes: int
    expires_in_s: float


def canonical_json(value: JsonValue) -> bytes:
    """Return the JSON text by which contents are compared: no blanks, UTF-8, Python's numbers, sorted keys.

    Within ``args``, ``kwargs`` and ``expected`` keys stay in their order. Half a surrogate pair is what the service
    reads it as, ``NO_CHARACTER``.

    Raises:
        ValueError: ``value`` has NaN, an infinity or an integer of more than 4,300 digits.

    """
    text = json.dumps(_ordered(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub(_as_read, text).encode()


def digest_of(canonical: bytes) -> str:
    """Return what ``problem_id`` is where the content itself names it: ``sha256:`` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def _ordered(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return {key: value[key] if key in _GIVEN else _ordered(value[key]) for key in sorted(value)}
        case list():
            return [_ordered(element) for element in value]
    return value


def _as_read(found: re.Match[str]) -> str:
    halves = found[0]
    return halves.encode("utf-16", "surrogatepass").decode("utf-16") if len(halves) > 1 else NO_CHARACTER
