"""What the kernel refuses about control groups, and what the user is told."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.machine.cgroups import Groups


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch):
    """Let writes to files of a name fail as the kernel's do."""

    def fail(name: str, number: int) -> None:
        write = Path.write_text

        def refused(self: Path, text: str) -> int:
            if self.name == name and text not in ("max", "-1"):
                raise OSError(number, os.strerror(number))
            return write(self, text)

        monkeypatch.setattr(Path, "write_text", refused)

    return fail


def test_a_group_without_the_cpu_controller_is_named_with_the_line_to_type(tmp_path, refuse):
    """A scope to which systemd delegates memory and pids only."""
    (tmp_path / "cgroup.controllers").write_text("memory pids\n")
    refuse("cgroup.subtree_control", errno.ENOENT)
    with pytest.raises(LabError, match="kernel refused to divide") as caught:
        Groups("cgroup2", tmp_path / "lab").claim()
    assert f"controllers of {tmp_path}: memory pids" in str(caught.value)
    assert "Delegate=cpu memory pids" in str(caught.value)


def test_a_group_with_processes_that_cannot_be_moved_names_them(tmp_path, refuse):
    """Version 2 divides only a group without processes of its own."""
    (tmp_path / "cgroup.procs").write_text("1\n77\n")
    refuse("cgroup.subtree_control", errno.EBUSY)
    with pytest.raises(LabError) as caught:
        Groups("cgroup2", tmp_path / "lab").claim()
    assert "cannot be moved: 1, 77" in str(caught.value)
    assert "systemd-run --user --scope" in str(caught.value)


def test_a_quota_that_an_outer_group_does_not_allow_names_that_group(tmp_path, refuse):
    """Version 1 refuses a group more than the group around it has."""
    (tmp_path / "cpu.cfs_quota_us").write_text("50000\n")
    (tmp_path / "cpu.cfs_period_us").write_text("100000\n")
    refuse("cpu.cfs_quota_us", errno.EINVAL)
    with pytest.raises(LabError, match="refused control group sql") as caught:
        Groups("cgroup1", tmp_path / "lab").create("sql", 1.5)
    assert f"{tmp_path} allows 0.5 CPUs in all" in str(caught.value)
    assert "1.5 CPUs in" in str(caught.value)
    assert "--budget shared" in str(caught.value)


def test_a_group_that_has_vanished_is_said_so(tmp_path):
    """Not that a right is lacking."""
    groups = Groups("cgroup2", tmp_path / "lab")
    with pytest.raises(LabError, match="refused to move process 12") as caught:
        groups.place("sql/mysqld.1", 12)
    assert f"no {tmp_path}/lab/sql/mysqld.1" in str(caught.value)
    assert "root" not in str(caught.value).partition("next:")[2]


def test_a_process_that_has_ended_cannot_be_placed(tmp_path, refuse):
    """Its log says why, which no right and no other budget would mend."""
    groups = Groups("cgroup1", tmp_path / "lab")
    groups.create("sql", None)
    refuse("cgroup.procs", errno.ESRCH)
    with pytest.raises(LabError) as caught:
        groups.place("sql", 12)
    assert "no such process" in str(caught.value)


def test_a_process_that_was_moved_out_of_its_group_is_noticed(tmp_path):
    """It would run without its limit; a group that is gone is named as such."""
    groups = Groups("cgroup1", tmp_path / "lab")
    groups.create("sql", 1.0)
    procs = tmp_path / "lab/sql/cgroup.procs"
    procs.write_text("12\n34\n")
    groups.check("sql", 34)
    with pytest.raises(LabError, match="Process 56 has lost its CPU limit") as caught:
        groups.check("sql", 56)
    assert "without it" in str(caught.value)
    for file in (tmp_path / "lab/sql").iterdir():
        file.unlink()
    (tmp_path / "lab/sql").rmdir()
    with pytest.raises(LabError) as caught:
        groups.check("sql", 34)
    assert f"no {tmp_path}/lab/sql" in str(caught.value)
