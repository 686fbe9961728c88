"""The load generator of a workload, found in the experiments' modules `load`."""

from __future__ import annotations

import functools

from ndblab import discovery
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import LoadGenerator

_OWN: dict[str, LoadGenerator] = {}


def add(name: str, generator: LoadGenerator) -> None:
    """Add the load generator of a workload of the user's own, for this process."""
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


@functools.cache
def _generators() -> dict[str, LoadGenerator]:
    return {name: module for module in discovery.modules("load") for name in module.WORKLOADS}
