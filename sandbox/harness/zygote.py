"""The zygote: first process of a jail that lives long, has the usual modules loaded, and forks for each program.

It never reads what belongs to a program: specifications and inputs pass through as descriptors, which only the forked
process opens, so that no later program finds them in the memory that it inherits. See forks.py for what is asked of it.
"""

from __future__ import annotations

import _signal
import _socket
import os
import sys
import warnings

from sandbox.harness import (
    forks,
    interpreter,
    lockstep,
    loop,
    messages,
    namespaces,
    native,
    program,
    workspace,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

INPUT = f"{workspace.ROOT}/input"


def serve(argument: str) -> program.Job:
    """Answer requests until the channel closes; ``argument`` has the settings. Returns only in a child."""
    given = messages.in_harness(bytes.fromhex(argument))
    channel = loop.begin()
    os.environ.pop("LD_BIND_NOW", None)
    _import(given["modules"])
    settings = namespaces.Settings(
        channel.detach(),
        given["uid"],
        disk_bytes=given["disk_bytes"],
        proc=given["proc"],
        folders=[*workspace.FOLDERS],
    )
    helper = native.load(given["helper"]) if given["helper"] else None
    process = _prepare(given["stack_bytes"])
    hidden = _hide_harness()
    interpreter.share_for_good()
    os.write(settings.channel, b"ready")
    operation, fds = native.serve(helper, settings) if helper else namespaces.serve(settings)
    if operation != forks.SERVED:
        return process.start(operation == forks.TEMPLATE, helper)
    sys.modules.update(hidden)
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    return loop.serve(_socket.socket(fileno=fds[0]))


def _prepare(stack_bytes: int) -> lockstep.Prepared:
    """Give this process, and by that all that it forks, what a fresh interpreter starts with."""
    program.become_new(stack_bytes)
    # Descriptors of the kinds that programs get: streams remember whether theirs can be sought.
    log, given, (reader, writer) = os.dup(2), os.open(INPUT, os.O_RDONLY | os.O_CREAT), os.pipe()
    for target, fd in enumerate((given, writer, writer)):
        os.dup2(fd, target)
    prepared = lockstep.Prepared(stack_bytes)
    for fd in range(3):
        os.dup2(fd, namespaces.FIRST_KEPT_FD + fd)
    prepared.rehearse()
    os.closerange(namespaces.FIRST_KEPT_FD, namespaces.FIRST_KEPT_FD + 3)
    os.dup2(log, 2)
    for fd in (log, given, reader, writer):
        os.close(fd)
    warnings.simplefilter("ignore")  # while programs are compiled; each gets back what it would have found
    return prepared


def _hide_harness() -> dict[str, ModuleType]:
    """Take this package out of what programs may import, and return it for the harnesses that need it."""
    hidden: dict[str, Any] = {
        name: module
        for name, module in sys.modules.items()
        if name == "sandbox" or name.startswith("sandbox.")
    }
    for name in hidden:
        del sys.modules[name]
    return hidden


def _import(names: list[str]) -> None:
    for name in names:
        try:
            __import__(name)
        except ImportError:
            continue  # not installed for programs: one that needs it says so itself
