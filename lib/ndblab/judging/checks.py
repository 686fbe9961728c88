"""One small check per claim, or family of claims, registered by the claim's id.

In: a claim and the evidence of one dataset. Out: a finding.
A check never reads the claim's budgets (`judge` does) and never decides without an interval.

To add one: write a function (claim, evidence) -> finding in the module of its subject, and decorate
it with the ids of its claims.
"""

from ndblab.experiments.availability import checks as availability
from ndblab.experiments.connection_pool import checks as connection_pools
from ndblab.experiments.dump import checks as actions
from ndblab.experiments.engines import checks as engines
from ndblab.experiments.network_cost import checks as network
from ndblab.experiments.read_locality import checks as read_locality
from ndblab.experiments.read_write import checks as read_write
from ndblab.experiments.scaling import (
    checks as throughput,
)
from ndblab.experiments.scaling import (
    checks_of_data_nodes as data_nodes,
)
from ndblab.experiments.scaling import (
    checks_of_latency as latency,
)
from ndblab.experiments.scaling import (
    checks_of_processes as processes,
)
from ndblab.experiments.stability import checks as stability
from ndblab.experiments.transporters import checks as transporters
from ndblab.judging.decorator import CHECKS, Check, find

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
