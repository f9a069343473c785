"""Programs of other languages: runs a command, a compiler or what it made, in place of Python code.

What a compiler made comes as a sealed file in memory. An executable is started from that very file, which nothing
can change; files of other kinds (classes, scripts) are written anew for each run.
"""

from __future__ import annotations

import _signal
import fcntl
import os
import resource
import stat

from sandbox.harness import messages, workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from sandbox.harness.request import Request

CHUNK_BYTES = 1 << 20
ARTIFACT_FD = 3
FIRST_FREE_FD = 4
NOT_STARTED = 127
# Set by the interpreter for itself, and kept by what it executes.
IGNORED_BY_PYTHON = (_signal.SIGPIPE, _signal.SIGXFSZ)


class Loaded:
    """A command that can be run; ``artifact`` is the descriptor of a compiled program, -1 where there is none."""

    ok = True
    broken_prelude = False
    message = ""

    def __init__(self, spec: dict[str, Any], artifact: int) -> None:
        self.spec = spec
        self.artifact = artifact


def load(fds: list[int]) -> Loaded:
    """Read what is to be run: its specification and, in a second descriptor, the compiled program."""
    with os.fdopen(fds[0], "rb") as file:
        spec = messages.in_harness(file.read())
    return Loaded(spec, fds[1] if len(fds) > 1 else -1)


def execute(request: Request, loaded: Loaded, argv: list[str]) -> NoReturn:
    """Turn this new process into the command."""
    try:
        _write_files(loaded)
        _take_descriptors(request, loaded.artifact)
        os.setsid()
        os.umask(0o022)
        os.chdir(workspace.WORK)
        for number in IGNORED_BY_PYTHON:
            _signal.signal(number, _signal.SIG_DFL)
        request.apply_limits()
        if loaded.spec["threads_only"]:
            from sandbox.harness import threads_only

            threads_only.enforce()
        program = ARTIFACT_FD if loaded.spec["executable"] else argv[0]
        os.execve(program, argv, loaded.spec["environment"])
    except BaseException as error:  # noqa: BLE001 - the harness's own code goes on nowhere else
        os.write(2, f"the program cannot be started: {error}\n".encode("utf-8", "replace"))
    os._exit(NOT_STARTED)


def collect(path: str, max_bytes: int, target: int) -> None:
    """Copy what a compiler made, a file or a folder, to a descriptor, which stays empty where that is impossible.

    Whoever reads it gets a plain file, or an archive (zip) of the plain files in a folder.
    """
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):
            _archive(path, max_bytes, target)
        elif stat.S_ISREG(mode) and os.lstat(path).st_size <= max_bytes:
            _copy_file(path, target)
    except OSError:
        os.ftruncate(target, 0)


def _archive(folder: str, max_bytes: int, target: int) -> None:
    import zipfile

    total_bytes = 0
    with os.fdopen(os.dup(target), "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for parent, _, names in os.walk(folder):
            for name in names:
                path = f"{parent}/{name}"
                status = os.lstat(path)
                total_bytes += status.st_size
                if total_bytes > max_bytes:
                    raise OSError("too much")
                if stat.S_ISREG(status.st_mode):
                    archive.write(path, os.path.relpath(path, folder))


def _copy_file(path: str, target: int) -> None:
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        _copy(source, target)
    finally:
        os.close(source)


def _copy(source: int, target: int) -> None:
    offset = 0
    while data := os.pread(source, CHUNK_BYTES, offset):
        offset += len(data)
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]


def _write_files(loaded: Loaded) -> None:
    spec = loaded.spec
    name, content = spec["file"]
    if not name:
        return
    path = f"{workspace.SOURCE}/{name}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    if content is None:
        _copy(loaded.artifact, fd)
    else:
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
    os.close(fd)
    os.chmod(workspace.SOURCE, 0o555)  # noqa: S103 - read-only is what is wanted


def _take_descriptors(request: Request, artifact: int) -> None:
    wanted = (request.stdin, request.stdout, request.stderr, artifact)
    # Upwards first, so that no target overwrites a source that is still needed.
    raised = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64) if fd >= 0 else -1 for fd in wanted]
    for target, fd in enumerate(raised):
        if fd >= 0:
            os.dup2(fd, target, inheritable=target < ARTIFACT_FD)
    os.closerange(
        FIRST_FREE_FD if artifact >= 0 else ARTIFACT_FD, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    )
