"""What only root can give: one list and one line, before anything starts."""

from __future__ import annotations

import dataclasses
import resource
import shutil
from pathlib import Path

import pytest

from captured_hosts import unpack
from ndblab import install
from ndblab.error import LabError
from ndblab.experiments.tpc_c import go_tpc
from ndblab.install import requirements
from ndblab.machine import host, own_cgroup
from ndblab.measuring import feasible
from ndblab.planning import deployment

TOOLS = [go_tpc.TOOL]
UNDELEGATED = host.CpuController("undelegated", "", "systemd delegates memory to this user")
DELEGATED = host.CpuController("systemd", "", "a scope may limit CPUs")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary user of Debian, with nothing installed and nothing on PATH."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(requirements, "package_manager", lambda: requirements.DEBIAN)
    monkeypatch.setattr(go_tpc, "place", lambda: None)
    monkeypatch.setattr(install, "find_ndb", lambda: None)
    monkeypatch.setattr(install, "find_sysbench", lambda: None)
    monkeypatch.setattr(install, "has_debian", lambda: True)
    monkeypatch.setattr(requirements, "missing_packages", lambda: ["g++", "bison"])


@pytest.fixture
def arm(tmp_path: Path) -> host.Host:
    """A large host, which gets a pinned plan."""
    machine = host.read(unpack("arm-128cpu", tmp_path))
    return dataclasses.replace(machine, cpu_controller=UNDELEGATED)


def plan(machine: host.Host, clients: int = 64) -> deployment.Plan:
    return deployment.make(machine, deployment.Shape(servers=2, rows=1000, max_clients=clients))


def test_everything_is_one_list_and_one_line(arm):
    """Packages at once, then what systemd takes."""
    lacks = feasible.lacks(arm, plan(arm), tools=TOOLS)
    assert [lack.what.partition(" (")[0] for lack in lacks] == [
        "build packages", "numactl", "the cpu controller", "Go", "Chromium",
    ]  # fmt: skip
    assert requirements.next_step(lacks) == (
        "Type once, then log in again: sudo apt-get install -y --no-install-recommends "
        f"g++ bison numactl golang-go chromium && {own_cgroup.DELEGATE}"
    )
    assert "\n" not in requirements.next_step(lacks)


def test_what_a_plan_cannot_do_without_stops_it_with_the_whole_list(arm):
    """Not only with what is missing first, and also what an installation takes: the user types
    once. So `cluster.start` and `reproduce` stop before they download."""
    with pytest.raises(LabError, match="only root can give") as caught:
        feasible.check(arm, plan(arm))
    assert "numactl: to bind CPUs and memory" in caught.value.found
    assert "build packages: to build NDB's data node" in caught.value.found
    assert "g++ bison numactl chromium" in caught.value.next_step


def test_an_installation_is_stopped_before_it_downloads(arm):
    """By the packages that build the data node; the rest of the list comes with them."""
    with pytest.raises(LabError) as caught:
        feasible.require(arm, installing=True)
    assert "g++ bison" in caught.value.next_step
    feasible.require(arm)


def test_engines_need_what_their_releases_take(fedora, monkeypatch):
    """Before the first is downloaded; an installation that is in a folder takes none of it."""
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "mysqld" else name)
    monkeypatch.setattr(install, "find_sysbench", lambda: "sysbench")
    monkeypatch.setattr(feasible, "check_size", lambda machine, plan: None)
    with pytest.raises(LabError, match="only root can give") as caught:
        feasible.check(fedora, plan(fedora), engines="/opt/rondb,8.0.26")
    assert "sudo dnf install -y libaio numactl-libs" in caught.value.next_step
    feasible.check(fedora, plan(fedora), engines="/opt/rondb,/opt/ndb")


def test_the_plans_of_several_variants_are_one_list(arm, monkeypatch):
    """Each thing once, whatever plan lacks it."""
    lacks = feasible.lacks(arm, plan(arm), plan(arm, clients=8))
    assert [lack.what for lack in lacks].count("numactl") == 1


