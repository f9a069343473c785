"""Forks, namespaces and privileges: what a zygote does between two programs. helper.c is the same, compiled.

Only trusted code runs here. A process that has called ``_drop`` keeps no capability, no way to a new one, and one
system call filter more than its zygote (see filters.py).
"""

from __future__ import annotations

import _signal
import _socket
import ctypes
import fcntl
import os
import resource

from sandbox.harness import forks, interpreter, loop, messages, processes
from sandbox.harness.filters import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

CLONE_VM, CLONE_FILES, CLONE_NEWNS, CLONE_NEWPID = 0x100, 0x400, 0x20000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
# All that a zygote may have: kill, setgid, setuid, setpcap, sys_admin.
CAPABILITIES = (5, 6, 7, 8, 21)
PR_CAPBSET_DROP = 24
CAPABILITY_VERSION = 0x20080522
WALL = 0x40000000  # __WALL: children that send no signal at their end, too
INIT_STACK_BYTES = 1 << 14
# Out of the way of a program's own descriptors, which start at 3 as in a fresh interpreter.
FIRST_KEPT_FD, RAISED_FD = 100, 120

# The interpreter's lock stays held, so that nothing of Python runs between a call and its effect.
LIBC = ctypes.PyDLL(None, use_errno=True)


class Settings:
    """What a zygote is told; ``folders`` are made in each new /box, and a program starts in the first."""

    def __init__(self, channel: int, uid: int, *, disk_bytes: int, proc: bool, folders: list[str]) -> None:
        self.channel = channel
        self.uid = uid
        self.proc = proc
        self.box_options = f"size={disk_bytes},nr_inodes=16384,mode=0777,uid={uid},gid={uid}"
        self.folders = folders


def serve(settings: Settings) -> tuple[int, list[int]]:
    """Answer a zygote's requests; return only in a child: its operation and descriptors. Raises OSError."""
    return _Zygote(settings).serve()


class _Zygote:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._channel = _socket.socket(fileno=settings.channel)
        self._own = os.pidfd_open(os.getpid())
        self._stack = ctypes.create_string_buffer(INIT_STACK_BYTES)
        self._filter = Filter()
        self._init = self._main = 0

    def serve(self) -> tuple[int, list[int]]:
        # What it forks shares its memory (an init) or its handlers: it handles no signal itself.
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        while True:
            data, fds = loop.receive(self._channel)
            if not data:
                os._exit(0)  # with the first process, the kernel ends all others
            operation, limits = forks.unpack(data)
            if operation == forks.END:
                self._channel.send(messages.from_harness(self._end()))
                continue
            if not self._fork(operation):
                _signal.signal(_signal.SIGINT, _signal.default_int_handler)
                self._channel.close()
                self._become(operation, limits, fds)
                return operation, fds
            for fd in fds:
                os.close(fd)

    def _fork(self, operation: int) -> bool:
        """Fork a child in a process namespace of its own; False in the child."""
        _check(LIBC.unshare(CLONE_NEWPID), "unshare")
        # The first process in a namespace is its init. A harness may be that; a program must not: signals do not
        # reach an init.
        self._init = self._idle_init() if operation == forks.LOCKSTEP else 0
        self._main = interpreter.fork()
        if self._main == 0:
            return False
        self._init = self._init or self._main
        _check(LIBC.setns(self._own, CLONE_NEWPID), "setns")
        return True

    def _idle_init(self) -> int:
        """Start an init that only waits for its end.

        It runs one libc call on a stack of its own, with this process's memory and descriptors, so nothing is copied.
        Orphans of a program stay with it as zombies, so that their CPU time can still be read.
        """
        top = ctypes.c_void_p(ctypes.addressof(self._stack) + INIT_STACK_BYTES - 64)
        flags = ctypes.c_int(CLONE_VM | CLONE_FILES | int(_signal.SIGCHLD))
        return _check(LIBC.clone(ctypes.cast(LIBC.pause, ctypes.c_void_p), top, flags, None), "clone")

    def _become(self, operation: int, limits: dict[int, tuple[int, int]], fds: list[int]) -> None:
        self._private_files()
        lockstep = operation == forks.LOCKSTEP
        if operation != forks.SERVED:
            for kind, (soft, hard) in limits.items():
                _limit(kind, soft, hard)
            _place(fds)
        self._drop()
        for folder in self._settings.folders:
            os.mkdir(folder)
            os.chmod(folder, 0o777)  # noqa: S103 - private to the jail
        if operation != forks.SERVED:
            os.chdir(self._settings.folders[0])
        if lockstep:
            os.setsid()
        interpreter.set_dumpable(int(lockstep))

    def _private_files(self) -> None:
        """Give this process a mount namespace with an empty /box and a /proc of its process namespace."""
        _check(LIBC.unshare(CLONE_NEWNS), "unshare")
        options = self._settings.box_options.encode()
        _check(LIBC.mount(b"box", b"/box", b"tmpfs", MS_NOSUID | MS_NODEV, options), "mount /box")
        if self._settings.proc:
            flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
            _check(
                LIBC.mount(b"proc", b"/proc", b"proc", flags, b"subset=pid,hidepid=invisible"), "mount /proc"
            )

    def _drop(self) -> None:
        """Become another user without any capability, held to one more filter, all for good."""
        uid = self._settings.uid
        for capability in CAPABILITIES:
            interpreter.prctl(PR_CAPBSET_DROP, capability)
        if os.getuid() != uid:
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
        _check(LIBC.capset(header, (ctypes.c_uint32 * 6)()), "capset")
        self._filter.install(LIBC)

    def _end(self) -> dict[str, object]:
        """End the child with everything that it started; return how it ended and what all of it used."""
        cpu_time_s, peak_kib, status = 0.0, 0, -1
        if self._init:
            os.kill(self._init, _signal.SIGKILL)
            # All of it in the order in which it dies: an init ends only when everybody in its namespace has been
            # waited for.
            while True:
                try:
                    pid, how, usage = os.wait4(-1, WALL)
                except ChildProcessError:
                    break
                status = how if pid == self._main else status
                cpu_time_s += usage.ru_utime + usage.ru_stime
                peak_kib = max(peak_kib, usage.ru_maxrss)
            self._init = self._main = 0
        return {"status": status, "cpu_time_s": cpu_time_s, "memory_peak_bytes": peak_kib * 1024}


