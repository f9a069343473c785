"""Lets an unprivileged worker limit the memory of each run by control groups: ``memory_groups.py COMMAND...``.

A container's control groups are mounted read-only. This entry starts as the container's root with nothing but SETUID,
SETGID, SETFCAP and CHOWN (not SYS_ADMIN), makes user, mount and control group namespaces of its own, mounts the
container's groups writable there, hands a part of them to uid 1000, and runs COMMAND as uid 1000 without a capability:

    version 1   memory/worker    the command; groups of runs are made below it
    version 2   service          owned by uid 1000; groups of runs are made here
                service/worker   the command and everything else in the container

The container's own limit stays above all of it and cannot be changed from inside.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

UID = 1000
MAP = "0 0 1\n1000 1000 1\n"
MOUNTPOINT = Path("/sys/fs/cgroup")
MS_REC, MS_PRIVATE = 0x4000, 0x40000
FLAGS = 2 | 4 | 8  # MS_NOSUID, MS_NODEV, MS_NOEXEC
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
LAST_CAPABILITY = int(Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="ascii"))
LIBC = ctypes.CDLL(None, use_errno=True)


def main(command: list[str]) -> int:
    """Run ``command`` so; return its exit status, 128 and its number for a signal."""
    if not command or os.getuid() != 0:
        sys.exit("memory_groups.py: run as the container's root, with a command")
    namespaces_made, tell_made = os.pipe()
    maps_written, tell_written = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(tell_written)
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS | os.CLONE_NEWCGROUP)
        os.write(tell_made, b"m")
        if not os.read(maps_written, 1):
            os._exit(1)
        run(command)
    os.close(tell_made)
    if os.read(namespaces_made, 1):
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{child}/{name}").write_text(MAP, encoding="ascii")
        os.write(tell_written, b"w")
    become_unprivileged()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def run(command: list[str]) -> NoReturn:
    """In the new namespaces: prepare the groups, give everything up, become the command."""
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    version_2 = (MOUNTPOINT / "cgroup.controllers").exists()
    # A file system is refused where it is mounted already; this covers the read-only one.
    mount("tmpfs", str(MOUNTPOINT), "tmpfs", FLAGS, "size=64k,mode=755")
    if version_2:
        delegate_version_2()
    else:
        delegate_version_1()
    become_unprivileged()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.execvp(command[0], command)


def delegate_version_1() -> None:
    """Hand a memory group below the container's own to uid 1000, with this process in it."""
    (MOUNTPOINT / "memory").mkdir()
    mount("cgroup", str(MOUNTPOINT / "memory"), "cgroup", FLAGS, "memory")
    group = MOUNTPOINT / "memory" / "worker"
    group.mkdir(exist_ok=True)
    (group / "cgroup.procs").write_text("0", encoding="ascii")
    for path in (group, group / "cgroup.procs", group / "tasks"):
        os.chown(path, UID, UID)


def delegate_version_2() -> None:
    """Hand a group with a leaf for what runs already to uid 1000: only groups without processes have children."""
    mount("cgroup", str(MOUNTPOINT), "cgroup2", FLAGS)
    service = MOUNTPOINT / "service"
    worker = service / "worker"
    worker.mkdir(parents=True, exist_ok=True)
    for pid in (MOUNTPOINT / "cgroup.procs").read_text(encoding="ascii").split():
        if pid != "0":  # of another process namespace
            (worker / "cgroup.procs").write_text(pid, encoding="ascii")
    for group in (MOUNTPOINT, service):
        (group / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
    delegated = [
        group / name for group in (service, worker) for name in ("", "cgroup.procs", "cgroup.threads")
    ]
    for path in (*delegated, service / "cgroup.subtree_control"):
        os.chown(path, UID, UID)


def become_unprivileged() -> None:
    """Become uid 1000 for good, without capabilities and without a way to new ones."""
    for capability in range(LAST_CAPABILITY + 1):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # refused where the set lacks SETPCAP: see below
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    prctl(PR_SET_NO_NEW_PRIVS, 1)  # with which no program can gain what the bounding set may still hold


def prctl(option: int, value: int) -> None:
    """Set one option of this process. Raises OSError."""
    if LIBC.prctl(option, value, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount something. Raises OSError."""
    texts = [text.encode() if text is not None else None for text in (source, target, kind, data)]
    if LIBC.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]):
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind} at {target}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
