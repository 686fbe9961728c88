"""What this host has and lacks for the lab, and what to do about it."""

from __future__ import annotations

import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ndblab import install
from ndblab.cluster import start_stop
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.formatting import duration
from ndblab.hosts import connected
from ndblab.install import requirements
from ndblab.install.requirements import Tool
from ndblab.machine import host, own_cgroup, user
from ndblab.machine.local import LOCAL
from ndblab.measuring import feasible, measurement
from ndblab.planning.deployment import Plan

CPUS = 2
"""The fewest CPUs on which a cluster and its load can be measured at all."""

OPEN_FILES = 16384
"""Each client is a socket of the load generator and one of a server; a full sweep has thousands."""
TASKS = 16384
"""Each client is also a thread of the load generator and one of a server."""
_CONTROLLERS = {
    "cgroup1": "cgroup v1, writable",
    "cgroup2": "cgroup v2, writable",
    "systemd": "a scope of the systemd user manager",
}
"""Ways to limit CPU bandwidth, by `CpuController.kind`."""
_ROOT = 'Type the line under "only root can give", below.'


@dataclass(frozen=True)
class Finding:
    """The state of one thing, what was found, and what to do about it.

    `state` is "ok", "note" (works, with a limitation) or "missing" (the lab cannot run).
    """

    state: str
    thing: str
    found: str
    next_step: str = ""


def examine(tools: Iterable[Tool] = ()) -> list[Finding]:
    """Examine everything that the lab needs, and the extra tools of some experiments."""
    this_host = host.read()
    plan = _planned(this_host)
    return [
        *_host(this_host),
        *_plan(this_host, plan),
        _usable("NDB Cluster", _ndb),
        _usable("sysbench", _sysbench),
        *map(_tool, tools),
        _namespaces(),
        *_root(this_host, plan, tools),
    ]


def _host(this_host: host.Host) -> Iterator[Finding]:
    yield Finding("ok", "host", this_host.describe())
    yield Finding("ok", "distribution", this_host.distribution)
    yield Finding("ok", "python", sys.version.split()[0])
    if this_host.cpu_limit:
        yield Finding("note", "CPU limit", f"this process may use {this_host.cpu_limit:g} CPUs")
    if this_host.usable_cpus < CPUS:
        usable = f"{this_host.usable_cpus:g} usable; the lab needs {CPUS}"
        remedy = "Use a larger machine, or raise the limit of the container or the affinity."
        yield Finding("note", "CPUs", usable, remedy)
    thing, controller = "CPU bandwidth control", this_host.cpu_controller
    how = _CONTROLLERS.get(controller.kind)
    if how and not (controller.kind == "systemd" and own_cgroup.in_scope()):
        yield Finding("ok", thing, how)
    else:
        remedy = own_cgroup.remedy(controller.kind) if controller.kind == "none" else ""
        yield Finding("note", thing, controller.reason, remedy)
    if own_cgroup.ends_at_log_out(Path("/"), user.name()):
        linger = requirements.as_root(f"loginctl enable-linger {user.name()}")
        ending = "systemd ends the lab, and a cluster, soon after your last session ends"
        yield Finding("note", "log-out", ending, f"To let them go on: {linger}")
    home = start_stop.home()
    nearest = next(p for p in (home, *home.parents) if p.exists())
    if os.access(nearest, os.W_OK):
        free_bytes = shutil.disk_usage(nearest).free
        yield Finding("ok", "disk", f"{free_bytes / 2**30:.0f} GiB free at {home}")
    else:
        yield Finding("missing", "disk", f"{home} cannot be written", user.NEXT_STEP)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= OPEN_FILES:
        limit = "unlimited" if hard == resource.RLIM_INFINITY else f"up to {hard}"
        yield Finding("ok", "open files", limit)
    else:
        yield Finding(
            "note",
            "open files",
            f"hard limit {hard}; large sweeps need {OPEN_FILES}",
            "To use thousands of clients, raise `nofile` in /etc/security/limits.conf and log in "
            "again.",
        )

    if (tasks := this_host.tasks_left) is None or tasks >= TASKS:
        yield Finding("ok", "processes and threads", "unlimited" if tasks is None else f"{tasks}")
    else:
        yield Finding(
            "note",
            "processes and threads",
            f"{tasks} more may be started; large sweeps need {TASKS}",
            "To use thousands of clients, raise --pids-limit of the container, TasksMax of systemd "
            "or `nproc` in /etc/security/limits.conf.",
        )
    if running := LOCAL.marked(start_stop.home()):
        processes = f"running, {len(running)} of its processes"
        yield Finding("note", "cluster", processes, "Stop it: ./lab cluster.stop")