def serve_runs(control: int, paths: list[str]) -> None:
    """In a template: fork for each run that is asked for; return only in the process of a run.

    It waits for the end of the run and ends whatever that has started. The runs share descriptors 0 to 2, one after
    the other; only what a run may have set on them is put back.
    """
    channel = _socket.socket(fileno=control)
    # A first process gets the signals that it handles even from those it started: it handles none, its runs do.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    before = _changes(paths)
    while channel.recv(1):
        run = interpreter.fork()
        if run == 0:
            channel.close()
            for fd in range(3):
                os.dup2(FIRST_KEPT_FD + fd, fd)
                os.close(FIRST_KEPT_FD + fd)
                fcntl.fcntl(fd, fcntl.F_SETFL, 0)
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
            os.setsid()
            interpreter.set_dumpable(1)
            return
        os.waitid(os.P_PID, run, os.WEXITED | os.WNOWAIT)
        usage = processes.end_all((run,))
        channel.send(
            messages.from_harness(
                {
                    "status": usage.statuses[run],
                    "cpu_time_s": usage.cpu_time_s,
                    "memory_peak_bytes": usage.memory_peak_bytes,
                    "clean": before is not None and _changes(paths) == before,
                }
            )
        )
    os._exit(0)


def _changes(paths: list[str]) -> list[int] | None:
    """Return when the folders of /box, and the program's file, were last changed: any file that is left changes one."""
    try:
        return [os.lstat(path).st_ctime_ns for path in paths]
    except OSError:
        return None


def _limit(kind: int, soft: int, hard: int) -> None:
    """Set a limit of this process; none is raised, and an infinite one leaves things as they are."""
    now = resource.getrlimit(kind)[1] & forks.INFINITE
    hard = min(hard, now)
    soft = min(soft, hard)
    resource.setrlimit(kind, tuple(-1 if value == forks.INFINITE else value for value in (soft, hard)))  # type: ignore[arg-type]


def _place(fds: list[int]) -> None:
    """Put descriptors to 0 to 2, and all of them from FIRST_KEPT_FD on; nothing else stays open."""
    for index, fd in enumerate(fds):
        os.dup2(fd, RAISED_FD + index, inheritable=False)
    for index in range(len(fds)):
        os.dup2(RAISED_FD + index, FIRST_KEPT_FD + index, inheritable=False)
    os.closerange(FIRST_KEPT_FD + len(fds), 1 << 16)
    for fd in range(3):
        os.dup2(FIRST_KEPT_FD + fd, fd)
    os.closerange(3, FIRST_KEPT_FD)


def _check(result: int, what: str) -> int:
    if result < 0:
        _raise(what)
    return result


def _raise(what: str) -> NoReturn:
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")
