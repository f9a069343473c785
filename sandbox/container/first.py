"""First process of a container: ``first.py JSON`` waits for the bridge, takes the channel from it, becomes the harness.

The JSON holds ``bridge_uid`` (the only user who is given the channel), ``argv`` and ``environment`` of the harness.
A container may make sockets so that these two can meet; before the harness starts, a filter takes that away from it
and from everything that it will ever start.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import socket
import struct
import sys

ADDRESS = "\0microcoder"  # abstract: known in this container's network namespace alone
BRIDGE_TIMEOUT_S = 20.0
CREDENTIALS = struct.Struct("iII")  # struct ucred: process, user, group
# Of socket, then bind, listen, accept, accept4, connect, memfd_create (asm/unistd.h).
CALLS = {
    "x86_64": (0xC000003E, 41, (49, 50, 43, 288, 42, 319)),
    "aarch64": (0xC00000B7, 198, (200, 201, 202, 242, 203, 279)),
}
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER_AT, ARCHITECTURE_AT = 0, 4  # struct seccomp_data
KILL_PROCESS, FAIL_WITH, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000


def main() -> None:
    """Wait, restrict, become the harness. Raises OSError."""
    given = json.loads(sys.argv[1])
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(ADDRESS)
        listener.listen()
        listener.settimeout(BRIDGE_TIMEOUT_S)
        channel, _ = listener.accept()
    _, uid, _ = CREDENTIALS.unpack(
        channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    )
    if uid != given["bridge_uid"]:
        raise PermissionError(errno.EACCES, f"the channel was asked for by user {uid}")
    channel.setblocking(True)
    os.dup2(channel.fileno(), 0, inheritable=True)
    channel.close()
    forbid_sockets()
    os.execve(given["argv"][0], given["argv"], given["environment"])


def forbid_sockets() -> None:
    """Forbid this process and its descendants what only first.py and the bridge need. Raises OSError, LookupError."""
    architecture, socket_call, others = CALLS[os.uname().machine]
    program = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_IF_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_IF_EQUAL, 0, 1, socket_call),
        (RETURN, 0, 0, FAIL_WITH | errno.EAFNOSUPPORT),
    ]
    for number in others:
        program += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, FAIL_WITH | errno.EPERM)]
    program.append((RETURN, 0, 0, ALLOW))
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"no filter can be set: {os.strerror(number)}")


if __name__ == "__main__":
    main()
