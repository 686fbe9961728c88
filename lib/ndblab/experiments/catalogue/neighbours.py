"""The experiments on what the brief's neighbours claim: the other systems of the sources. Pure."""

from __future__ import annotations

from ndblab.analysis.read_locality.shares import PRIMARY_ONLY, READ_BACKUP
from ndblab.analysis.tpc_h import pushdown
from ndblab.experiments.designs import (
    bulk_loads,
    comparisons,
    connection_pools,
    grids,
    interfaces,
    queries,
    read_locality,
    read_write,
)
from ndblab.experiments.designs.contrast import Length
from ndblab.experiments.experiment import Experiment
from ndblab.experiments.variant import NO_QUOTAS, Variant
from ndblab.planning import cpu_budget, profile, workload

SPIN_US = 200
"""How long the spinning variants spin before they sleep; the claims' source gives no time. Far
longer than the other side takes to answer, and below NDB's maximum (500 us for threads)."""
_SHM_SPINS = {"shm default": {"ShmSpintime": SPIN_US}}
HALF_DATA_NODE_SHARE = cpu_budget.BRIEF_DATA_NODE_CPUS / cpu_budget.BRIEF_CPUS / 2
_ONE_CLIENT = {"servers": (1,), "clients": (1,), "warmup_s": 0}
_API_BY_SHM = {"api": {"HostName": "localhost"}}
"""Programs of the NDB API then reach the data nodes by shared memory, as MySQL servers do."""
_LOADED = {"servers": (1,), "warmup_s": 0}
_FEW_ROWS = {**_ONE_CLIENT, "duration_s": 1, "tables": 1, "table_size": 200}
_NO_SCANS = {"range-selects": "off"}

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
                **_LOADED, "clients": (1, 4), "repeats": 3, "duration_s": 8, "tables": 4,
                "table_size": 25_000,
            },
            "brief": {
                **_LOADED, "clients": (1, 8), "repeats": 5, "duration_s": 200,
                "table_size": 500_000,
            },
        },
        slices={"smoke": Length(0, 1), "quick": Length(0, 8), "brief": Length(0, 200)},
        variants=(
            Variant(config_ini=_API_BY_SHM, options={"way": workload.LOAD_DATA}),
            *(
                Variant(way, config_ini=_API_BY_SHM, options={"way": way})
                for way in workload.LOADERS[1:]
            ),
            Variant(
                comparisons.REDO_SMALL, {"small_redo": True}, config_ini=_API_BY_SHM,
                options={"way": workload.LOAD_DATA}, contrasts_only=True,
            ),
        ),
        budget="shared",
        contrasts=bulk_loads.contrasts,
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
                "servers": (4,), "clients": (16,), "repeats": 1, "warmup_s": 10,
                "duration_s": 600,
            },
            "brief": {"servers": (16,), "clients": (1024,), "duration_s": 3600},
        },
    ),
    Experiment(
        "read-locality",
        "How far do reads stay on the data node that is near?",
        "16_read_locality.ipynb",
        figures=("read-locality",),
        claims=("C-",),
        grid=read_locality.grid,
        sizes={
            "smoke": {"servers": (4,), "clients": (8,), "warmup_s": 0, "duration_s": 1},
            "quick": {"servers": (4,), "clients": (8, 32, 128), "repeats": 3},
            "brief": {
                "servers": (4,), "clients": profile.powers_of_two(1024), "repeats": 3,
                "table_size": 1_000_000,
            },
        },
        slices={"smoke": Length(0, 1)},
        shape={"node_groups": 2},
        variants=(
            Variant(options=_NO_SCANS, table_options=read_locality.COMMENTS[READ_BACKUP]),
            *(
                Variant(kind, options=_NO_SCANS, table_options=comment, neighbours=True)
                for kind, comment in read_locality.COMMENTS.items()
            ),
            *(
                Variant(
                    name, {"domains": True}, options=_NO_SCANS, contrasts_only=True,
                    table_options=read_locality.COMMENTS[kind],
                )
                for name, kind in (
                    (read_locality.DOMAINS, READ_BACKUP),
                    (read_locality.DOMAINS_PRIMARY, PRIMARY_ONLY),
                )
            ),
        ),
        contrasts=read_locality.contrasts,
        counts_reads=True,
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
    ),
)  # fmt: skip
