"""The sweep and the contrasts of TPC-C: servers, and tables partitioned in two ways.

In: the experiment, a profile, the points of its finished sweep. Out: points and contrasts. Pure.

Both ways of partitioning are databases of one cluster, with the same rows: slices of A and B use
the same nodes in turns. No claim waits for a contrast, so each has a number of blocks.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.design.swept import Swept
from ndblab.experiments.tpc_c import database as tables
from ndblab.experiments.tpc_c.analysis import BY_KEY, MORE_SERVERS, PARTITIONING, SERVERS
from ndblab.planning.point import Point
from ndblab.planning.workload import TPC_C
from ndblab.statistics.sequential import LOOKS

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.design.experiment import Experiment
    from ndblab.planning.profile import Profile

BLOCKS = LOOKS[1]


def grid(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Partitioned by warehouse, by servers and clients; by whole key, with the most servers.

    Raises
    ------
    LabError
        If the profile asks for warehouses of another size.
    """
    tables.warehouses(size)
    most = max(size.servers)
    plain = product(size.servers, size.clients)
    return (
        *(Point(n, c, workload=TPC_C) for n, c in plain if c >= n),
        *(Point(most, c, workload=TPC_C, variant=BY_KEY) for c in size.clients if c >= most),
    )


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """By warehouse against by whole key; two servers against one, and four against two.

    The smoke profile has the first alone. Servers are compared with CPUs kept awake: the side with
    fewer of them leaves some idle.
    """
    swept = Swept(size, points, TPC_C)
    most, k = max(size.servers), swept.saturating()
    clients = max(swept.best(most), most)
    found = [_of(PARTITIONING, swept.point(most, clients), swept.point(most, clients, BY_KEY))]
    if size.name != "smoke":
        found += [
            _of(name, swept.awake(2 * n, 2 * n * k), swept.awake(n, n * k))
            for name, n in ((SERVERS, 1), (MORE_SERVERS, 2))
            if {n, 2 * n} <= set(size.servers)
        ]
    return tuple(found)


def _of(name: str, a: Side, b: Side) -> Contrast:
    return Contrast(name, ALTERNATION, a, b, (), blocks=BLOCKS)
