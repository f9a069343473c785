"""Text as bytes and back, without loss, whether or not it is valid UTF-8."""

from __future__ import annotations


def encoded(text: str) -> bytes:
    """Encode an expected text; a lone surrogate becomes bytes that no valid character has."""
    return text.encode("utf-8", "surrogatepass")


def decoded(text: bytes) -> str:
    """Decode what was printed; an invalid byte becomes a lone surrogate that stands for that byte only."""
    return text.decode("utf-8", "surrogateescape")
