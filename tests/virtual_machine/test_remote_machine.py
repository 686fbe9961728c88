"""A machine of another kind, reached by SSH as an ordinary user whose CPUs systemd divides."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from ndblab.hosts import remote
from virtual_machine.image import USER
from virtual_machine.machine import VirtualMachine

SILENCE_S = 120
"""Emulated, it is slow in everything."""

pytestmark = pytest.mark.virtual_machine


@pytest.fixture
def named(machine: VirtualMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name by which `ssh` knows the machine."""
    (tmp_path / "config").write_text(
        f"Host numa\n HostName 127.0.0.1\n Port {machine.port}\n User {USER}\n"
        f" IdentityFile {machine.key}\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n"
    )
    (tmp_path / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {tmp_path}/config "$@"\n')
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return "numa"


def test_an_ordinary_user_of_another_machine_limits_cpus_there(named: str):
    """The agent starts in a scope of systemd's, and describes that machine, not this one."""
    with remote.connect(named, Path("remote"), SILENCE_S) as there:
        found = there.host()
        assert len(found.numa_nodes) == 2
        assert len(there.usable_cpus()) == len(found.cpus) == 4
        assert found.kernel != platform.release()
        assert found.cpu_controller.kind == "cgroup2", found.cpu_controller.reason
        groups = there.groups("ndblab-remote")
        groups.claim()
        groups.create("sql/mysqld.1", 0.5)
        child = there.spawn(["sleep", "600"])
        groups.place("sql/mysqld.1", child.pid)
        groups.check("sql/mysqld.1", child.pid)
        limit = there.get(groups.base / "sql/mysqld.1/cpu.max").split()
        assert int(limit[0]) / int(limit[1]) == 0.5
        assert abs(there.clock_offset_ms()) < 60_000
        home = there.folder.parent
    with remote.connect(named, Path("other"), SILENCE_S) as there:
        assert there.run(["ls", "-A", str(home)], what="no").split().count("remote") == 0
        assert there.get(groups.base / "cgroup.procs") == ""
