"""The load generator of a workload, found in the experiments' modules `load`."""

from __future__ import annotations

import functools

from ndblab import discovery
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import LoadGenerator


def find(name: str) -> LoadGenerator:
    """Find the load generator of a workload; any other name is that of a sysbench script."""
    return _generators().get(name, sysbench)


def ends_by_itself(name: str) -> bool:
    """Return whether a load ends by itself, whatever time it is given: a dump does."""
    return getattr(find(name), "ENDS_BY_ITSELF", False)


@functools.cache
def _generators() -> dict[str, LoadGenerator]:
    return {name: module for module in discovery.modules("load") for name in module.WORKLOADS}
