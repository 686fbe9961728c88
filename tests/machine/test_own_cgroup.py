"""How a host lets us limit CPUs, and what limits us, from captured control groups."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from captured_hosts import folder, unpack
from ndblab.machine import own_cgroup


@pytest.fixture
def ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """User 1000, who may write nothing in the files of a captured host."""
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.delenv("NDBLAB_SCOPE", raising=False)


def scope_of_user(root: Path, scope: str) -> Path:
    """Put this process into a scope of user 1000 to which systemd delegates no cpu."""
    own = f"user.slice/user-1000.slice/user@1000.service/app.slice/{scope}"
    (root / "proc/self/cgroup").write_text(f"0::/{own}\n")
    folder(root, f"sys/fs/cgroup/{own}")
    (root / "sys/fs/cgroup" / own / "cgroup.controllers").write_text("memory pids\n")
    return root


def test_a_container_with_cpus_has_these_and_cannot_divide_them(tmp_path: Path):
    """Its hierarchy is mounted read-only, also for root: docker run --cpus=6."""
    root = unpack("container-cpu-max", tmp_path)
    assert own_cgroup.cpu_limit(root) == 6
    (root / "sys/fs/cgroup/cgroup.controllers").write_text("cpu memory pids\n")
    (root / "sys/fs/cgroup/cgroup.subtree_control").write_text("")
    controller = own_cgroup.cpu_controller(root)
    assert controller.kind == "none"
    assert "no writable cpu control group" in controller.reason


def test_limits_of_a_container_that_knows_only_its_path_on_the_host_are_those_of_the_mount(
    tmp_path: Path,
):
    """In version 1 without a namespace, the path below the mount does not exist."""
    root = folder(unpack("container-cgroup1", tmp_path), "sys/fs/cgroup/cpu")
    (root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us").write_text("150000\n")
    (root / "sys/fs/cgroup/cpu/cpu.cfs_period_us").write_text("100000\n")
    assert own_cgroup.cpu_limit(root) == 1.5
    assert own_cgroup.cpu_controller(root).kind == "none"


def test_the_smallest_limit_above_a_process_counts(tmp_path: Path):
    """A slice with less than the scope in it."""
    root = unpack("vm-cgroup2-cpu-not-delegated", tmp_path)
    slice_ = root / "sys/fs/cgroup/user.slice/user-0.slice"
    (slice_ / "session-1.scope/cpu.max").write_text("max 100000\n")
    assert own_cgroup.cpu_limit(root) is None
    (slice_ / "cpu.max").write_text("250000 100000\n")
    assert own_cgroup.cpu_limit(root) == 2.5


def test_a_user_to_whom_systemd_delegates_cpu_gets_a_scope(tmp_path: Path, ordinary_user):
    """Fedora 40, in a login session, whose own group is root's."""
    root = folder(unpack("fedora-user", tmp_path), "run/user/1000/bus")
    assert own_cgroup.cpu_controller(root).kind == "systemd"


def test_a_user_to_whom_systemd_does_not_delegate_cpu_is_told_the_line_to_type(
    tmp_path: Path, ordinary_user, monkeypatch
):
    """As on Debian 11 and Ubuntu 22.04: memory and pids only."""
    monkeypatch.setattr(os, "getuid", lambda: 0)  # the only user in the capture
    root = folder(unpack("vm-cgroup2-cpu-not-delegated", tmp_path), "run/user/0/bus")
    controller = own_cgroup.cpu_controller(root)
    assert controller.kind == "undelegated"
    assert controller.reason == "systemd delegates memory and pids to this user, not cpu"
    remedy = own_cgroup.remedy(controller.kind)
    assert r"printf '[Service]\nDelegate=cpu memory pids\n' | sudo tee /etc/systemd" in remedy
    assert "sudo systemctl daemon-reload" in remedy
    assert "log in again" in remedy


def test_a_terminal_without_the_cpu_controller_does_not_matter(tmp_path: Path, ordinary_user):
    """Systemd enables controllers for the groups that ask: a scope of the lab gets cpu."""
    root = folder(unpack("fedora-user", tmp_path), "run/user/1000/bus")
    assert own_cgroup.cpu_controller(scope_of_user(root, "app-terminal.scope")).kind == "systemd"


def test_a_scope_without_the_cpu_controller_is_named(tmp_path: Path, ordinary_user, monkeypatch):
    """It is in the lab's scope already, and still cannot limit CPUs."""
    monkeypatch.setenv("NDBLAB_SCOPE", "1")
    root = folder(unpack("fedora-user", tmp_path), "run/user/1000/bus")
    controller = own_cgroup.cpu_controller(scope_of_user(root, "run-r1.scope"))
    assert controller.kind == "undelegated"
    assert "to this scope, not cpu" in controller.reason


def test_a_scope_of_a_user_who_does_not_linger_ends_at_log_out(tmp_path: Path, ordinary_user):
    """A login session goes on with its processes; what the user's systemd has started does not."""
    root = unpack("fedora-user", tmp_path)
    assert not own_cgroup.ends_at_log_out(root, "tester")
    assert own_cgroup.ends_at_log_out(scope_of_user(root, "run-r1.scope"), "tester")
    (folder(root, "var/lib/systemd/linger") / "var/lib/systemd/linger/tester").touch()
    assert not own_cgroup.ends_at_log_out(root, "tester")


def test_the_root_group_of_version_2_is_divided_by_root_without_systemd(tmp_path: Path):
    """It has the cpu controller, even if systemd hands it down to nobody."""
    controller = own_cgroup.cpu_controller(unpack("vm-cgroup2-cpu-not-delegated", tmp_path))
    assert (controller.kind, controller.path) == ("cgroup2", "/sys/fs/cgroup")


def test_on_a_hybrid_host_root_uses_version_1(tmp_path: Path):
    """Version 2 is mounted beside it, without a controller."""
    root = folder(
        unpack("lakefield-cgroup-hybrid", tmp_path),
        "sys/fs/cgroup/cpu,cpuacct/user.slice/user-0.slice/session-199.scope",
    )
    controller = own_cgroup.cpu_controller(root)
    assert controller.kind == "cgroup1"
    assert controller.path.endswith("cpu,cpuacct/user.slice/user-0.slice/session-199.scope")


def test_on_a_hybrid_host_no_scope_of_systemd_helps_a_user(tmp_path: Path, ordinary_user):
    """It delegates version 2 only, and cpu is in version 1."""
    root = folder(unpack("lakefield-cgroup-hybrid", tmp_path), "run/user/1000/bus")
    controller = own_cgroup.cpu_controller(root)
    assert controller.kind == "none"
    assert "cgroup version 1" in controller.reason
