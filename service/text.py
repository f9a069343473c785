"""Text of programs made fit to be shown: bounded, printable, valid Unicode."""

from __future__ import annotations

EXCERPT_BYTES = 4096
LINE_CHARACTERS = 300


def excerpt(data: bytes, *, cut: bool = False) -> str:
    """Return the first 4 KiB of an output as text; what is missing is marked."""
    text = data[:EXCERPT_BYTES].decode("utf-8", "replace")
    if len(data) > EXCERPT_BYTES or cut:
        return f"{text}\n[cut: {'more than ' if cut else ''}{len(data)} bytes in all]"
    return text


def head_and_tail(data: bytes, *, cut: bool = False) -> str:
    """Return an error output as text: where it is longer than 4 KiB, its first and last 2 KiB."""
    if len(data) <= EXCERPT_BYTES:
        return excerpt(data, cut=cut)
    half = EXCERPT_BYTES // 2
    head, tail = (part.decode("utf-8", "replace") for part in (data[:half], data[-half:]))
    return f"{head}\n[cut: {len(data)} bytes in all]\n{tail}"


def last_line(data: bytes) -> str:
    """Return the last line of an output that is not blank, shortened."""
    lines = data[-EXCERPT_BYTES:].decode("utf-8", "replace").strip().splitlines()
    return shortened(lines[-1]) if lines else ""


def shortened(text: str) -> str:
    """Return text as one line of bounded length that any JSON encoder takes."""
    line = " ".join(text.split())
    line = line if len(line) <= LINE_CHARACTERS else f"{line[: LINE_CHARACTERS - 1]}…"
    return line.encode("utf-8", "replace").decode("utf-8")


def unix_lines(text: str) -> str:
    """Return text with line feeds as its only line ends: programs must not meet another system's."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
