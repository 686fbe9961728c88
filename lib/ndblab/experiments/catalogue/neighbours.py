"""The experiments on what the brief's neighbours claim: the other systems of the sources. Pure."""

from __future__ import annotations

from ndblab.analysis.tpc_c import loads
from ndblab.analysis.tpc_h import pushdown
from ndblab.experiments.designs import (
    comparisons,
    connection_pools,
    grids,
    queries,
    read_write,
    tpc_c,
)
from ndblab.experiments.designs.contrast import Length
from ndblab.experiments.experiment import Experiment
from ndblab.experiments.variant import NO_QUOTAS, Variant
from ndblab.install import go_tpc
from ndblab.planning import cpu_budget, profile, workload
from ndblab.workloads.tpc_c import tables

SPIN_US = 200
"""How long the spinning variants spin before they sleep; the claims' source gives no time. Far
longer than the other side takes to answer, and below NDB's maximum (500 us for threads)."""
_SHM_SPINS = {"shm default": {"ShmSpintime": SPIN_US}}
HALF_DATA_NODE_SHARE = cpu_budget.BRIEF_DATA_NODE_CPUS / cpu_budget.BRIEF_CPUS / 2
_ONE_CLIENT = {"servers": (1,), "clients": (1,), "warmup_s": 0}
_FEW_ROWS = {**_ONE_CLIENT, "duration_s": 3, "tables": 1, "table_size": 200}
TPC_C_ROW_BYTES = 700
"""Data memory for a row of TPC-C, twice what it takes at first: a load adds orders."""


def _warehouses(number: int) -> dict[str, int]:
    """Return the tables of so many warehouses, as fields of a profile."""
    return {"tables": number, "table_size": tables.ROWS_PER_WAREHOUSE}


EXPERIMENTS = (
    Experiment(
        "shm-vs-tcp",
        "What do shared-memory transporters gain over TCP on one host?",
        "03_shm_vs_tcp.ipynb",
        figures=("shm-vs-tcp", "spinning"),
        claims=("T-",),
        grid=grids.both_transporters,
        sizes={
            "smoke": {"servers": (1,), "clients": (2, 8)},
            "quick": {"servers": (1,), "clients": (1, 2, 8, 32, 128), "repeats": 3},
            "brief": {"servers": (1,), "clients": profile.powers_of_two(2048), "repeats": 3},
        },
        shape={"tcp_servers": 1},
        variants=(
            Variant(),
            Variant(comparisons.SHM_SPIN, config_ini=_SHM_SPINS),
            Variant(comparisons.ALL_SPIN, {"thread_spin_us": SPIN_US}, config_ini=_SHM_SPINS),
        ),
        contrasts=comparisons.transporters,
    ),
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
        shape={"connection_pools": connection_pools.POOLS},
        variants=(
            *(
                Variant(connection_pools.variant(number), connections=number)
                for number in connection_pools.POOLS
            ),
            *(
                Variant(
                    connection_pools.variant(number, whole_cpus=True), connections=number,
                    quotas=NO_QUOTAS,
                )
                for number in connection_pools.POOLS
            ),
        ),
        contrasts=connection_pools.connection_pools,
    ),
    Experiment(
        "read-write",
        "What do read/write transactions, filters and IN lists carry?",
        "10_read_write.ipynb",
        figures=("read-write",),
        claims=("R-rw-", "R-filter-", "R-base-latency"),
        grid=read_write.grid,
        workload=workload.READ_WRITE,
        sizes={
            "smoke": {"servers": (1, 2), "clients": (8,), "warmup_s": 0},
            "quick": {"servers": (1, 2, 4), "clients": (1, 4, 16, 32)},
            "brief": {"servers": (1, 2, 4), "clients": profile.powers_of_two(256)},
        },
        variants=(
            Variant(),
            *(Variant(n, options={"in_list": keys}) for n, keys in workload.IN_KEYS.items()),
            *(Variant(n, processes=each) for n, each in read_write.PROCESSES.items()),
            Variant(comparisons.UNDIVIDED, quotas=NO_QUOTAS, contrasts_only=True),
            Variant(read_write.FREE_SERVERS, quotas={"mysqld": None}, contrasts_only=True),
            Variant(
                read_write.HALF_NODES, contrasts_only=True,
                quotas={"mysqld": None, "ndbmtd": HALF_DATA_NODE_SHARE},
            ),
        ),
        contrasts=read_write.contrasts,
    ),
    Experiment(
        "tpc-c",
        "What do transactions gain from tables partitioned by warehouse, and from more servers?",
        "11_tpc_c.ipynb",
        figures=("tpc-c",),
        claims=("D-linear", "D-2110"),
        grid=tpc_c.grid,
        workload=workload.TPC_C,
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
            Variant(loads.BY_KEY, tcp_clients=True, options={"database": tables.BY_KEY}),
        ),
        contrasts=tpc_c.contrasts,
        lacks=go_tpc.lacks,
    ),
    Experiment(
        "tpc-h",
        "Which queries of TPC-H gain from joins that the data nodes execute?",
        "12_tpc_h.ipynb",
        figures=("tpc-h",),
        claims=("H-",),
        grid=queries.every_query,
        sizes={
            "smoke": {
                "servers": (1,), "clients": (1,), "warmup_s": 0, "duration_s": 1,
                "tables": 8, "table_size": 1_083,
            },
            "quick": {
                "servers": (1,), "clients": (1,), "warmup_s": 0, "duration_s": 1, "repeats": 1,
                "tables": 8, "table_size": 10_830,
            },
            "brief": {
                "servers": (1,), "clients": (1,), "warmup_s": 0, "duration_s": 10,
                "tables": 8, "table_size": 1_082_656,
            },
        },
        slices={"smoke": Length(0, 0.3), "quick": Length(0, 0.5), "brief": Length(0, 10)},
        variants=(Variant(), Variant(pushdown.UNPUSHED, options={"join-pushdown": 0})),
        budget="shared",
        contrasts=queries.join_pushdown,
    ),
    Experiment(
        "dump",
        "How long does a dump take, and what does compression save?",
        "17_dump.ipynb",
        figures=("dump",),
        claims=("M-zstd",),
        grid=grids.every_variant,
        workload=workload.DUMP,
        sizes={
            "smoke": {**_ONE_CLIENT, "duration_s": 1},
            "quick": {**_ONE_CLIENT, "repeats": 5, "duration_s": 11, "table_size": 100_000},
            "brief": {**_ONE_CLIENT, "repeats": 5, "duration_s": 110, "table_size": 1_000_000},
        },
        variants=(
            Variant(options={"compression": workload.UNCOMPRESSED}),
            Variant("zstd", options={"compression": workload.ZSTD}),
            Variant("gzip", options={"compression": workload.GZIP}),
        ),
        budget="shared",
    ),
    Experiment(
        "locking-reads",
        "Which locks do reads take on InnoDB?",
        "18_locking_reads.ipynb",
        figures=("locks",),
        claims=("L-",),
        grid=grids.one_point,
        workload=workload.LOCKING_READS,
        sizes={
            "smoke": _FEW_ROWS,
            "quick": {**_FEW_ROWS, "repeats": 3},
            "brief": {**_FEW_ROWS, "repeats": 3},
        },
        variants=(Variant(my_cnf={"performance_schema": "ON"}),),
        budget="shared",
    ),
)  # fmt: skip
