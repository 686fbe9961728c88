"""What a host allows of the contrasts that an experiment asks for: twins need room for two."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.design.contrast import STARTS, TWINS
from ndblab.planning import twins

if TYPE_CHECKING:
    from ndblab.design.contrast import Contrast
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan


def disk_free_bytes(plan: Plan) -> int:
    """Return the free space on the disk of a plan's folder, which need not exist yet."""
    folder = Path(plan.places.cluster_dir)
    return shutil.disk_usage(next(p for p in (folder, *folder.parents) if p.exists())).free


def contrasts(
    wanted: Iterable[Contrast], plans: Mapping[str, Plan], machine: Host, say: Callable[[str], None]
) -> tuple[Contrast, ...]:
    """Return the contrasts with pairs of starts in place of twins for which there is no room.

    Parameters
    ----------
    plans : of the clusters, by variant.
    machine : as it is while no cluster runs.
    say : is told in a line what is done otherwise, and why.
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
