"""Limits of CPU bandwidth: the numbers, what is written where, and what the kernel refuses."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndblab.error import LabError
from ndblab.machine import cgroups, commands, host


@given(st.floats(0.01, 1024))
def test_period_and_quota_are_the_shortest_that_the_kernel_takes(cpus):
    """Both at least 1 ms; the quota is the share within the rounding of a microsecond."""
    period, share = cgroups.period_and_quota_us(cpus)
    assert period >= cgroups.SHORTEST_US
    assert share >= cgroups.SHORTEST_US
    assert min(period, share) <= cgroups.SHORTEST_US + 1
    assert share / period == pytest.approx(cpus, rel=2e-3)


@given(st.floats(0.01, 1024), st.integers(1, 40))
def test_periods_of_groups_differ_so_that_their_phases_pass_each_other(cpus, steps):
    """Neighbours meet once in about 250 periods; nobody gets more than the share, or much less."""
    (before, _), (period, quota) = (
        cgroups.period_and_quota_us(cpus, n) for n in (steps - 1, steps)
    )
    shortest, _ = cgroups.period_and_quota_us(cpus)
    assert (period - before) / shortest == pytest.approx(1 / 250, rel=0.26)
    assert cpus * (1 - 1e-3) < quota / period <= cpus


def test_version_1_limits_are_written_in_an_order_that_the_kernel_accepts(tmp_path: Path):
    """Half a CPU is 1 ms in every 2 ms, in a group inside its parent."""
    groups = cgroups.Groups("cgroup1", tmp_path / "lab")
    groups.create("sql", 1.5)
    assert groups.create("sql/mysqld.1", 0.5) == 2000
    inner = tmp_path / "lab/sql/mysqld.1"
    assert (inner / "cpu.cfs_period_us").read_text() == "2000"
    assert (inner / "cpu.cfs_quota_us").read_text() == "1000"


def test_version_2_limits_enable_the_controller_on_the_way_down(tmp_path: Path):
    """Every parent hands the cpu controller down to its children."""
    groups = cgroups.Groups("cgroup2", tmp_path / "lab")
    groups.create("sql/mysqld.1", 0.25)
    assert (tmp_path / "lab/sql/mysqld.1/cpu.max").read_text() == "1000 4000"
    assert (tmp_path / "lab/cgroup.subtree_control").read_text() == "+cpu"
    assert (tmp_path / "lab/sql/cgroup.subtree_control").read_text() == "+cpu"


@pytest.mark.parametrize(
    ("kind", "file", "weight"),
    [("cgroup1", "cpu.shares", "1024"), ("cgroup2", "cpu.weight", "100")],
)
def test_clusters_that_share_cpus_equally_have_the_same_weight(
    tmp_path: Path, kind: str, file: str, weight: str
):
    """That of any other group; a whole cluster is in a group without parts, or a limit."""
    groups = cgroups.Groups(kind, tmp_path / "lab")
    groups.weigh()
    assert [path.name for path in (tmp_path / "lab").iterdir()] == [file]
    assert (tmp_path / "lab" / file).read_text() == weight
    entered = commands.output([*groups.entering(""), "echo", "started"], what="?")
    assert entered == "started\n"
    assert (tmp_path / "lab/cgroup.procs").read_text().strip().isdigit()


def test_a_refused_weight_names_the_group(tmp_path: Path):
    """As a refused limit does."""
    (tmp_path / "lab").write_text("not a folder")
    with pytest.raises(LabError, match="control group lab"):
        cgroups.Groups("cgroup2", tmp_path / "lab").weigh()


@pytest.mark.parametrize(
    ("kind", "file", "text"),
    [("cgroup1", "cpu.cfs_period_us", "8000"), ("cgroup2", "cpu.max", "2000 8000")],
)
def test_a_period_is_read_back_as_the_kernel_has_it(
    tmp_path: Path, kind: str, file: str, text: str
):
    """It may have lengthened the one that was set."""
    groups = cgroups.Groups(kind, tmp_path / "lab")
    groups.create("sql", 0.25)
    assert groups.period_us("sql") == 4000
    (tmp_path / "lab/sql" / file).write_text(f"{text}\n")
    assert groups.period_us("sql") == 8000
    assert groups.period_us("none") == 0


def test_an_ordinary_user_of_systemd_is_moved_into_a_delegated_scope_once(monkeypatch):
    """The same command inside systemd-run; never from there again, never for anybody else."""
    user = host.CpuController("systemd", "", "a user")
    root = host.CpuController("cgroup1", "/sys/fs/cgroup/cpu", "writable")
    argv, become = ["python", "invoke", "doctor"], []
    monkeypatch.setenv("NDBLAB_SCOPE", "1")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    monkeypatch.setattr(os, "execvp", lambda program, command: become.append(command))
    monkeypatch.setattr(commands, "output", lambda command, **how: "")
    cgroups.enter_scope(user, argv)
    monkeypatch.delenv("NDBLAB_SCOPE")
    cgroups.enter_scope(root, argv)
    assert become == []
    cgroups.enter_scope(user, argv)
    cgroups.enter_scope(user, argv)
    assert become == [[*cgroups.SCOPE, *argv]]
    assert "Delegate=yes" in cgroups.SCOPE


def test_where_systemd_gives_no_scope_the_lab_goes_on_without(monkeypatch):
    """The plan then says that CPUs cannot be limited."""
    monkeypatch.setenv("NDBLAB_SCOPE", "")
    monkeypatch.delenv("NDBLAB_SCOPE")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr(os, "execvp", lambda program, command: pytest.fail("it was replaced"))
    monkeypatch.setattr(cgroups, "SCOPE", ("false",))
    cgroups.enter_scope(host.CpuController("systemd", "", "a user"), ["invoke"])
    # Nothing named the folder of the manager, as under su.
    assert os.environ["XDG_RUNTIME_DIR"] == f"/run/user/{os.getuid()}"


def test_a_delegated_group_is_emptied_before_it_is_divided(tmp_path: Path):
    """A group of version 2 may limit its children only if it holds no process itself."""
    for name, text in (("cgroup.type", "domain"), ("cgroup.procs", "12\n34\n")):
        (tmp_path / name).write_text(text)
    controller = host.CpuController("cgroup2", str(tmp_path), "delegated to us")
    groups = cgroups.groups(controller, "ndblab-x")
    groups.claim()
    assert (tmp_path / "lab/cgroup.procs").read_text() == "34"
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu"
    assert groups.base == tmp_path / "ndblab-x"


def test_a_host_without_control_groups_cannot_be_scaled():
    """The host's own reason is in the message."""
    none = host.CpuController("none", "", "no control group here")
    with pytest.raises(LabError) as caught:
        cgroups.groups(none, "lab")
    assert "no control group here" in str(caught.value)


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
        cgroups.Groups("cgroup2", tmp_path / "lab").claim()
    assert f"controllers of {tmp_path}: memory pids" in str(caught.value)
    assert "Delegate=cpu memory pids" in str(caught.value)


