r"""How JSON texts of callers are read.

As RFC 8259 has it, and stricter where leniency would hide a mistake: a repeated key is refused,
since one of its two values would be dropped silently, and so are NaN, Infinity and numbers that overflow to
them, integers of more than 4,300 digits and nesting beyond 200 levels. A lone surrogate (``"\\ud800"``),
which UTF-8 cannot carry and which a model's broken output may contain, is read as ``wire.NO_CHARACTER``: one
garbled sample must not refuse a whole batch. A program with one does not compile.

Files of others are read by :func:`lenient`: NaN and Infinity, which Python's own writer makes, and repeated keys stand
in fields that do not concern us.
"""

from __future__ import annotations

import re
from typing import Any

import jiter

from service.errors import MalformedBodyError

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def parsed_object(body: bytes) -> dict[str, Any]:
    """Return the members of a JSON object.

    Raises:
        MalformedBodyError: it is none, or breaks a rule named in this module's docstring.

    """
    data = parsed(body)
    if not isinstance(data, dict):
        raise MalformedBodyError("the body must be a JSON object")
    return data


def parsed(body: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        MalformedBodyError: it is none, or breaks a rule named in this module's docstring.

    """
    try:
        return _load(body)
    except ValueError as error:
        if "hex escape" not in str(error):
            raise _malformed(error) from None
    try:
        return _load(_without_surrogates(body))
    except ValueError as error:
        raise _malformed(error) from None


def lenient(text: bytes) -> Any:
    """Return the value of a JSON text that somebody else wrote.

    Raises:
        ValueError: it is none, or nests deeper than 200 levels.

    """
    try:
        return _load_lenient(text)
    except ValueError as error:
        if "hex escape" not in str(error):
            raise
        return _load_lenient(_without_surrogates(text))


def _load(body: bytes) -> Any:
    return jiter.from_json(body, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True)


def _load_lenient(text: bytes) -> Any:
    return jiter.from_json(text, allow_inf_nan=True, cache_mode="keys")


def _without_surrogates(text: bytes) -> bytes:
    return _ESCAPE.sub(lambda found: rb"\uffff" if found[1] else found[0], text)


def _malformed(error: ValueError) -> MalformedBodyError:
    reason = str(error)
    if "recursion limit" in reason:
        reason = "it nests deeper than 200 levels" + reason.removeprefix("recursion limit exceeded")
    if "number out of range" in reason:
        reason = "an integer has more than 4300 digits" + reason.removeprefix("number out of range")
    return MalformedBodyError(f"the body is no JSON that is read here: {reason}")
