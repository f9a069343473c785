"""Which limits hold for a test: its own, else its problem's, else the server's defaults.

A wall time that nobody names is 2 x CPU time + 2 s, but never more than the server's maximum.
"""

from __future__ import annotations

import math

import sandbox
from service import wire


class Defaults(wire.Limits):
    """Limits of a test that names none, and the most that a wall time which nobody names may come to."""

    max_wall_time_s: float | None = None


def effective(defaults: wire.Limits, *overrides: wire.Limits | None) -> sandbox.Limits:
    """Return the limits that hold; later ``overrides`` win. ``defaults`` may be :class:`Defaults`, with a bound."""
    merged: dict[str, float | int] = {
        "cpu_time_s": wire.DEFAULT_CPU_TIME_S,
        "memory_bytes": wire.DEFAULT_MEMORY_BYTES,
        "output_bytes": wire.DEFAULT_OUTPUT_BYTES,
        "processes": wire.DEFAULT_PROCESSES,
    }
    for limits in (defaults, *overrides):
        if limits is not None:
            merged |= limits.model_dump(exclude_none=True)
    implicit_wall_time_s = min(2 * merged["cpu_time_s"] + 2, merged.get("max_wall_time_s", math.inf))
    return sandbox.Limits(
        cpu_time_s=float(merged["cpu_time_s"]),
        wall_time_s=float(merged.get("wall_time_s", implicit_wall_time_s)),
        memory_bytes=int(merged["memory_bytes"]),
        output_bytes=int(merged["output_bytes"]),
        processes=int(merged["processes"]),
    )
