"""Keeps a program from making processes, for runtimes that must be let handle SIGCHLD.

Whoever ignores SIGCHLD has children whose CPU time nobody counts. The jail's policy forbids that by refusing to set
the signal's action; a runtime that does not start then (Go's) is held by this second filter instead: threads as
ever, no children. A filter is a program for the kernel's packet filter: see seccomp(2), <linux/filter.h>.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from sandbox.harness import interpreter

PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | errno.EPERM
KILL_PROCESS = 0x80000000
LOAD, JUMP_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
# struct seccomp_data: the call's number, the architecture, and the low half of the first argument.
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
CLONE_THREAD = 0x10000
# AUDIT_ARCH_... and the numbers of clone, fork and vfork there (-1: the architecture has none).
ARCHITECTURES = {"x86_64": (0xC000003E, 56, 57, 58), "aarch64": (0xC00000B7, 220, -1, -1)}


def enforce() -> None:
    """Refuse, from now on and for whatever this process executes, every new process. Raises OSError."""
    architecture, clone, fork, vfork = ARCHITECTURES[os.uname().machine]
    steps = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_EQUAL, 5, 0, fork & 0xFFFFFFFF),
        (JUMP_EQUAL, 4, 0, vfork & 0xFFFFFFFF),
        (JUMP_EQUAL, 0, 2, clone),
        (LOAD, 0, 0, FIRST_ARGUMENT_AT),
        (JUMP_ANY_BIT, 0, 1, CLONE_THREAD),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
    pointer = ctypes.create_string_buffer(program, len(program))
    if interpreter.LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(pointer), 0, 0):
        raise OSError("the filter that forbids processes is refused")
