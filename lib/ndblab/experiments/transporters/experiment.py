"""The experiments on what the brief's other neighbours claim: posts, documentation. Pure."""

from __future__ import annotations

from ndblab.design import grids
from ndblab.design import swept as comparisons
from ndblab.design.contrast import Length
from ndblab.design.experiment import Experiment
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.experiments.connection_pool import contrasts as connection_pools
from ndblab.experiments.read_locality import contrasts as read_locality
from ndblab.experiments.read_locality.analysis import PRIMARY_ONLY, READ_BACKUP
from ndblab.planning import profile, workload

SPIN_US = 200
"""How long the spinning variants spin before they sleep; the claims' source gives no time. Far
longer than the other side takes to answer, and below NDB's maximum (500 us for threads)."""
_SHM_SPINS = {"shm default": {"ShmSpintime": SPIN_US}}
_ONE_CLIENT = {"servers": (1,), "clients": (1,), "warmup_s": 0}
_FEW_ROWS = {**_ONE_CLIENT, "duration_s": 1, "tables": 1, "table_size": 200}
_NO_SCANS = {"range-selects": "off"}
_NO_STATISTICS = {"ndb_index_stat_enable": "OFF"}
"""For minutes after a start servers read statistics of indexes, and count these rows as read."""

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
            Variant(
                options=_NO_SCANS, my_cnf=_NO_STATISTICS,
                table_options=read_locality.COMMENTS[READ_BACKUP],
            ),
            *(
                Variant(
                    kind, options=_NO_SCANS, my_cnf=_NO_STATISTICS, table_options=comment,
                    neighbours=True,
                )
                for kind, comment in read_locality.COMMENTS.items()
            ),
            *(
                Variant(
                    name, {"domains": True}, options=_NO_SCANS, contrasts_only=True,
                    my_cnf=_NO_STATISTICS, table_options=read_locality.COMMENTS[kind],
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
)  # fmt: skip