def _planned(this_host: host.Host) -> Plan | LabError:
    """Plan a quick sweep of Figure 6, or return why this host cannot do it."""
    experiment = catalogue.find(figure=6)
    try:
        _, plan = measurement.plan_for(experiment, experiment.size("quick"), "auto")
        feasible.check_size(this_host, plan)
    except LabError as error:
        return error
    return plan


def _plan(this_host: host.Host, plan: Plan | LabError) -> Iterator[Finding]:
    if isinstance(plan, LabError):
        refusal = f"{plan.what}: {plan.found}"
        yield Finding("missing", "plan (quick)", refusal, plan.next_step or "")
        return
    memory = f"{plan.memory_bytes / 2**30:.1f} GiB of memory"
    yield Finding("ok", "plan (quick)", f"{plan.budget.kind} ({plan.budget.reason}), {memory}")
    if not plan.memory.lock_pages:
        limit_mib = (this_host.memlock_bytes or 0) / 2**20
        yield Finding(
            "note",
            "locked memory",
            f"limit {limit_mib:.3g} MiB, so LockPagesInMainMemory stays off",
            "Raise it with `ulimit -l unlimited` if the host may swap.",
        )


def _root(this_host: host.Host, plan: Plan | LabError, tools: Iterable[Tool]) -> Iterator[Finding]:
    plans = () if isinstance(plan, LabError) else (plan,)
    lacks = feasible.lacks(this_host, *plans, tools=tools)
    if lacks:
        state = "missing" if any(lack.needed for lack in lacks) else "note"
        listing = "".join(f"\n        - {lack}" for lack in lacks)
        yield Finding(state, "only root can give", listing, requirements.next_step(lacks))


def _tool(tool: Tool) -> Finding:
    """Report a tool; a missing one is a note, as all else runs without it."""
    try:
        if version := tool.find():
            return Finding("ok", tool.name, version)
        why = tool.lacks()
    except LabError as error:
        return Finding("note", tool.name, f"{error.what}: {error.found}", error.next_step or "")
    state = "not installed" if why else "not built yet"
    remedy = why or "`./lab install --tools` builds it."
    return Finding("note", tool.name, f"{state}, which only {tool.use} needs", remedy)


def _namespaces() -> Finding:
    """Report whether network namespaces can serve as hosts, as the user's own hosts can."""
    thing = "network namespaces"
    if why := connected.lacks():
        need = "network-cost needs them, or hosts of your own (--hosts)"
        return Finding("note", thing, f"none, {need}", why)
    return Finding("ok", thing, "usable as hosts (--hosts namespaces)")


def _usable(thing: str, examined: Callable[[], Finding]) -> Finding:
    """Report a program; one that is here and cannot be used is missing."""
    try:
        return examined()
    except LabError as error:
        return Finding("missing", thing, f"{error.what}: {error.found}", error.next_step or "")


def _ndb() -> Finding:
    thing = "NDB Cluster"
    if ndb := install.find_ndb():
        return Finding("ok", thing, f"{ndb.ndb_version} from {ndb.origin} ({ndb.basedir})")
    release = install.release_for()
    lacks = requirements.of_tarball(release.file) if release else []
    if lacks:
        names = ", ".join(lack.what for lack in lacks)
        lacking = f"not installed, and {release} needs what is not here: {names}"
        return Finding("missing", thing, lacking, _ROOT)
    source = f"{release}, the vendor's tarball" if release else "it from Debian's packages"
    remedy = (
        f"The first `./lab reproduce` installs {source}, once, before it measures: about "
        f"{duration(install.usual_s())} more. So does `./lab install`."
    )
    return Finding("note", thing, "not installed yet", remedy)


def _sysbench() -> Finding:
    if sysbench := install.find_sysbench():
        return Finding("ok", "sysbench", f"{sysbench.version} ({sysbench.program})")
    if install.has_debian():
        remedy = "It is installed with NDB Cluster."
        return Finding("note", "sysbench", "not installed yet", remedy)
    reason = "not on PATH, and without a Debian archive the lab cannot fetch it"
    return Finding("missing", "sysbench", reason, _ROOT)
