"""What is asked of a zygote: one message of fixed layout (``struct request`` in helper.c).

operation "l" + [stdin, stdout, stderr, channel, specification]           a process that runs a program's tests in turn
operation "t" + [stdin, stdout, stderr, channel, specification, control]  one that forks for each test: a template
operation "s" + [channel]                                                 a harness as in a jail of its own: loop.py
operation "e"                                         end it -> status, cpu_time_s, memory_peak_bytes

A template is asked for a run by any byte on its control channel, and answers after the run with the same facts and
``clean``: whether all files are as they were.
"""

from __future__ import annotations

import resource
import struct

LOCKSTEP, TEMPLATE, SERVED, END = ord("l"), ord("t"), ord("s"), ord("e")
RESOURCES = (
    resource.RLIMIT_CPU,
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_NPROC,
    resource.RLIMIT_CORE,
    resource.RLIMIT_STACK,
    resource.RLIMIT_AS,
)
LAYOUT = struct.Struct("@I6I6Q6Q")
INFINITE = (1 << 64) - 1


def pack(operation: int, limits: dict[int, tuple[int, int]]) -> bytes:
    """Return a request; ``limits`` maps each of RESOURCES to its soft and hard limit, none for other operations."""
    soft = [limits.get(kind, (INFINITE, INFINITE))[0] & INFINITE for kind in RESOURCES]
    hard = [limits.get(kind, (INFINITE, INFINITE))[1] & INFINITE for kind in RESOURCES]
    return LAYOUT.pack(operation, *RESOURCES, *soft, *hard)


def unpack(data: bytes) -> tuple[int, dict[int, tuple[int, int]]]:
    """Return the operation and the limits of a request."""
    operation, *values = LAYOUT.unpack(data)
    count = len(RESOURCES)
    kinds, soft, hard = values[:count], values[count : 2 * count], values[2 * count :]
    return operation, dict(zip(kinds, zip(soft, hard, strict=True), strict=True))
