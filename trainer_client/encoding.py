"""Bodies of requests: JSON that holds any Python text, compressed where that pays."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from service.wire import canonical_json, digest_of
from trainer_client.errors import ProblemError

if TYPE_CHECKING:
    from service.wire import Problem, WireModel

COMPRESS_FROM_BYTES = 2 << 10
# Compression of less is shorter than the way to another thread.
THREAD_FROM_BYTES = 256 << 10
GZIP_LEVEL = 1


def to_json(model: WireModel, *, without: set[str] | None = None) -> str:
    """Return ``model`` as JSON in ASCII, without fields that nobody set.

    Halves of surrogate pairs, which decoders of tokens can leave in a text, are written as escapes: they would
    not survive as UTF-8.

    Raises:
        ProblemError: it holds a number that JSON cannot write (NaN, infinity, an integer of thousands of digits).

    """
    try:
        return json.dumps(_set_fields(model, without), separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise ProblemError(f"not JSON: {error}") from error


@dataclass(frozen=True, slots=True)
class EncodedProblem:
    """A problem as it is sent, which is its canonical JSON, and the id that this text has at every service."""

    text: str
    id: str

    @classmethod
    def of(cls, problem: Problem) -> EncodedProblem:
        """Encode ``problem``.

        Raises:
            ProblemError: it holds a number that JSON cannot write.

        """
        try:
            canonical = canonical_json(_set_fields(problem))
        except (ValueError, RecursionError) as error:
            raise ProblemError(f"not JSON: {error}") from error
        return cls(canonical.decode(), digest_of(canonical))


@dataclass(frozen=True, slots=True)
class Body:
    """What a request carries."""

    content: bytes
    headers: dict[str, str]


async def body_of(text: str) -> Body:
    """Return ``text`` as a JSON body, compressed if it is long."""
    raw = text.encode()
    headers = {"Content-Type": "application/json"}
    if len(raw) < COMPRESS_FROM_BYTES:
        return Body(raw, headers)
    if len(raw) < THREAD_FROM_BYTES:
        content, coding = _compressed(raw)
    else:
        content, coding = await asyncio.to_thread(_compressed, raw)
    return Body(content, headers | {"Content-Encoding": coding})


def _compressed(raw: bytes) -> tuple[bytes, str]:
    # zstd is several times faster; httpx announces it for answers where the same package is installed.
    try:
        import zstandard  # noqa: PLC0415 -- optional, and imported only by whoever sends something
    except ImportError:
        return gzip.compress(raw, GZIP_LEVEL, mtime=0), "gzip"
    return zstandard.ZstdCompressor().compress(raw), "zstd"


def _set_fields(model: WireModel, without: set[str] | None = None) -> dict[str, Any]:
    # A field that nobody set is the service's to choose.
    return model.model_dump(exclude_unset=True, exclude=without)
