"""The load generator of a workload, found in the experiments' modules `load`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ndblab import discovery
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import OK, Job, LoadGenerator

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster

_OWN: dict[str, LoadGenerator] = {}


def add(name: str, generator: LoadGenerator) -> None:
    """Add the load generator of the user's own workload, for this process."""
    _OWN[name] = generator


def find(name: str) -> LoadGenerator:
    """Find the load generator of a workload; any other name is that of a sysbench script."""
    return _OWN.get(name) or _generators().get(name, sysbench)


def names() -> list[str]:
    """Return the workloads of experiments that have load generators of their own."""
    return sorted(_generators())


def ends_by_itself(name: str) -> bool:
    """Return whether a load ends by itself, whatever time it is given: a dump does."""
    return getattr(find(name), "ENDS_BY_ITSELF", False)


def warm_up(cluster: Cluster, job: Job) -> str:
    """Make ready for one run if its load needs that; return "ok", or in a line what failed."""
    own = getattr(find(job.point.workload), "warm_up", None)
    return own(cluster, job) if own else OK


def read_back(cluster: Cluster, name: str) -> Mapping[str, pd.DataFrame]:
    """Return tables of what a load left in the cluster, once its nodes serve; most leave none."""
    own = getattr(find(name), "read_back", None)
    return own(cluster) if own else {}


@functools.cache
def _generators() -> dict[str, LoadGenerator]:
    return {name: module for module in discovery.modules("load") for name in module.WORKLOADS}
