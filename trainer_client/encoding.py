"""Bodies of requests: JSON that holds any Python text, compressed where that pays."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
    data: dict[str, Any] = model.model_dump(exclude_unset=True, exclude=without)
    try:
        return json.dumps(data, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise ProblemError(f"not JSON: {error}") from error


@dataclass(frozen=True, slots=True)
class EncodedProblem:
    """A problem as it is sent, and the id it is stored under: a digest of that very text."""

    text: str
    id: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        # A name of our own: `sha256:` is the service's, for its own canonical form.
        object.__setattr__(self, "id", f"client-{digest}")

    @classmethod
    def of(cls, problem: Problem) -> EncodedProblem:
        """Encode ``problem``; raises ProblemError as :func:`to_json` does."""
        return cls(to_json(problem))


@dataclass(frozen=True, slots=True)
class Body:
    """What a request carries."""

    content: bytes
    headers: dict[str, str]


async def body_of(text: str) -> Body:
    """Return ``text`` as a JSON body, compressed if it is long."""
    raw = text.encode("ascii")
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
