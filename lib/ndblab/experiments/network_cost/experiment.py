"""What the network between clients, servers and data nodes costs."""

from __future__ import annotations

import pandas as pd

from ndblab.design.contrast import DUET, ENOUGH, Contrast
from ndblab.design.experiment import Experiment
from ndblab.design.swept import Swept
from ndblab.design.variant import Variant
from ndblab.hosts import connected
from ndblab.hosts.roles import DATA, LOAD, MANAGEMENT, SQL
from ndblab.planning import profile
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.profile import Profile

HOSTS = ((MANAGEMENT, LOAD), (DATA, SQL), (DATA, SQL), (SQL,), (SQL,))
TCP_SERVERS, SPARE_SERVERS = 4, 1
"""Six servers on their four hosts: two by shared memory beside the data nodes, two on other hosts,
two by TCP beside the data nodes. Every other start deals them from the last, so that the first two
and the last two change places."""
SERVERS_ELSEWHERE, CLIENTS_BESIDE = "servers-elsewhere", "clients-beside"
"""Variants. In the default one, servers are beside the data nodes, and clients elsewhere."""
KINDS = (
    (DEFAULT_VARIANT, "shm"),
    (DEFAULT_VARIANT, "tcp"),
    (SERVERS_ELSEWHERE, "tcp"),
    (CLIENTS_BESIDE, "shm"),
)
"""Variant and transporter of each curve."""


def grid(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return one server of each kind with every number of clients."""
    return tuple(
        Point(1, clients, transporter, experiment.workload, variant)
        for clients in size.clients
        for variant, transporter in KINDS
    )


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Compare clients on another host and on their server's; servers likewise, also by TCP only.

    Clients of both kinds use the same two servers, which they exchange. Servers in two places
    cannot be exchanged, and equal servers of a cluster start differ, so no two blocks share a
    start. With one client, only the path of a query counts; with enough clients to saturate a
    server, its CPU time. The smoke profile has the claim's contrast and one of servers.
    """
    swept = Swept(size, points)
    many, few = swept.saturating(), min(size.clients)

    def servers(name: str, clients: int, transporter: str = "shm") -> Contrast:
        elsewhere = swept.point(1, clients, SERVERS_ELSEWHERE, transporter="tcp")
        beside = swept.point(1, clients, transporter=transporter)
        return Contrast(name, DUET, elsewhere, beside, (), blocks=ENOUGH, blocks_per_start=1)

    local = swept.point(1, many, CLIENTS_BESIDE)
    compared = (
        Contrast("clients", DUET, swept.point(1, many), local, ("N-clients",), blocks=ENOUGH),
        servers("servers", many),
        servers("servers-by-tcp", many, "tcp"),
        servers("servers-few-clients", few),
    )
    return compared[:2] if size.name == "smoke" else compared


EXPERIMENTS = (
    Experiment(
        "network-cost",
        "What does the network between clients, servers and data nodes cost?",
        "20_network_cost.ipynb",
        figures=("network-cost",),
        claims=("N-",),
        grid=grid,
        sizes={
            "smoke": {"servers": (1,)},
            "quick": {"servers": (1,), "clients": (1, 4, 16, 64), "repeats": 3},
            "brief": {
                "servers": (1,),
                "clients": profile.powers_of_two(1024),
                "repeats": 3,
                "table_size": 1_000_000,
            },
        },
        shape={"tcp_servers": TCP_SERVERS},
        variants=(
            Variant(beside_data=True),
            Variant(SERVERS_ELSEWHERE, beside_data=False),
            Variant(CLIENTS_BESIDE, beside_data=True, clients_beside=True),
        ),
        contrasts=contrasts,
        spare_servers=SPARE_SERVERS,
        hosts=HOSTS,
        lacks=connected.lacks,
    ),
)
