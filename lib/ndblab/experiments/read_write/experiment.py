"""The experiments on what RonDB's evaluation claims: sysbench, DBT2, DBT3, loads. Pure."""

from __future__ import annotations

import functools

from ndblab.design import grids
from ndblab.design import swept as comparisons
from ndblab.design.contrast import Length
from ndblab.design.experiment import Experiment
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.experiments.api_ceiling import contrasts as interfaces
from ndblab.experiments.bulk_load import contrasts as bulk_loads
from ndblab.experiments.read_write import contrasts as read_write
from ndblab.experiments.tpc_c import analysis as loads
from ndblab.experiments.tpc_c import contrasts as tpc_c
from ndblab.experiments.tpc_c import database as tables
from ndblab.experiments.tpc_c import go_tpc
from ndblab.experiments.tpc_h import analysis as pushdown
from ndblab.experiments.tpc_h import contrasts as queries
from ndblab.install import engines, ndb_tools
from ndblab.planning import cpu_budget, profile, workload

HALF_DATA_NODE_SHARE = cpu_budget.BRIEF_DATA_NODE_CPUS / cpu_budget.BRIEF_CPUS / 2
TPC_C_ROW_BYTES = 700
"""Data memory for a row of TPC-C, twice what it takes at first: a load adds orders."""
_API_BY_SHM = {"api": {"HostName": "localhost"}}
"""Programs of the NDB API then reach the data nodes by shared memory, as MySQL servers do."""
_READ_FILES = {"secure_file_priv": "/"}
"""A server may then read any file, as LOAD DATA asks it to."""
_LOADED = {"servers": (1,), "warmup_s": 0}


def _warehouses(number: int) -> dict[str, int]:
    """Return the tables of so many warehouses, as fields of a profile."""
    return {"tables": number, "table_size": tables.ROWS_PER_WAREHOUSE}


EXPERIMENTS = (
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
        "api-ceiling",
        "What do key lookups cost through SQL, and through the NDB API?",
        "13_api_ceiling.ipynb",
        figures=("api-ceiling",),
        claims=("R-nosql",),
        grid=interfaces.every_interface,
        sizes={
            "smoke": {"servers": (1,), "clients": (8,)},
            "quick": {
                "servers": (1,), "clients": (4, 16, 64), "repeats": 3, "duration_s": 4,
            },
            "brief": {"servers": (1,), "clients": (4, 16, 64, 128), "repeats": 3},
        },
        variants=(
            Variant(config_ini=_API_BY_SHM),
            *(
                Variant(name, config_ini=_API_BY_SHM, options={"at-once": number})
                for name, number in workload.AT_ONCE.items()
            ),
        ),
        budget="shared",
        contrasts=interfaces.contrasts,
        lacks=functools.partial(ndb_tools.lacks, "flexAsynch"),
    ),
    Experiment(
        "bulk-load",
        "How fast are rows loaded, and does the redo log matter?",
        "14_bulk_load.ipynb",
        figures=("bulk-load",),
        claims=("B-load-",),
        grid=bulk_loads.every_way,
        workload=workload.BULK_LOAD,
        sizes={
            "smoke": {**_LOADED, "clients": (2,), "duration_s": 1},
            "quick": {
                **_LOADED, "clients": (1, 4), "repeats": 3, "duration_s": 3, "tables": 4,
                "table_size": 10_000,
            },
            "brief": {
                **_LOADED, "clients": (1, 8), "repeats": 5, "duration_s": 200,
                "table_size": 500_000,
            },
        },
        slices={"smoke": Length(0, 1), "quick": Length(0, 4), "brief": Length(0, 200)},
        variants=(
            Variant(
                config_ini=_API_BY_SHM, my_cnf=_READ_FILES, options={"way": workload.LOAD_DATA}
            ),
            *(
                Variant(way, config_ini=_API_BY_SHM, my_cnf=_READ_FILES, options={"way": way})
                for way in workload.LOADERS[1:]
            ),
            Variant(
                comparisons.REDO_SMALL, {"small_redo": True}, config_ini=_API_BY_SHM,
                my_cnf=_READ_FILES, options={"way": workload.INSERTS}, contrasts_only=True,
            ),
        ),
        budget="shared",
        contrasts=bulk_loads.contrasts,
        lacks=functools.partial(ndb_tools.lacks, "ndb_import"),
    ),
    Experiment(
        "long-run",
        "How much throughput do local checkpoints take from a long run?",
        "15_long_run.ipynb",
        figures=("long-run",),
        claims=("R-long",),
        grid=grids.one_point,
        workload=workload.READ_WRITE,
        sizes={
            "smoke": {"servers": (4,), "clients": (16,), "duration_s": 45},
            "quick": {
                "servers": (4,), "clients": (16,), "repeats": 3, "warmup_s": 10,
                "duration_s": 200,
            },
            "brief": {"servers": (16,), "clients": (1024,), "duration_s": 3600},
        },
    ),
    Experiment(
        "engines",
        "How do two engines compare at high load?",
        "19_engines.ipynb",
        figures=("engines",),
        claims=("D-indexstat",),
        grid=grids.every_variant,
        workload=workload.READ_WRITE,
        sizes={
            "smoke": {"servers": (1,), "clients": (8,)},
            "quick": {"servers": (1,), "clients": (32,)},
            "brief": {"servers": (1,), "clients": (256,)},
        },
        variants=(Variant(), Variant(comparisons.SECOND_ENGINE, second_engine=True)),
        contrasts=comparisons.two_engines,
        lacks=engines.lacks,
    ),
)  # fmt: skip
