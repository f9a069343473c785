"""The keys that are accepted. What is held of a key is its SHA-256: keys are random, so that nobody guesses from it.

A key is given by itself, or as ``NAME=sha256:DIGEST``; a file lists keys with limits of their own::

    {"keys": [{"name": "trainer", "sha256": "9f86d0...", "requests_per_s": 50, "concurrent_requests": 8}]}
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

if TYPE_CHECKING:
    from collections.abc import Sequence

KEY_BYTES = 32
_NAMED = re.compile(r"(?P<name>[\w.-]{1,64})=sha256:(?P<digest>[0-9a-f]{64})", re.ASCII)


class KeyLimits(BaseModel):
    """How much one key may be used; None is without limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests_per_s: Annotated[FiniteFloat | None, Field(gt=0)] = None
    concurrent_requests: Annotated[int | None, Field(ge=1)] = None


class ApiKey(KeyLimits):
    """A key by its digest."""

    name: Annotated[str, Field(pattern=r"^[\w.-]{1,64}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class KeyFile(BaseModel):
    """The content of a file of keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Annotated[list[ApiKey], Field(min_length=1)]


class KeyRing:
    """All keys; looked through whole each time, so that the time tells nothing about them."""

    def __init__(self, keys: Sequence[ApiKey]) -> None:
        self._keys = [(bytes.fromhex(key.sha256), key) for key in keys]

    def __bool__(self) -> bool:
        return bool(self._keys)

    @classmethod
    def of(cls, texts: Sequence[str], listed: Sequence[ApiKey], limits: KeyLimits) -> Self:
        """Return the ring of keys as the environment gives them, which have ``limits``, and of ``listed`` ones."""
        return cls([*(_parsed(text, number, limits) for number, text in enumerate(texts, 1)), *listed])

    def find(self, given: bytes) -> ApiKey | None:
        """Return the key that a client sent, or None. Letters beyond ASCII may come as UTF-8 or Latin-1."""
        digests = [
            hashlib.sha256(coded).digest() for coded in (given, given.decode("latin-1").encode("utf-8"))
        ]
        found = None
        for known, key in self._keys:
            # No branch that ends early.
            matches = [secrets.compare_digest(known, digest) for digest in digests]
            found = key if any(matches) else found
        return found


def new_key(name: str) -> tuple[str, str]:
    """Return a new key, and what to put where keys are configured."""
    key = secrets.token_urlsafe(KEY_BYTES)
    return key, f"{name}=sha256:{hashlib.sha256(key.encode()).hexdigest()}"


def _parsed(text: str, number: int, limits: KeyLimits) -> ApiKey:
    named = _NAMED.fullmatch(text)
    name, digest = (
        (named["name"], named["digest"])
        if named
        else (f"key-{number}", hashlib.sha256(text.encode()).hexdigest())
    )
    return ApiKey(name=name, sha256=digest, **limits.model_dump())
