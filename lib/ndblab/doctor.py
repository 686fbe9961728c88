"""What this host has and lacks for the lab, and what to do about each.

In: the host. Out: one `Finding` per thing the lab needs. It changes nothing.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ndblab import cluster, experiments, host, install, process, profile
from ndblab.error import LabError


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
        next(p for p in (cluster.home(), *cluster.home().parents) if p.exists())
    )
    yield Finding("ok", "disk", f"{free.free / 2**30:.0f} GiB free at {cluster.home()}")


def _plan(machine: host.Host) -> Iterator[Finding]:
    size = profile.get("quick")
    try:
        _, decided = experiments.plan_for(experiments.find(figure=6), size, "auto")
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
        yield Finding(
            "lack", "numactl", "not on PATH", "Install it: sudo apt-get install -y numactl"
        )
    left = process.marked(cluster.home())
    if left:
        yield Finding(
            "note", "cluster", f"{len(left)} processes run", "Stop them: ./lab cluster.stop"
        )
    limits = Path("/proc/sys/kernel/shmmni")
    segments = int(limits.read_text()) if limits.exists() else 0
    if segments and segments < 2 * max(size.servers):
        yield Finding(
            "lack", "shared memory", f"kernel.shmmni is {segments}", "Raise it with sysctl."
        )


def _software() -> Iterator[Finding]:
    try:
        binaries = install.find()
    except LabError as error:
        yield Finding("lack", "NDB Cluster", f"{error.what}: {error.found}", error.next_step or "")
        return
    if binaries:
        where = f"{binaries.ndb_version} from {binaries.origin} ({binaries.basedir})"
        yield Finding("ok", "NDB Cluster", where)
        yield Finding("ok", "sysbench", f"{binaries.sysbench_version} ({binaries.sysbench})")
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
