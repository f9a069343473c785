"""Stored problems: by which text contents are compared, and the receipt."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import JsonValue

from service.wire.base import WireModel

# Stands for half a surrogate pair, which JSON can write and UTF-8 cannot: Unicode keeps it for no character.
NO_CHARACTER = "\uffff"


class StoredProblem(WireModel):
    """The receipt of a stored problem; ``digest`` is its content's, ``expires_in_s`` counts from its last use."""

    problem_id: str
    digest: str
    mode: Literal["stdio", "call", "assert"]
    tests: int
    size_bytes: int
    expires_in_s: float


def canonical_json(value: JsonValue) -> bytes:
    """Return the JSON text by which contents are compared: sorted keys, no blanks, UTF-8, Python's numbers.

    Raises:
        ValueError: ``value`` has NaN or an infinity.

    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def digest_of(canonical: bytes) -> str:
    """Return what ``problem_id`` is where the content itself names it: ``sha256:`` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"
