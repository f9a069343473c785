"""The system calls of a worker's container: enough for jails, for warm ones too, and not what only attacks need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.docker.profile import MEETING, render

ROOT = Path(__file__).parents[2]
PROFILE: dict[str, Any] = json.loads((ROOT / "deploy" / "seccomp" / "worker.json").read_text())
ALLOWED = {
    name: rule.get("args", [])
    for rule in PROFILE["syscalls"]
    if rule["action"] == "SCMP_ACT_ALLOW"
    for name in rule["names"]
}


def test_what_is_not_named_fails() -> None:
    assert (PROFILE["defaultAction"], PROFILE["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", 1)


@pytest.mark.parametrize(
    "call", ["clone", "mount", "umount2", "pivot_root", "sethostname", "setns", "unshare"]
)
def test_jails_can_be_made(call: str) -> None:
    assert ALLOWED[call] == []


@pytest.mark.parametrize(
    "call",
    [
        *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "perf_event_open"),
        *("bpf", "userfaultfd", "io_uring_setup", "io_uring_enter", "add_key", "keyctl", "request_key"),
        *(
            "init_module",
            "finit_module",
            "delete_module",
            "kexec_load",
            "kexec_file_load",
            "reboot",
            "swapon",
        ),
        *("open_by_handle_at", "name_to_handle_at", "fanotify_init", "quotactl", "acct", "syslog", "chroot"),
        *("clock_settime", "settimeofday", "adjtimex", "clock_adjtime", "iopl", "ioperm", "modify_ldt"),
        *("setdomainname", "vhangup", "lookup_dcookie", "move_pages", "migrate_pages", "shmget", "mq_open"),
    ],
)
def test_nothing_that_only_attacks_need(call: str) -> None:
    assert call not in ALLOWED


def test_sockets_are_of_the_families_that_the_service_uses() -> None:
    rules = [rule for rule in PROFILE["syscalls"] if rule["names"] == ["socket"]]
    assert [rule["args"][0]["value"] for rule in rules] == [1, 2, 10, 16]
    assert all(rule["args"][0]["op"] == "SCMP_CMP_EQ" for rule in rules)


def test_calls_whose_flags_nobody_sees_are_said_not_to_exist() -> None:
    (rule,) = [rule for rule in PROFILE["syscalls"] if "clone3" in rule["names"]]
    assert (rule["action"], rule["errnoRet"]) == ("SCMP_ACT_ERRNO", 38)


def test_programs_are_held_by_their_own_list_and_not_by_this_one() -> None:
    """Else a program would meet other errors in a container than on a bare machine."""
    wanted = render((ROOT / "sandbox" / "policy.kafel").read_text())["syscalls"]
    names = {rule["names"][0] for rule in wanted if rule["action"] == "SCMP_ACT_ALLOW"}
    assert not names - set(ALLOWED) - set(MEETING)
