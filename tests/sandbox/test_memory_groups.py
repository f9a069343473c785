"""Groups that limit memory: of the version that is found here, and of version 2 by its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.cgroup_folders import delegated_group_v2
from sandbox.cgroups import MemoryGroups
from sandbox.cgroups_v2 import MemoryGroupV2


def test_a_maker_of_groups_has_proved_to_work() -> None:
    groups = MemoryGroups.available()
    if groups is None:
        pytest.skip("no memory groups can be made here")
    group = groups.create()
    group.limit(64 << 20)
    assert (group.oom_kills(), group.peak_bytes()) == (0, 0)
    folder = group.entrance.parent
    assert folder.is_dir()
    group.remove()
    assert not folder.exists()


def test_a_part_of_the_tree_that_limits_no_memory_is_not_taken() -> None:
    folder = delegated_group_v2()
    assert folder is None or "memory" in (folder / "cgroup.subtree_control").read_text()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Give a folder with the files of a group of version 2, as kernels before 6.12 have them."""
    contents = {
        "memory.current": "5000000\n",
        "memory.max": "max\n",
        "memory.swap.max": "max\n",
        "memory.peak": "9000000\n",
        "memory.events": "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_a_group_of_version_2_is_limited_above_what_it_holds_and_gets_no_swap(files: Path) -> None:
    group = MemoryGroupV2(files)
    group.limit(64 << 20)
    assert int((files / "memory.max").read_text()) == 5000000 + (64 << 20) + (8 << 20)
    assert (files / "memory.swap.max").read_text() == "0"
    assert group.oom_kills() == 2
    assert group.entrance == files / "cgroup.procs"


def test_a_peak_that_does_not_start_anew_is_told_of_the_first_run_only(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Linux 6.12 the file is read-only, for root too."""
    monkeypatch.setattr("os.pwrite", _refuse)
    group = MemoryGroupV2(files)
    group.limit(64 << 20)
    assert group.peak_bytes() == 4000000
    group.limit(64 << 20)
    assert group.peak_bytes() is None


def _refuse(*_: object) -> int:
    raise PermissionError
