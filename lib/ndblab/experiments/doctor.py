"""What this host has and lacks for the lab, and what to do about each.

In: the host. Out: one `Finding` per thing the lab needs. It changes nothing.
"""

from __future__ import annotations

import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ndblab import install
from ndblab.cluster import lifecycle
from ndblab.error import LabError
from ndblab.experiments import catalogue, measurement
from ndblab.machine import host, process

T = TypeVar("T")

# Each client is a socket of the load generator and one of a server; full sweeps have thousands.
_OPEN_FILES = 16384


@dataclass(frozen=True)
class Finding:
    """One thing: is it there, what was found, and what to do if not.

    `state` is "ok", "note" (works, but know this) or "lack" (the lab cannot run like this).
    """

    state: str
    thing: str
    found: str
    next_step: str = ""


def examine() -> list[Finding]:
    """Look at everything the lab needs."""
    machine = host.read()
    return [*_machine(machine), *_plan(machine), *_software()]


def _machine(machine: host.Host) -> Iterator[Finding]:
    yield Finding("ok", "host", machine.describe())
    yield Finding("ok", "distribution", machine.distribution)
    yield Finding("ok", "python", sys.version.split()[0])
    if machine.cpu_limit:
        yield Finding("note", "cpu limit", f"this process may use {machine.cpu_limit:g} CPUs")
    controller = machine.cpu_controller
    if controller.kind == "none":
        yield Finding(
            "note",
            "cpu bandwidth control",
            controller.reason,
            "Run as root or in a systemd user session for the `scaled` budget.",
        )
    else:
        yield Finding("ok", "cpu bandwidth control", f"{controller.kind}: {controller.reason}")
    free = shutil.disk_usage(
        next(p for p in (lifecycle.home(), *lifecycle.home().parents) if p.exists())
    )
    yield Finding("ok", "disk", f"{free.free / 2**30:.0f} GiB free at {lifecycle.home()}")
    yield _open_files()


def _open_files() -> Finding:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= _OPEN_FILES:
        limit = "unlimited" if hard == resource.RLIM_INFINITY else f"up to {hard}"
        return Finding("ok", "open files", limit)
    return Finding(
        "note",
        "open files",
        f"a hard limit of {hard}, {_OPEN_FILES} serve every sweep",
        "Raise `nofile` in /etc/security/limits.conf and log in again, for thousands of clients.",
    )


def _plan(machine: host.Host) -> Iterator[Finding]:
    experiment = catalogue.find(figure=6)
    try:
        _, decided = measurement.plan_for(experiment, experiment.size("quick"), "auto")
        measurement.check(machine, decided)
    except LabError as error:
        yield Finding("lack", "plan (quick)", f"{error.what}: {error.found}", error.next_step or "")
        return
    memory = f"{decided.memory_bytes / 2**30:.1f} GiB of memory"
    yield Finding(
        "ok", "plan (quick)", f"{decided.budget.kind} ({decided.budget.reason}), {memory}"
    )
    if not decided.memory.lock_pages:
        yield Finding(
            "note",
            "locked memory",
            f"limit {machine.memlock_bytes} bytes: LockPagesInMainMemory is left off",
            "Raise it with `ulimit -l unlimited` if the host may swap.",
        )
    if decided.budget.kind == "pinned" and not shutil.which("numactl"):
        line = install.install_line(["numactl"]) if install.has_apt() else "your package manager"
        yield Finding("lack", "numactl", "not on PATH", f"Install it with: {line}")
    left = process.marked(lifecycle.home())
    if left:
        yield Finding(
            "note", "cluster", f"{len(left)} processes run", "Stop them: ./lab cluster.stop"
        )
    limits = Path("/proc/sys/kernel/shmmni")
    segments = int(limits.read_text()) if limits.exists() else 0
    if segments and segments < 2 * len(decided.servers):
        yield Finding(
            "lack", "shared memory", f"kernel.shmmni is {segments}", "Raise it with sysctl."
        )


def _software() -> Iterator[Finding]:
    yield from _program("NDB Cluster", install.find_ndb, _describe_ndb, _lacking_ndb)
    yield from _program("sysbench", install.find_sysbench, _describe_sysbench, _lacking_sysbench)


def _program(
    thing: str,
    find: Callable[[], T | None],
    describe: Callable[[T], str],
    lacking: Callable[[], Iterator[Finding]],
) -> Iterator[Finding]:
    try:
        there = find()
    except LabError as error:
        yield Finding("lack", thing, f"{error.what}: {error.found}", error.next_step or "")
        return
    if there is None:
        yield from lacking()
    else:
        yield Finding("ok", thing, describe(there))


def _describe_ndb(ndb: install.Ndb) -> str:
    return f"{ndb.ndb_version} from {ndb.origin} ({ndb.basedir})"


def _describe_sysbench(sysbench: install.Sysbench) -> str:
    return f"{sysbench.version} ({sysbench.program})"


def _lacking_ndb() -> Iterator[Finding]:
    if not install.has_apt():
        yield Finding(
            "lack",
            "NDB Cluster",
            "not installed, and without apt the lab cannot build it",
            "Set NDB_HOME to an installation, or type: ./lab install --tarball PATH",
        )
        return
    yield Finding(
        "note", "NDB Cluster", "not installed yet", "./lab install gets it; reproduce does so too."
    )
    if missing := install.missing_build_packages():
        yield Finding(
            "note",
            "build packages",
            f"{len(missing)} missing",
            f"As root the lab installs them; else type: {install.install_line(missing)}",
        )


def _lacking_sysbench() -> Iterator[Finding]:
    if install.has_apt():
        yield Finding("note", "sysbench", "not installed yet", "./lab install gets it too.")
    else:
        yield Finding(
            "lack",
            "sysbench",
            "not on PATH, and without apt the lab cannot fetch it",
            "Install sysbench 1.0.20 or newer with the package manager of this machine.",
        )