def test_nothing_that_has_a_substitute_stops_anything(arm, monkeypatch):
    """Go, Chromium and quotas are in the doctor's list, and everything else runs."""
    monkeypatch.setattr(requirements, "missing_packages", lambda: [])
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    feasible.require(arm, plan(arm), installing=True)
    assert [lack.needed for lack in feasible.lacks(arm, plan(arm))] == [False]


def test_root_is_not_asked_for_packages_that_the_lab_installs_itself(arm, monkeypatch):
    """And types no sudo for the others."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    feasible.require(arm, installing=True)
    with pytest.raises(LabError) as caught:
        feasible.require(arm, plan(arm))
    assert ": apt-get install -y --no-install-recommends numactl" in str(caught.value)


@pytest.fixture
def fedora(arm, monkeypatch, tmp_path) -> host.Host:
    """A host without a Debian archive, where nothing of a release's needs is installed."""
    fedora = requirements.PackageManager("dnf", "fedora", "41")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(install, "has_debian", lambda: False)
    monkeypatch.setattr(requirements, "package_manager", lambda: fedora)
    monkeypatch.setattr(requirements, "_can_load", lambda library: False)
    monkeypatch.setattr(install.releases, "here", lambda: ("x86_64", "2.40"))
    return arm


def test_a_host_of_another_distribution_lacks_what_the_vendors_release_needs(fedora, monkeypatch):
    """Sysbench, libraries and what checks its signature, with the names of the packages there."""
    lacks = feasible.lacks(fedora, tools=TOOLS)
    assert requirements.next_step(lacks).startswith(
        "Type once, then log in again: "
        "sudo dnf install -y sysbench gnupg2 xz libaio numactl-libs golang chromium && "
    )
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    lacks = feasible.lacks(dataclasses.replace(fedora, cpu_controller=DELEGATED))
    assert requirements.next_step(lacks) == (
        "Type once: sudo dnf install -y sysbench libaio numactl-libs"
    )


def test_a_release_on_debian_needs_its_libraries_and_no_compiler(arm, fedora, monkeypatch):
    """It is asked for, so the build packages are not; sysbench is Debian's."""
    monkeypatch.setattr(install, "has_debian", lambda: True)
    with pytest.raises(LabError, match="only root can give") as caught:
        feasible.require(arm, installing=True, release="8.0.26")
    assert "dnf install -y gnupg2 libaio numactl-libs chromium" in caught.value.next_step
    with pytest.raises(LabError, match="knows no release"):
        feasible.require(arm, installing=True, release="8.0.99")


def test_a_tarball_needs_nothing_of_a_release_but_sysbench(fedora, monkeypatch):
    """What it loads is not known before it is unpacked."""
    with pytest.raises(LabError) as caught:
        feasible.require(fedora, installing=True, tarball="ndb.tar.gz")
    assert "sudo dnf install -y sysbench chromium" in caught.value.next_step
    monkeypatch.setattr(install, "has_debian", lambda: True)
    feasible.require(fedora, installing=True, tarball="ndb.tar.gz")


def test_where_no_release_runs_an_installation_says_so_first(fedora, monkeypatch):
    """Before it asks for anything else, which would be in vain."""
    monkeypatch.setattr(install.releases, "here", lambda: ("riscv64", "2.40"))
    with pytest.raises(LabError, match="other processors"):
        feasible.require(fedora, installing=True)
    assert "sysbench" in [lack.what for lack in feasible.lacks(fedora)]


def test_too_few_open_files_for_a_plan_come_with_a_command_for_this_shell(arm, monkeypatch):
    """A limit that no login is needed for."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1024, 4096))
    feasible.require(arm, plan(arm, clients=1024))
    with pytest.raises(LabError, match="only root can give") as caught:
        feasible.require(arm, plan(arm, clients=4096))
    assert "sudo prlimit --pid $$ --nofile=9216:9216" in caught.value.next_step
