"""The system calls that a zygote needs and its programs must not have, as a classic BPF program (seccomp(2)).

The jail's own policy (policy.kafel) goes on to hold; of two filters, the stricter answer counts.
"""

from __future__ import annotations

import ctypes
import os
import struct

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
KILL_PROCESS, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
EPERM = 1
X86_64 = 0xC000003E
LOAD, JUMP_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER_OFFSET, ARCHITECTURE_OFFSET, FIRST_ARGUMENT_OFFSET = 0, 4, 16

# Numbers of the x86-64 table.
KILLED = {"unshare": 272, "setns": 308}
REFUSED = {
    "setuid": 105,
    "setgid": 106,
    "setreuid": 113,
    "setregid": 114,
    "setgroups": 116,
    "setresuid": 117,
    "setresgid": 119,
    "setfsuid": 122,
    "setfsgid": 123,
    "capset": 126,
    "mount": 165,
    "umount2": 166,
}
CLONE = 56
# All CLONE_NEW... that clone(2) takes, and CLONE_PARENT: a program's child must not become its zygote's.
REFUSED_FLAGS = 0x7E020000 | 0x8000


def program() -> bytes:
    """Return the filter's instructions (struct sock_filter)."""
    killed, refused = list(KILLED.values()), list(REFUSED.values())
    checks = len(killed) + len(refused)
    code = [
        (LOAD, 0, 0, ARCHITECTURE_OFFSET),
        (JUMP_EQUAL, 1, 0, X86_64),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_OFFSET),
        (JUMP_EQUAL, checks + 1, 0, CLONE),
    ]
    # Behind the comparisons stand: allow, clone's check of flags (two instructions), allow, kill, refuse.
    for index, number in enumerate([*killed, *refused]):
        left = checks - index - 1
        code.append((JUMP_EQUAL, left + (4 if index < len(killed) else 5), 0, number))
    code += [
        (RETURN, 0, 0, ALLOW),
        (LOAD, 0, 0, FIRST_ARGUMENT_OFFSET),
        (JUMP_ANY_BIT, 2, 0, REFUSED_FLAGS),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, KILL_PROCESS),
        (RETURN, 0, 0, ERRNO | EPERM),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class Filter:
    """A filter made ready before the processes fork that will install it."""

    def __init__(self) -> None:
        code = program()
        self._code = ctypes.create_string_buffer(code, len(code))
        self.program = Program(len(code) // 8, ctypes.addressof(self._code))

    def install(self, libc: ctypes.PyDLL) -> None:
        """Hold this process and its children to the filter for good. Raises OSError."""
        if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(self.program), 0, 0):
            number = ctypes.get_errno()
            raise OSError(number, f"seccomp: {os.strerror(number)}")
