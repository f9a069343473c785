"""Control groups: found where they can be used, removed whatever happened, of either version.

Version 1 is tested by what it does to real programs (see test_limits.py) where this machine has it. Of version 2 the
folders, entering and killing are tested on a real hierarchy; its memory files on a copy of their layout only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import Limits, Program, SandboxSettings, StdioInput, open_sandbox
from sandbox.cgroups.folder import PREFIX, GroupFolder, remove_stale
from sandbox.cgroups.limits import MemoryGroups
from sandbox.cgroups.places import Places, read_places
from sandbox.cgroups.v2 import LEAF, Group, Maker
from service.settings import default_python

# A service with a run going on, which says so and waits to be killed.
SERVICE = """
import sys
from sandbox import *
with open_sandbox(SandboxSettings(python=sys.argv[1])) as opened:
    limits = Limits(cpu_time_s=600, wall_time_s=600)
    with opened.session(Program("import time\\nprint(flush=True)\\ntime.sleep(600)"), limits) as session:
        print("running", flush=True)
        session.run(StdioInput(), limits)
"""
PLACES = read_places()
VERSION_1 = [folder for folder in (PLACES.version_1("memory"), PLACES.version_1("pids")) if folder]
VERSION_2 = PLACES.version_2()


def _sleeper(group: GroupFolder) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sleep", "600"], preexec_fn=group.enter)  # noqa: PLW1509 - no other thread here


def _groups(pid: int) -> list[Path]:
    return [path for folder in VERSION_1 for path in folder.glob(f"{PREFIX}{pid}.*")]


@pytest.mark.skipif(MemoryGroups.available() is None, reason="no memory groups can be made here")
def test_a_killed_service_leaves_groups_only_until_the_next_start() -> None:
    """And a living one keeps its own."""
    service = subprocess.Popen([sys.executable, "-c", SERVICE, default_python()], stdout=subprocess.PIPE)
    with service, open_sandbox(SandboxSettings(python=default_python())) as living:
        assert service.stdout is not None
        assert service.stdout.readline() == b"running\n"
        limits = Limits(cpu_time_s=5.0)
        with living.session(Program("print(1)"), limits) as session:
            left = _groups(service.pid)
            assert left
            service.send_signal(signal.SIGKILL)
            service.wait()
            with open_sandbox(SandboxSettings(python=default_python())):
                assert _groups(service.pid) == []
            assert session.run(StdioInput(), limits).stdout == b"1\n"


@pytest.mark.skipif(not VERSION_1, reason="no control groups of version 1 here")
def test_processes_in_a_group_of_nobody_are_killed_with_it() -> None:
    parent = VERSION_1[0]
    try:
        group = GroupFolder(parent, "tasks")
    except OSError:
        pytest.skip("groups cannot be made here")
    sleeper = _sleeper(group)
    remove_stale(parent)
    assert sleeper.poll() is None  # this process holds the lock
    os.close(group._lock)  # noqa: SLF001 - what the kernel does at the end of a killed process
    remove_stale(parent)
    assert sleeper.wait(20) == -signal.SIGKILL
    assert not group.path.exists()


def _real_version_2(entrance: str = "cgroup.procs") -> GroupFolder:
    if VERSION_2 is None or not os.access(VERSION_2, os.W_OK):
        pytest.skip("no control groups of version 2 can be made here")
    try:
        return GroupFolder(VERSION_2, entrance)
    except OSError:
        pytest.skip("no control groups of version 2 can be made here")


def test_a_version_2_group_is_entered_and_killed_as_one() -> None:
    group = _real_version_2()
    sleepers = [_sleeper(group) for _ in range(3)]
    assert sorted(map(int, group.read("cgroup.procs").split())) == sorted(one.pid for one in sleepers)
    group.remove()
    assert {one.wait(20) for one in sleepers} == {-signal.SIGKILL}
    assert not group.path.exists()


def test_a_version_2_group_of_nobody_is_removed() -> None:
    group = _real_version_2()
    os.close(group._lock)  # noqa: SLF001 - what the kernel does at the end of a killed process
    remove_stale(group.path.parent)
    assert not group.path.exists()


MEMORY_FILES = {
    "memory.current": "1000\n",
    "memory.max": "max\n",
    "memory.swap.max": "max\n",
    "memory.peak": "5000\n",
    "memory.events": "low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n",
    "pids.max": "max\n",
}


def _laid_out(parent: Path, left_out: frozenset[str] = frozenset()) -> tuple[Group, Path]:
    group = Maker(parent).create()
    (folder,) = parent.glob(f"{PREFIX}*")
    for name, text in MEMORY_FILES.items():
        if name not in left_out:
            (folder / name).write_text(text)
    return group, folder


def test_version_2_files_are_written_and_read_as_they_are_documented(tmp_path: Path) -> None:
    group, folder = _laid_out(tmp_path)
    group.limit(64 << 20, 10)
    assert (folder / "memory.max").read_text() == str(1000 + (64 << 20) + (8 << 20))
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "pids.max").read_text() == "10"
    assert group.oom_kills() == 1
    (folder / "memory.peak").write_text("9000\n")
    assert group.peak_bytes() == 8000
    assert group.limits_processes


def test_version_2_files_that_older_kernels_lack_are_done_without(tmp_path: Path) -> None:
    group, folder = _laid_out(tmp_path, frozenset({"memory.peak", "memory.swap.max", "pids.max"}))
    group.limit(64 << 20, 10)
    assert group.peak_bytes() is None
    assert not group.limits_processes
    assert not (folder / "memory.swap.max").exists()
    assert not (folder / "pids.max").exists()


def _version_2_tree(root: Path, *groups: str, handed_on: str = "") -> Places:
    """Lay out a hierarchy; the last group is this process's own."""
    for group in ("", *groups):
        folder = root / group
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.controllers").write_text("cpu memory pids\n")
        (folder / "cgroup.subtree_control").write_text(handed_on)
        (folder / "cgroup.procs").write_text("")
        if group:
            (folder / "cgroup.type").write_text("domain\n")
    return Places(f"0::/{groups[-1]}\n", f"30 20 0:26 / {root} rw - cgroup2 cgroup2 rw,nsdelegate\n")