def test_a_group_with_processes_that_cannot_be_moved_names_them(tmp_path, refuse):
    """Version 2 divides only a group without processes of its own."""
    (tmp_path / "cgroup.procs").write_text("1\n77\n")
    refuse("cgroup.subtree_control", errno.EBUSY)
    with pytest.raises(LabError) as caught:
        cgroups.Groups("cgroup2", tmp_path / "lab").claim()
    assert "cannot be moved: 1, 77" in str(caught.value)
    assert "systemd-run --user --scope" in str(caught.value)


def test_a_quota_that_an_outer_group_does_not_allow_names_that_group(tmp_path, refuse):
    """Version 1 refuses a group more than the group around it has."""
    (tmp_path / "cpu.cfs_quota_us").write_text("50000\n")
    (tmp_path / "cpu.cfs_period_us").write_text("100000\n")
    refuse("cpu.cfs_quota_us", errno.EINVAL)
    with pytest.raises(LabError, match="refused control group sql") as caught:
        cgroups.Groups("cgroup1", tmp_path / "lab").create("sql", 1.5)
    assert f"{tmp_path} allows 0.5 CPUs in all" in str(caught.value)
    assert "1.5 CPUs in" in str(caught.value)
    assert "--budget shared" in str(caught.value)


def test_a_group_that_has_vanished_is_said_so(tmp_path):
    """Not that a right is lacking."""
    groups = cgroups.Groups("cgroup2", tmp_path / "lab")
    with pytest.raises(LabError, match="refused to move process 12") as caught:
        groups.place("sql/mysqld.1", 12)
    assert f"no {tmp_path}/lab/sql/mysqld.1" in str(caught.value)
    assert "root" not in str(caught.value).partition("next:")[2]


def test_a_process_that_has_ended_cannot_be_placed(tmp_path, refuse):
    """Its log says why, which no right and no other budget would mend."""
    groups = cgroups.Groups("cgroup1", tmp_path / "lab")
    groups.create("sql", None)
    refuse("cgroup.procs", errno.ESRCH)
    with pytest.raises(LabError) as caught:
        groups.place("sql", 12)
    assert "no such process" in str(caught.value)


def test_a_process_that_was_moved_out_of_its_group_is_noticed(tmp_path):
    """It would run without its limit; a group that is gone is named as such."""
    groups = cgroups.Groups("cgroup1", tmp_path / "lab")
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
