"""TPC-C: tables partitioned by warehouse, and more MySQL servers."""

from __future__ import annotations

from itertools import product

import pandas as pd

from ndblab.design.contrast import ALTERNATION, Contrast, Length, Side
from ndblab.design.experiment import Experiment
from ndblab.design.swept import Swept
from ndblab.design.variant import Variant
from ndblab.experiments.tpc_c import TPC_C, database, go_tpc
from ndblab.experiments.tpc_c.analysis import BY_KEY, MORE_SERVERS, PARTITIONING, SERVERS
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.statistics.sequential import LOOKS

TPC_C_ROW_BYTES = 700
"""Data memory for a row of TPC-C, twice what it takes at first, since a load adds orders."""
BLOCKS = LOOKS[1]


def _warehouses(number: int) -> dict[str, int]:
    """Return the fields of a profile with this number of warehouses."""
    return {"tables": number, "table_size": database.ROWS_PER_WAREHOUSE}


def grid(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return points by warehouse for all servers and clients, by whole key for the most servers.

    LabError if the profile asks for warehouses of another size.
    """
    database.warehouses(size)
    most = max(size.servers)
    plain = product(size.servers, size.clients)
    return (
        *(Point(n, c, workload=TPC_C) for n, c in plain if c >= n),
        *(Point(most, c, workload=TPC_C, variant=BY_KEY) for c in size.clients if c >= most),
    )


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Compare partitioning by warehouse and by whole key, two servers and one, four and two.

    The smoke profile has only the first contrast. Servers are compared with CPUs kept awake, since
    the side with fewer servers leaves some CPUs idle.
    """
    swept = Swept(size, points, TPC_C)
    most, k = max(size.servers), swept.saturating()
    clients = max(swept.best(most), most)
    compared = [_of(PARTITIONING, swept.point(most, clients), swept.point(most, clients, BY_KEY))]
    if size.name != "smoke":
        compared += [
            _of(name, swept.awake(2 * n, 2 * n * k), swept.awake(n, n * k))
            for name, n in ((SERVERS, 1), (MORE_SERVERS, 2))
            if {n, 2 * n} <= set(size.servers)
        ]
    return tuple(compared)


def _of(name: str, a: Side, b: Side) -> Contrast:
    return Contrast(name, ALTERNATION, a, b, (), blocks=BLOCKS)


EXPERIMENTS = (
    Experiment(
        "tpc-c",
        "What do transactions gain from partitioning by warehouse and from more servers?",
        "11_tpc_c.ipynb",
        figures=("tpc-c",),
        claims=("D-linear", "D-2110"),
        grid=grid,
        workload=TPC_C,
        sizes={
            "smoke": {"servers": (1,), "clients": (4,), "duration_s": 1, **_warehouses(1)},
            "quick": {
                "servers": (1, 2, 4), "clients": (1, 4, 16), "repeats": 3, "warmup_s": 1,
                "duration_s": 4, **_warehouses(4),
            },
            "brief": {
                "servers": (1, 2, 4, 8, 16), "clients": (16, 64, 256), "repeats": 3,
                **_warehouses(64),
            },
        },
        slices={"smoke": Length(1, 1)},
        shape={"networking": True, "row_bytes": TPC_C_ROW_BYTES},
        variants=(
            Variant(tcp_clients=True),
            Variant(BY_KEY, tcp_clients=True, options={"database": database.TPCC_BY_KEY}),
        ),
        contrasts=contrasts,
        lacks=go_tpc.lacks,
    ),
)  # fmt: skip
