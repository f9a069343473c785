"""What a run gets: limits and descriptors."""

from __future__ import annotations

import os
import resource

from sandbox.harness import clocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Request:
    """Limits of one run and the descriptors that it gets (-1: none); ``link`` joins a program and its tester."""

    def __init__(self, message: dict[str, Any], fds: list[int]) -> None:
        self.cpu_time_s: float = message["cpu_time_s"]
        self.wall_time_s: float = message["wall_time_s"]
        self.address_space_bytes: int = message["address_space_bytes"]
        self.data_bytes: int = message.get("data_bytes", 0)
        self.stack_bytes: int = message["stack_bytes"]
        self.file_bytes: int = message["file_bytes"]
        self.processes: int = message["processes"]  # 0: a control group limits them
        self.shared: bool = message["shared"]
        self.stdin, self.stdout, self.stderr, self.report, self.payload = [*fds, -1][:5]
        self.link = -1

    def close(self) -> None:
        """Close this process's copies of the descriptors."""
        for fd in (self.stdin, self.stdout, self.stderr, self.report, self.payload, self.link):
            if fd >= 0:
                os.close(fd)

    def apply_limits(self) -> None:
        """Set this process's resource limits; none can be raised again."""
        limits = {
            # The exact limit is the harness's; this is the backup.
            resource.RLIMIT_CPU: int(clocks.LOADED_FACTOR * self.cpu_time_s) + 2,
            resource.RLIMIT_FSIZE: self.file_bytes,
            resource.RLIMIT_CORE: 1,  # unlike 0, this also keeps the kernel from piping a dump to a host's program
        }
        if self.processes:
            limits[resource.RLIMIT_NPROC] = self.processes + 2  # the harness and a tester count too
        if self.address_space_bytes:
            limits[resource.RLIMIT_AS] = self.address_space_bytes
        if self.data_bytes:
            limits[resource.RLIMIT_DATA] = self.data_bytes
        for kind, value in limits.items():
            bounded = _at_most_hard(kind, value)
            resource.setrlimit(kind, (bounded, bounded))
        stack = _at_most_hard(resource.RLIMIT_STACK, self.stack_bytes)
        resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def _at_most_hard(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
