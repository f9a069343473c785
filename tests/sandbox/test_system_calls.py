"""System calls that only an attack needs are refused; those of ordinary programs are not."""

import os

import pytest

from sandbox import Session
from tests.sandbox.inside import outcomes

CALLS = """
import ctypes, os, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    pid = os.fork()
    if pid == 0:
        ctypes.set_errno(0)
        result = libc.syscall(ctypes.c_long(number), *[ctypes.c_void_p(a) if isinstance(a, int) else a for a in args])
        os._exit(0 if result >= 0 else 1)
    status = os.waitpid(pid, 0)[1]
    return "killed" if os.WIFSIGNALED(status) else ("allowed", "refused")[os.WEXITSTATUS(status)]
"""


REFUSED = {
    "ptrace of the first process": "call(101, 16, 1, 0, 0)",
    "traceme": "call(101, 0, 0, 0, 0)",
    "process_vm_readv": "call(310, 1, 0, 0, 0, 0, 0)",
    "process_vm_writev": "call(311, 1, 0, 0, 0, 0, 0)",
    "prlimit of the first process": "call(302, 1, 7, 0, ctypes.create_string_buffer(16))",
    "pidfd_getfd": "call(438, os.pidfd_open(1), 0, 0)",
    "mount": "call(165, b'tmpfs', b'/box/tmp', b'tmpfs', 0, 0)",
    "umount": "call(166, b'/usr', 2)",
    "unshare of a user namespace": "call(272, 0x10000000)",
    "setns": "call(308, 0, 0)",
    "clone of a user namespace": "call(56, 0x10000011, 0, 0, 0, 0)",
    "clone3": "call(435, ctypes.create_string_buffer(88), 88)",
    "chroot": "call(161, b'/box')",
    "pivot_root": "call(155, b'/box', b'/box')",
    "bpf": "call(321, 0, ctypes.create_string_buffer(64), 64)",
    "perf_event_open": "call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)",
    "io_uring_setup": "call(425, 8, ctypes.create_string_buffer(256))",
    "userfaultfd": "call(323, 0)",
    "add_key": "call(248, b'user', b'a', b'b', 1, -3)",
    "keyctl": "call(250, 0, -3, 0)",
    "shmget": "call(29, 0x77, 4096, 0o1666)",
    "msgget": "call(68, 0x77, 0o1666)",
    "semget": "call(64, 0x77, 1, 0o1666)",
    "mq_open": "call(240, b'q', 0o102, 0o600, 0)",
    "memfd_secret": "call(447, 0)",
    "name_to_handle_at": "call(303, -100, b'/usr', ctypes.create_string_buffer(64), ctypes.create_string_buffer(8), 0)",
    "open_by_handle_at": "call(304, 0, ctypes.create_string_buffer(64), 0)",
    "setuid": "call(105, 0)",
    "setgroups": "call(116, 0, 0)",
    "sethostname": "call(170, b'x', 1)",
    "clock_settime": "call(227, 0, ctypes.create_string_buffer(16))",
    "sched_setscheduler": "call(144, 0, 1, ctypes.create_string_buffer(b'\\x32\\0\\0\\0', 4))",
    "setpriority": "call(141, 0, 0, -20)",
    "personality": "call(135, 0x0040000)",
    "syslog": "call(103, 3, ctypes.create_string_buffer(64), 64)",
    "kcmp": "call(312, 1, 1, 0, 0, 0)",
    "seccomp": "call(317, 0, 0, 0)",
    "tty injection": "call(16, 0, 0x5412, b'x')",
    "kexec_load": "call(246, 0, 0, 0, 0)",
}


ALLOWED = {
    "getpid": "call(39)",
    "fork": "call(57)",
    "nanosleep": "call(35, struct.pack('qq', 0, 1), 0)",
    "prlimit of itself": "call(302, 0, 7, 0, ctypes.create_string_buffer(16))",
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls are those of x86-64")
def test_system_calls_that_only_an_attack_needs_are_refused(session: Session) -> None:
    found = outcomes(session, REFUSED | ALLOWED, CALLS)
    assert {name for name, outcome in found.items() if outcome == "allowed"} == set(ALLOWED)
