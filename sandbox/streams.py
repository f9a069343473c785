"""What a run's standard streams are made of: a file in memory for its input, pipes for what it writes."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from types import TracebackType
from typing import Self

from sandbox.capture import Capture
from sandbox.facts import AssertInput, CallInput, Limits, RunInput, StdioInput
from sandbox.harness import plain

PIPE_BYTES = 1 << 20
STDERR_HEAD_BYTES = STDERR_TAIL_BYTES = 32 << 10
STDERR_FACTOR = 4
STDERR_CAP_BYTES = 64 << 20
REPORT_SLACK_BYTES = 1 << 16
F_SETPIPE_SZ = 1031


class Pipes:
    """What a run is connected to; ``theirs`` are the descriptors that the harness passes on."""

    def __init__(self, given: RunInput, limits: Limits) -> None:
        stdin = memory_file(given.stdin if isinstance(given, StdioInput) else b"")
        readers, writers = zip(*(pipe() for _ in range(3)), strict=True)
        self.theirs = [stdin, *writers]
        if isinstance(given, CallInput):
            self.theirs.append(memory_file(plain.dumps([list(given.args), given.kwargs])))
        elif isinstance(given, AssertInput):
            self.theirs.append(memory_file(given.code.encode("utf-8", "surrogatepass")))
        self.stdout, self.stderr = captures(readers[0], readers[1], limits)
        most = limits.output_bytes + REPORT_SLACK_BYTES
        self.report = Capture(readers[2], keep_bytes=most, cap_bytes=most)
        self.captures = (self.stdout, self.stderr, self.report)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_theirs()
        for capture in self.captures:
            os.close(capture.fd)

    def close_theirs(self) -> None:
        """Close our copies of what the harness has by now."""
        for fd in self.theirs:
            os.close(fd)
        self.theirs = []


def pipe() -> tuple[int, int]:
    """Return a pipe: a reading end that never blocks, and a writing end for a program."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(reader, False)
    with suppress(OSError):  # beyond this user's share of pipe memory, a small one works with more switching
        fcntl.fcntl(reader, F_SETPIPE_SZ, PIPE_BYTES)
    os.fchmod(writer, 0o666)  # programs may open /dev/stdout, under another user id
    return reader, writer


def captures(stdout: int, stderr: int, limits: Limits) -> tuple[Capture, Capture]:
    """Return what reads a run's standard output and error from the reading ends of their pipes."""
    cap = limits.output_bytes
    # A huge traceback is a runtime error, not too much output; only a flood is stopped.
    stderr_cap = max(STDERR_FACTOR * cap, STDERR_CAP_BYTES)
    return (
        Capture(stdout, keep_bytes=cap, cap_bytes=cap),
        Capture(stderr, keep_bytes=STDERR_HEAD_BYTES, cap_bytes=stderr_cap, tail_bytes=STDERR_TAIL_BYTES),
    )


def memory_file(data: bytes) -> int:
    """Return a descriptor of a new file in memory that holds ``data``, positioned at its start."""
    fd = os.memfd_create("input", os.MFD_CLOEXEC)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
