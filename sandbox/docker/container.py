"""One container of the ``docker`` sandbox, as the Engine API describes it: a pure function of what is wanted.

It shows what a jail shows: an image with the system's libraries, an interpreter and the harness and no shell,
read-only; /box and /dev/shm in memory; no network, no capability, no way to new privileges; the system calls of
``policy.kafel``; of /proc only processes. Programs and harness run under one user id, the bridge under another, both
of this container alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.docker.profile import render
from sandbox.jail import ENVIRONMENT, FILE_MIB, OPEN_FILES, POLICY, PYTHON_FLAGS

PYTHON = "/opt/programs/bin/python"
ROOT = "/opt/harness/sandbox"
BRIDGE = (PYTHON, "-I", f"{ROOT}/container/bridge.py")
LABEL = "microcoder.sandbox"
SHARED_MEMORY_BYTES = 16 << 20
# Where a container starts; each session sets its own limit before a program is loaded.
FIRST_MEMORY_BYTES = 256 << 20
PROCESSES = 1024  # a fence around what each run's own limit bounds
LOG_BYTES = "64k"
# What tells of the host rather than of a process, what changes it, and queues that would outlive a run. Of /sys the
# container's own group stays.
OF_ETC_AND_DEV = ("/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/dev/mqueue", "/dev/pts", "/dev/tty")
OF_PROC = (
    "acpi asound buddyinfo bus cgroups cmdline config.gz consoles cpuinfo crypto devices diskstats dma driver "
    "dynamic_debug execdomains fb filesystems fs interrupts iomem ioports irq kallsyms kcore key-users keys kmsg "
    "kpagecgroup kpagecount kpageflags latency_stats loadavg locks mdstat meminfo misc modules mtrr pagetypeinfo "
    "partitions pressure sched_debug schedstat scsi slabinfo softirqs stat swaps sys sysrq-trigger sysvipc timer_list "
    "timer_stats tty uptime version vmallocinfo vmstat zoneinfo"
)
OF_SYS = (
    "block bus class dev devices firmware fs/bpf fs/btrfs fs/ext4 fs/f2fs fs/fuse fs/pstore fs/selinux fs/xfs "
    "hypervisor kernel module power"
)


@dataclass(frozen=True, slots=True)
class ContainerPlan:
    """What differs between containers. ``uid`` is that of programs, ``uid + 1`` the bridge's."""

    image: str
    uid: int
    disk_bytes: int
    owner: str

    @property
    def bridge_user(self) -> str:
        """The bridge's user and group."""
        return f"{self.uid + 1}:{self.uid + 1}"


def configure(plan: ContainerPlan) -> dict[str, Any]:
    """Return the body of the request that creates the container."""
    return {
        "Image": plan.image,
        "Entrypoint": [PYTHON, "-I", "-S", f"{ROOT}/container/first.py", json.dumps(_first(plan))],
        "Cmd": [],
        "User": f"{plan.uid}:{plan.uid}",
        "WorkingDir": "/",
        "Hostname": "box",
        "NetworkDisabled": True,
        "Labels": {LABEL: plan.owner},
        "HostConfig": {
            "NetworkMode": "none",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges:true", f"seccomp={_profile()}"],
            "Memory": FIRST_MEMORY_BYTES,
            "MemorySwap": FIRST_MEMORY_BYTES,
            "PidsLimit": PROCESSES,
            "Ulimits": _ulimits({"nofile": OPEN_FILES, "fsize": FILE_MIB << 20}),
            "Tmpfs": _tmpfs(plan),
            "IpcMode": "private",
            "LogConfig": {"Type": "json-file", "Config": {"max-size": LOG_BYTES}},
            "MaskedPaths": [
                *OF_ETC_AND_DEV,
                *(f"/proc/{name}" for name in OF_PROC.split()),
                *(f"/sys/{name}" for name in OF_SYS.split()),
            ],
            "ReadonlyPaths": [],
        },
    }


def _first(plan: ContainerPlan) -> dict[str, Any]:
    return {
        "bridge_uid": plan.uid + 1,
        "argv": [PYTHON, *PYTHON_FLAGS, f"{ROOT}/harness/main.py"],
        "environment": ENVIRONMENT,
    }


def _profile() -> str:
    return json.dumps(render(POLICY.read_text(encoding="ascii")))


def _ulimits(limits: dict[str, int]) -> Sequence[dict[str, Any]]:
    return [{"Name": name, "Soft": value, "Hard": value} for name, value in limits.items()]


def _tmpfs(plan: ContainerPlan) -> dict[str, str]:
    private = f"uid={plan.uid},gid={plan.uid},mode=0777,nr_inodes=16384,nosuid,nodev,exec"
    return {
        "/box": f"{private},size={plan.disk_bytes}",
        "/dev/shm": f"{private},size={SHARED_MEMORY_BYTES}",  # noqa: S108 - the container's own
    }


def harness_root() -> Path:
    """Return the folder whose ``harness`` and ``container`` the image has to hold too."""
    return Path(__file__).parents[1]
