"""Whether a host can carry out a plan, and the contrasts that an experiment asks for."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.design.contrast import STARTS, TWINS
from ndblab.measuring import prerequisites
from ndblab.planning import fitness, twins

if TYPE_CHECKING:
    from ndblab.design.contrast import Contrast
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan


def check(machine: Host, *plans: Plan, engines: str | None = None) -> None:
    """Refuse plans that this host cannot carry out, or whose programs it cannot install.

    Parameters
    ----------
    engines : as for `measurement.measure`.

    Raises
    ------
    LabError
        If it lacks memory or disk space, or something that only root can give it.
    """
    from ndblab.install.engines import sources

    for source in sources(engines) if engines else [{}]:
        prerequisites.require(machine, *plans, installing=True, **source)
    for plan in plans:
        check_size(machine, plan)


def check_size(machine: Host, plan: Plan, free_bytes: float | None = None) -> None:
    """Refuse a plan for which a host has too little memory or disk space, or allows too few tasks.

    Parameters
    ----------
    free_bytes : free space on the host's disk; None for that of this host.
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


def contrasts(
    wanted: Iterable[Contrast], plans: Mapping[str, Plan], machine: Host, say: Callable[[str], None]
) -> tuple[Contrast, ...]:
    """Return the contrasts, with pairs of starts in place of twins for which there is no room.

    Parameters
    ----------
    plans : of the clusters, by variant.
    machine : the host as it is while no cluster runs.
    say : called with one line on what is done instead, and why.
    """
    found = []
    for each in wanted:
        if each.design == TWINS:
            a, b = (plans[each.side(side).point.variant] for side in ("a", "b"))
            if why := twins.lack(a, b, machine, disk_free_bytes(a)):
                say(f"{each.name}: one cluster after the other, not twins: {why}")
                each = dataclasses.replace(each, design=STARTS)
        found.append(each)
    if any(each.design == TWINS for each in found):
        controller = machine.cpu_controller
        if controller.kind not in ("cgroup1", "cgroup2"):
            say(f"twins are in no control groups of equal weight: {controller.reason}")
    return tuple(found)
