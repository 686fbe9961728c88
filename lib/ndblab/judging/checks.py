"""One small check per claim, or family of claims, registered by the claim's id.

In: a claim and the evidence of one dataset. Out: a finding.
A check never reads the claim's budgets (`judge` does) and never decides without an interval.

To add one: write a function (claim, evidence) -> finding in the module of its subject, and decorate
it with the ids of its claims.
"""

from ndblab.claims.checks import (
    actions,
    availability,
    connection_pools,
    data_nodes,
    engines,
    latency,
    network,
    processes,
    read_write,
    stability,
    throughput,
    transporters,
)
from ndblab.claims.checks.decorator import CHECKS, Check, find
from ndblab.claims.checks.neighbours import read_locality

__all__ = [
    "CHECKS",
    "Check",
    "actions",
    "availability",
    "connection_pools",
    "data_nodes",
    "engines",
    "find",
    "latency",
    "network",
    "processes",
    "read_locality",
    "read_write",
    "stability",
    "throughput",
    "transporters",
]
