"""Connections of a MySQL server to the cluster."""

from __future__ import annotations

import pandas as pd

from ndblab.design import grids
from ndblab.design.contrast import ALTERNATION, DUET, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.planning import profile
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.profile import Profile
from ndblab.statistics.sequential import LOOKS

POOLS = (1, 4, 8, 16)
"""Connections of the servers: those of the source (1, 8 and 16), and one between."""
PAIRS = ((8, 1), (16, 8), (4, 1))
CLAIMS = {(8, 1): ("P-pool-8",), (16, 8): ("P-pool-16",)}
CLIENTS = 32
"""Clients with which the source's servers used all their CPUs."""
BLOCKS = LOOKS[1]
"""Blocks of each contrast, also where this host can test no claim."""


def variant(connections: int, whole_cpus: bool = False) -> str:
    """Return the name of the variant of a pool.

    >>> variant(1), variant(8), variant(8, whole_cpus=True)
    ('default', 'pool-8', 'pool-8-whole')
    """
    if whole_cpus:
        return f"pool-{connections}-whole"
    return DEFAULT_VARIANT if connections == POOLS[0] else f"pool-{connections}"


def connection_pools(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Compare larger pools with smaller ones: in turns with whole CPUs, both at once under quotas.

    Without quotas two servers at work would share the CPUs, and the larger pool could take what
    the other lacks: one at a time has all of them. Under quotas each has a share of its own.

    A pool belongs to a server, so the sides of a block cannot swap their servers, and equal servers
    of one start may differ by more than their pools do. So no two blocks of a contrast share a
    start, and every other start gives the pools to the servers in reverse order: the interval is
    one over starts. A second server with each pool would average the servers of one start, but not
    the starts; and its connections, which the data nodes poll whether used or not, would slow all
    sides. Different contrasts share a start, as a start costs more than a block.

    An idle connection uses about half a percent of a CPU. So idle servers take a little more from
    the smaller pool, beside which the larger one is idle: without quotas 2 % of 2 CPUs, and 0.3 %
    of the 12 from which the claims are judged. The checks report it.

    The smoke profile has the first pair only.
    """
    clients = min(CLIENTS, max(size.clients))

    def side(connections: int, whole_cpus: bool) -> Side:
        name = variant(connections, whole_cpus)
        return Side(Point(1, clients, workload=experiment.workload, variant=name))

    def contrast(larger: int, smaller: int, whole_cpus: bool) -> Contrast:
        return Contrast(
            f"pools-{smaller}-{larger}" + ("" if whole_cpus else "-share"),
            ALTERNATION if whole_cpus else DUET,
            side(larger, whole_cpus),
            side(smaller, whole_cpus),
            CLAIMS.get((larger, smaller), ()) if whole_cpus else (),
            blocks=BLOCKS,
            blocks_per_start=1,
        )

    pairs = PAIRS[:1] if size.name == "smoke" else PAIRS
    return tuple(contrast(*pair, whole) for pair in pairs for whole in (True, False))


EXPERIMENTS = (
    Experiment(
        "connection-pool",
        "Does a MySQL server need more than one connection to the cluster?",
        "09_connection_pool.ipynb",
        figures=("connection-pool",),
        claims=("P-pool-",),
        grid=grids.every_variant,
        sizes={
            "smoke": {"servers": (1,), "clients": (8,)},
            "quick": {"servers": (1,), "clients": (8, 32, 128), "repeats": 3},
            "brief": {"servers": (1,), "clients": profile.powers_of_two(1024), "repeats": 3},
        },
        shape={"connection_pools": POOLS},
        variants=(
            *(Variant(variant(number), connections=number) for number in POOLS),
            *(
                Variant(variant(number, whole_cpus=True), connections=number, quotas=NO_QUOTAS)
                for number in POOLS
            ),
        ),
        contrasts=connection_pools,
    ),
)
