"""The doctor: what a host has and lacks, with what to do about it."""

from __future__ import annotations

import dataclasses
import re
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from ndblab import install
from ndblab.error import LabError
from ndblab.hosts import connected
from ndblab.install import requirements
from ndblab.install.requirements import Tool
from ndblab.machine import host
from ndblab.publishing import doctor

THE_LINE = 'Type the line under "only root can give", below.'
CAPTURED = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The captured machine in place of this one, with nothing installed; `here` changes it."""
    captured = host.read(CAPTURED)

    def change(**facts: object) -> None:
        monkeypatch.setattr(host, "read", lambda root="/": dataclasses.replace(captured, **facts))

    change()
    monkeypatch.setattr(install, "find_ndb", lambda: None)
    monkeypatch.setattr(install, "find_sysbench", lambda: None)
    monkeypatch.setattr(install, "has_debian", lambda: True)
    monkeypatch.setattr(requirements, "missing_packages", lambda: ["g++", "bison"])
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return change


def finding(thing: str, *tools: Tool) -> doctor.Finding:
    return next(one for one in doctor.examine(tools) if one.thing == thing)


def test_what_is_missing_comes_with_the_command_to_run(here):
    """Build packages that are not there are named in a command that can be pasted."""
    packages = finding("only root can give")
    assert packages.state == "missing"
    assert "- build packages: to build NDB's data node" in packages.found
    assert "sudo apt-get install" in packages.next_step
    assert "g++ bison" in packages.next_step


def test_a_low_limit_of_locked_memory_is_only_a_note(here):
    """The cluster runs without locked memory; the doctor says what that means."""
    assert finding("locked memory").state == "note"


def test_a_host_too_small_for_a_quick_sweep_is_reported_with_its_size(here):
    """Before anything is installed."""
    here(memory_available_bytes=2**30)
    plan = finding("plan (quick)")
    assert plan.state == "missing"
    assert "1.0 GiB" in plan.found


@pytest.mark.parametrize(("limit", "usable"), [(0.5, "0.5 usable"), (1.0, "1 usable")])
def test_too_few_cpus_are_a_note(here, limit: float, usable: str):
    """Of the machine, or of a container."""
    assert not any(one.thing == "CPUs" for one in doctor.examine())
    here(cpu_limit=limit)
    assert finding("CPUs").found == f"{usable}; the lab needs 2"


def test_an_installation_that_cannot_be_used_counts_as_missing(here, monkeypatch):
    """Mixed versions, say: the reason is the installer's own."""

    def broken():
        raise LabError("The versions differ", found="8.0 and 9.7", next_step="Use one.")

    monkeypatch.setattr(install, "find_ndb", broken)
    assert finding("NDB Cluster") == doctor.Finding(
        "missing", "NDB Cluster", "The versions differ: 8.0 and 9.7", "Use one."
    )


def test_a_missing_sysbench_does_not_hide_the_cluster(here, monkeypatch):
    """Each of the two is looked up by itself."""
    home = Path("/opt/ndb")
    programs = dict.fromkeys(("mysqld", "ndbmtd", "ndb_mgmd", "ndb_mgm"), home / "bin/x")
    ndb = install.Ndb(
        **programs, ndb_version="9.7.4", mysqld_version="9.7.4", origin="NDB_HOME", basedir=home
    )
    monkeypatch.setattr(install, "find_ndb", lambda: ndb)
    assert finding("NDB Cluster") == doctor.Finding(
        "ok", "NDB Cluster", "9.7.4 from NDB_HOME (/opt/ndb)"
    )
    assert finding("sysbench").state == "note"
    assert not any("build packages" in one.found for one in doctor.examine())


def test_an_unfit_sysbench_counts_as_missing_by_itself(here, monkeypatch):
    """A sysbench that is too old is reported in addition to the cluster's state."""

    def too_old():
        raise LabError("sysbench is too old", found="0.4.12", next_step="Install another.")

    monkeypatch.setattr(install, "find_sysbench", too_old)
    assert finding("sysbench").state == "missing"
    assert finding("NDB Cluster").state == "note"


@pytest.fixture
def fedora(here, monkeypatch, tmp_path) -> Path:
    """A machine without a Debian archive, of the brief's architecture, that lacks nothing else."""
    os_release = tmp_path / "os-release"
    os_release.write_text('NAME="Fedora Linux"\nID=fedora\nVERSION_ID=41\n')
    monkeypatch.setattr(install, "has_debian", lambda: False)
    monkeypatch.setattr(requirements, "_OS_RELEASE", os_release)
    monkeypatch.setattr(requirements, "of_tarball", lambda tarball: [])
    monkeypatch.setattr(install.releases, "here", lambda: ("x86_64", "2.40"))
    monkeypatch.setattr(connected, "lacks", lambda: "")
    return os_release


def test_without_debians_packages_the_doctor_names_the_vendors_release(fedora):
    """And the one line for sysbench; on Fedora, no message mentions apt-get."""
    newest = install.releases.fitting(install.releases.known(), "newest", "x86_64", "2.40")
    assert finding("NDB Cluster").state == "note"
    assert f"NDB Cluster {newest.version}, the vendor's tarball" in finding("NDB Cluster").next_step
    sysbench = finding("sysbench")
    assert (sysbench.state, sysbench.next_step) == ("missing", THE_LINE)
    assert not any("apt-get" in one.next_step for one in doctor.examine())
    assert "Type once: sudo dnf install -y sysbench" in finding("only root can give").next_step


