"""Which limits hold for a test: its own, else its problem's, else the server's defaults."""

from __future__ import annotations

import sandbox
from service import wire


def effective(defaults: wire.Limits, *overrides: wire.Limits | None) -> sandbox.Limits:
    """Return the limits that hold; later ``overrides`` win. A wall time that nobody names is 2 x CPU time + 2 s."""
    merged: dict[str, float | int] = {
        "cpu_time_s": wire.DEFAULT_CPU_TIME_S,
        "memory_bytes": wire.DEFAULT_MEMORY_BYTES,
        "output_bytes": wire.DEFAULT_OUTPUT_BYTES,
        "processes": wire.DEFAULT_PROCESSES,
    }
    for limits in (defaults, *overrides):
        if limits is not None:
            merged |= limits.model_dump(exclude_none=True)
    wall_time_s = merged.pop("wall_time_s", 2 * merged["cpu_time_s"] + 2)
    return sandbox.Limits(
        cpu_time_s=float(merged["cpu_time_s"]),
        wall_time_s=float(wall_time_s),
        memory_bytes=int(merged["memory_bytes"]),
        output_bytes=int(merged["output_bytes"]),
        processes=int(merged["processes"]),
    )
