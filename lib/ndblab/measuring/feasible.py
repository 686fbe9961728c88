"""Whether a host can carry out a plan, and what it lacks that only root can provide."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ndblab import install
from ndblab.error import LabError
from ndblab.formatting import duration
from ndblab.install import requirements
from ndblab.install.requirements import Lack, Tool, as_root
from ndblab.machine import host as this_host
from ndblab.machine import own_cgroup, user
from ndblab.machine.host import Host
from ndblab.machine.local import LOCAL
from ndblab.planning import fitness
from ndblab.planning.deployment import Plan

_SEGMENTS = 4096
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs in which tests open the report."""


def check(machine: Host, *plans: Plan, engines: str | None = None) -> None:
    """Refuse plans that this host cannot carry out, or whose programs it cannot install.

    LabError if it lacks memory or disk space, or something that only root can give it. `engines`
    are those of a `Request`.
    """
    from ndblab.install.engines import sources

    for source in sources(engines) if engines else [{}]:
        require(machine, *plans, installing=True, **source)
    for plan in plans:
        check_size(machine, plan)


def check_size(machine: Host, plan: Plan, free_bytes: float | None = None) -> None:
    """Refuse a plan for which a host has too little memory or disk space, or allows too few tasks.

    `free_bytes` is the free space on the host's disk; None stands for that of this host.
    """
    if free_bytes is None:
        free_bytes = disk_free_bytes(plan)
    plan.check(machine, free_bytes)
    fitness.check_tasks(plan, machine)
    fitness.check_numa_memory(plan, machine)


def disk_free_bytes(plan: Plan) -> int:
    """Return the free space on the disk of a plan's folder, which need not exist yet."""
    folder = Path(plan.places.cluster_dir)
    return shutil.disk_usage(next(p for p in (folder, *folder.parents) if p.exists())).free


def lacks(
    host: Host,
    *plans: Plan,
    tarball: str | None = None,
    release: str | None = None,
    tools: Iterable[Tool] = (),
) -> list[Lack]:
    """List everything that this host lacks for the lab's commands and for these plans.

    Parameters
    ----------
    tarball, release : what is to be installed, as for `install.ensure`.
    tools : what some experiments also need.
    """
    lacking: list[Lack] = []
    # If what is installed cannot be used, the doctor and the installation say so.
    with contextlib.suppress(LabError):
        lacking += install.lacks_sysbench()
    with contextlib.suppress(LabError):
        lacking += install.lacks_ndb(tarball, release)
    lacking += [*_of_plans(plans), *_of_host(host)]
    lacking += [lack for tool in tools for lack in tool.takes()]
    return [*lacking, *_of_tests()]


def require(
    host: Host,
    *plans: Plan,
    installing: bool = False,
    tarball: str | None = None,
    release: str | None = None,
    tools: Iterable[Tool] = (),
) -> None:
    """Refuse to start if this host lacks something that plans or an installation need.

    LabError if something is lacking; the error lists everything, so that one line suffices. Also if
    what is installed cannot be used, or no release fits.

    Parameters
    ----------
    installing : whether NDB Cluster and sysbench are needed; they are installed unless present.
    tarball, release, tools : as for `lacks`.
    """
    first = [*_of_plans(plans), *(install.lacks(tarball, release) if installing else ())]
    if any(lack.needed for lack in first):
        lacking = lacks(host, *plans, tarball=tarball, release=release, tools=tools)
        raise LabError(
            "This host lacks what only root can give it",
            found="\n            ".join(map(str, lacking)),
            next_step=requirements.next_step(lacking),
        )


def programs(only_plan: bool = False, progress: bool = True) -> install.Binaries:
    """Return the installed programs; if there are none, install them.

    LabError if they cannot be installed here, or are missing where something is only planned.
    """
    if install.find() is None:
        if only_plan:
            raise LabError(
                "A dry run asks the installed programs",
                found="no NDB Cluster with sysbench on this machine",
                next_step="Install them first: ./lab install",
            )
        require(this_host.read(), installing=True)
        if progress:
            more = f"about {duration(install.usual_s())} more"
            print(f"one-time install of NDB Cluster and sysbench: {more}", file=sys.stderr)
    return install.ensure(progress=progress)


def _of_plans(plans: Iterable[Plan]) -> list[Lack]:
    return list(dict.fromkeys(lack for plan in plans for lack in _of_plan(plan)))


def _of_plan(plan: Plan) -> Iterator[Lack]:
    if plan.budget.kind == "pinned" and not shutil.which("numactl"):
        use = "to bind CPUs and memory, as the brief did (or use --budget scaled)"
        yield Lack("numactl", use, True, ("numactl",))
    segments = int(LOCAL.get(Path("/proc/sys/kernel/shmmni")) or 0)
    if segments and segments < 2 * len(plan.servers):
        command = as_root(f"sysctl -w kernel.shmmni={_SEGMENTS}")
        what = f"shared-memory segments (kernel.shmmni is {segments})"
        yield Lack(what, "transporters between servers and data nodes", True, command=command)
    files, (_, hard) = plan.open_files, resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in (resource.RLIM_INFINITY, -1) and hard < files:
        command = as_root(f"prlimit --pid $$ --nofile={files}:{files}")
        what = f"open files (at most {hard} here)"
        yield Lack(what, "a socket for each client", True, command=command)


def _of_host(host: Host) -> Iterator[Lack]:
    """Yield what the `scaled` budget needs from systemd."""
    use = "CPU quotas, for the `scaled` budget"
    if host.cpu_controller.kind == own_cgroup.UNDELEGATED:
        what = f"the cpu controller ({host.cpu_controller.reason})"
        yield Lack(what, use, command=own_cgroup.DELEGATE, again=True)
    without = host.cpu_controller.kind == "none" and os.geteuid() != 0
    if without and Path("/run/systemd/system").exists():
        if Path(f"/run/user/{os.getuid()}/bus").exists():
            return  # The manager runs but cannot help: the cpu controller is in version 1.
        has_apt = requirements.package_manager().program == "apt-get"
        packages = ("dbus-user-session",) if has_apt else ()
        linger = as_root(f"loginctl enable-linger {user.name()}")
        yield Lack("a systemd user manager", use, packages=packages, command=linger)


def _of_tests() -> Iterator[Lack]:
    if os.geteuid() == 0 or any(map(shutil.which, BROWSERS)):
        return
    # Elsewhere apt's package of this name may be something else, such as a Snap.
    if requirements.package_manager().program != "apt-get" or install.has_debian():
        yield Lack("Chromium", "tests that open the report", packages=("chromium",))