def test_a_group_that_was_not_delegated_is_left_alone(tmp_path: Path) -> None:
    """That it can be written does not make it ours: the host's root user can write all of them."""
    root = tmp_path / "cgroup"
    places = _version_2_tree(root, "system.slice", "system.slice/other.service", handed_on="memory pids")
    before = {path: path.read_text() for path in root.rglob("cgroup.*")}
    if os.geteuid() == 0:
        assert Maker.found(places) is None
    assert {path: path.read_text() for path in root.rglob("cgroup.*")} == before


def test_a_group_whose_leaf_this_process_lives_in_is_used(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    places = _version_2_tree(root, "a.service", f"a.service/{LEAF}", handed_on="memory pids")
    maker = Maker.found(places)
    assert maker is not None
    group = maker.create()
    assert [path.parent.name for path in root.rglob(f"{PREFIX}*")] == ["a.service"]
    group.remove()


def test_the_root_of_a_containers_hierarchy_is_emptied_into_a_leaf(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    places = _version_2_tree(root, "")
    (root / "cgroup.type").write_text("domain\n")
    (root / LEAF).mkdir()
    (root / "cgroup.procs").write_text("17\n")
    assert Maker.found(places) is not None
    assert (root / LEAF / "cgroup.procs").read_text() == "17"
    assert (root / "cgroup.subtree_control").read_text() == "+pids"  # the last of two writes


def test_a_group_without_the_memory_controller_is_no_use(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    places = _version_2_tree(root, "a.service", f"a.service/{LEAF}")
    (root / "a.service" / "cgroup.controllers").write_text("cpu hugetlb\n")
    assert Maker.found(places) is None


@pytest.mark.parametrize(
    ("groups", "mounts", "first", "second"),
    [
        pytest.param(
            "4:memory:/a\n0::/\n",
            "35 31 0:32 / {root} rw,relatime - cgroup cgroup rw,memory\n",
            "{root}/a",
            None,
            id="version 1",
        ),
        pytest.param(
            "0::/a\n",
            "30 20 0:26 / {root} rw shared:4 - cgroup2 cgroup2 rw\n",
            None,
            "{root}/a",
            id="version 2",
        ),
        pytest.param(
            "4:cpu,memory:/docker/x\n",
            "35 31 0:32 /docker/x {root} ro - cgroup cgroup rw,cpu,memory\n",
            "{root}",
            None,
            id="a container that sees its own part",
        ),
        pytest.param(
            "0::/a\n",
            "30 20 0:26 / /nowhere ro - cgroup2 cgroup2 rw\n40 20 0:26 / {root} rw - cgroup2 cgroup2 rw\n",
            None,
            "{root}/a",
            id="mounted twice",
        ),
        pytest.param("4:memory:/a\n", "", None, None, id="not mounted"),
    ],
)
def test_where_groups_lie_is_read_from_what_the_kernel_says(
    tmp_path: Path, groups: str, mounts: str, first: str | None, second: str | None
) -> None:
    (tmp_path / "a").mkdir()
    places = Places(groups, mounts.format(root=tmp_path))
    assert places.version_1("memory") == (Path(first.format(root=tmp_path)) if first else None)
    assert places.version_2() == (Path(second.format(root=tmp_path)) if second else None)