def test_what_the_vendors_release_needs_is_said_before_anything_is_downloaded(fedora, monkeypatch):
    """One line installs all of it."""
    lacking = [requirements.lack("gpgv"), requirements.lack("libaio.so.1")]
    monkeypatch.setattr(requirements, "of_tarball", lambda tarball: lacking)
    ndb = finding("NDB Cluster")
    assert ndb.state == "missing"
    assert "gpgv, libaio.so.1" in ndb.found
    assert ndb.next_step == THE_LINE
    root = finding("only root can give")
    assert "- gpgv: to check the vendor's signature" in root.found
    assert "Type once: sudo dnf install -y sysbench gnupg2 libaio" in root.next_step
    lines = [f for f in doctor.examine() if "dnf install" in f.next_step]
    assert lines == [root]


def test_where_no_release_runs_the_other_ways_are_named(fedora, monkeypatch):
    """An own installation, or a tarball from elsewhere."""
    monkeypatch.setattr(install.releases, "here", lambda: ("riscv64", "2.40"))
    ndb = finding("NDB Cluster")
    assert ndb.state == "missing"
    assert "NDB_HOME" in ndb.next_step
    assert "--tarball" in ndb.next_step
    assert finding("sysbench").state == "missing"
    assert "sudo dnf install -y sysbench" in finding("only root can give").next_step


@pytest.mark.parametrize(
    ("hard", "state"), [(4096, "note"), (16384, "ok"), (resource.RLIM_INFINITY, "ok")]
)
def test_few_open_files_are_a_note(here, monkeypatch, hard, state):
    """Small sweeps run with few open files; those with thousands of clients do not."""
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1024, hard))
    assert finding("open files").state == state


@pytest.mark.parametrize(
    ("left", "plan", "state"),
    [(200, "missing", "note"), (2048, "ok", "note"), (None, "ok", "ok")],
)
def test_a_limit_of_processes_and_threads_is_seen(here, left, plan, state):
    """A quick sweep has less than Podman's default limit, and more than 200."""
    here(tasks_left=left)
    assert finding("plan (quick)").state == plan
    assert finding("processes and threads").state == state


def test_the_first_measurement_is_announced_with_what_it_installs_and_how_long(here):
    """A newcomer knows it before the first `reproduce`."""
    announced = finding("NDB Cluster").next_step
    assert "The first `./lab reproduce` installs it from Debian's packages, once" in announced
    assert re.search(r"about \d+ (s|min) more", announced)


def test_a_tool_of_an_experiment_is_at_most_a_note_that_says_who_needs_it(here):
    """Missing, to be built, there, or broken: nothing else depends on it."""

    def broken() -> str:
        raise LabError("x does not run", found="no library", next_step="Install another.")

    go = requirements.Lack("Go", "to build x", packages=("golang",))
    missing = Tool("x", "TPC-X", str, lambda: "no Go to build it", takes=lambda: [go])
    assert finding("x", missing) == doctor.Finding(
        "note", "x", "not installed, which only TPC-X needs", "no Go to build it"
    )
    assert "- Go: to build x" in finding("only root can give", missing).found
    absent = finding("x", Tool("x", "TPC-X", str, str))
    assert absent.next_step.startswith("`./lab install --tools`")
    there = Tool("x", "TPC-X", lambda: "v1 (/bin/x)", str)
    assert finding("x", there) == doctor.Finding("ok", "x", "v1 (/bin/x)")
    assert finding("x", Tool("x", "TPC-X", broken, str)) == doctor.Finding(
        "note", "x", "x does not run: no library", "Install another."
    )


def test_a_user_manager_that_may_not_divide_cpus_is_a_note_with_the_line(here):
    """Quotas are impossible, so CPUs are shared; what lets systemd delegate cpu is in the list."""
    reason = "systemd delegates memory to this user"
    here(cpu_controller=host.CpuController("undelegated", "", reason))
    assert finding("CPU bandwidth control").state == "note"
    assert finding("plan (quick)").found.startswith("shared (")
    root = finding("only root can give")
    assert "- the cpu controller (systemd delegates memory to this user)" in root.found
    assert root.next_step.count("apt-get") == 1
    assert "&& sudo mkdir -p /etc/systemd/system/user@.service.d" in root.next_step
    assert root.next_step.startswith("Type once, then log in again: sudo apt-get install -y")


def test_a_scope_that_systemd_refused_is_a_note(here, monkeypatch):
    """Inside its own scope the lab would have found a control group."""
    reason = "only a scope may limit CPUs, and we are in none"
    here(cpu_controller=host.CpuController("systemd", "", reason))
    monkeypatch.delenv("NDBLAB_SCOPE", raising=False)
    assert finding("CPU bandwidth control").state == "ok"
    monkeypatch.setenv("NDBLAB_SCOPE", "1")
    assert finding("CPU bandwidth control").state == "note"


def test_a_user_without_namespaces_is_told_what_they_are_for(here, monkeypatch):
    """An experiment over several hosts can have hosts of the user's own instead."""
    assert finding("network namespaces").state == "note"
    assert "--hosts" in finding("network namespaces").found
    monkeypatch.setattr(connected, "lacks", lambda: "")
    assert finding("network namespaces").state == "ok"
