"""The experiments by name: each a question with its sweep, its notebook, its figures, its claims.

In: a name, or the number of a figure or table. Out: an `Experiment`, which knows the points of its
sweep and the clusters that these need. To add one, add an entry here and its notebook; if it judges
a claim, a check in `claims.checks` too. Pure.
"""

from __future__ import annotations

from ndblab.analysis.tpc_h import pushdown
from ndblab.error import LabError
from ndblab.experiments.designs import (
    comparisons,
    connection_pools,
    grids,
    queries,
    read_write,
    self_contrasts,
)
from ndblab.experiments.designs.contrast import Length
from ndblab.experiments.experiment import Experiment, Variant
from ndblab.planning import cpu_budget, fault, profile, workload

SPIN_US = 200
"""How long the spinning variants spin before they sleep; the claims' source gives no time. Far
longer than the other side takes to answer, and below NDB's maximum (500 us for threads)."""
_SHM_SPINS = {"shm default": {"ShmSpintime": SPIN_US}}
_NO_QUOTAS = {"mysqld": None, "ndbmtd": None, "sql": None}
SMALL_SERVER_SHARE = 9 / cpu_budget.BRIEF_CPUS
"""So small that 16 servers with their clients do not use up the SQL side's share: twice 8 servers
may then do twice the work, and whether they do is up to the software."""
HALF_DATA_NODE_SHARE = cpu_budget.BRIEF_DATA_NODE_CPUS / cpu_budget.BRIEF_CPUS / 2
SLOWER_SERVER_SHARE = cpu_budget.BRIEF_SERVER_CPUS / cpu_budget.BRIEF_CPUS * 38 / 52
"""As much slower as the slow servers of select-pk-2010: 38 000 reads/s where others did 52 000."""
_ONE_CLIENT = {"servers": (1,), "clients": (1,), "warmup_s": 0}
_FEW_ROWS = {**_ONE_CLIENT, "duration_s": 3, "tables": 1, "table_size": 200}

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "the-brief",
            "What did the brief publish, and does it add up?",
            "00_the_brief.ipynb",
            figures=("2", "3"),
            tables=("1", "2"),
            claims=(),
        ),
        Experiment(
            "single-server-scaling",
            "How far does one MySQL server scale, and what limits it?",
            "01_single_server_scaling.ipynb",
            figures=("4", "5"),
            claims=("F4-", "F5-", "S-rule", "B-sockets", "B-redo", "B-row-bytes"),
            grid=grids.one_server,
            sizes={
                "smoke": {"servers": (1,)},
                "quick": {"servers": (1,)},
                "brief": {"servers": (1,), "clients": profile.powers_of_two(1024)},
            },
            shape={"networking": True},
            variants=(
                Variant(),
                Variant(comparisons.TCP_CLIENTS, tcp_clients=True, contrasts_only=True),
                Variant(comparisons.REDO_SMALL, {"small_redo": True}, contrasts_only=True),
                Variant(comparisons.UNDIVIDED, quotas=_NO_QUOTAS, contrasts_only=True),
            ),
            contrasts=comparisons.one_server,
            spare_servers=1,
            weighs_rows=True,
        ),
        Experiment(
            "multi-server-scaling",
            "How far does one cluster scale with more MySQL servers?",
            "02_multi_server_scaling.ipynb",
            figures=("6", "7", "8", "9"),
            claims=(
                "F6-", "F7-", "F8-", "F9-tc", "F9-send", "F9-recv", "F9-query", "F9-ldm",
                "B-less-cpu", "B-split", "B-mgmd-idle", "P-servers-", "P-tc",
            ),
            grid=grids.all_servers,
            variants=(
                Variant(),
                Variant(comparisons.UNDIVIDED, quotas=_NO_QUOTAS, contrasts_only=True),
                Variant(
                    comparisons.SMALL_SERVERS, quotas={"mysqld": SMALL_SERVER_SHARE},
                    contrasts_only=True,
                ),
                Variant(
                    comparisons.SLOWER_SERVERS, contrasts_only=True,
                    quotas={"mysqld.3": SLOWER_SERVER_SHARE, "mysqld.4": SLOWER_SERVER_SHARE},
                ),
            ),
            contrasts=comparisons.many_servers,
        ),
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
            "stability",
            "How steady is the cluster over an hour?",
            "04_stability.ipynb",
            figures=("1",),
            claims=("F1-", "W-warmup"),
            grid=grids.one_point,
            sizes={
                "smoke": {"servers": (2,), "clients": (8,), "duration_s": 10},
                "quick": {
                    "servers": (16,), "clients": (256,), "repeats": 1, "warmup_s": 10,
                    "duration_s": 180,
                },
                "brief": {"servers": (16,), "clients": (1024,), "duration_s": 3600},
            },
        ),
        Experiment(
            "capacity-model",
            "How well does a one-server sweep predict many servers?",
            "05_capacity_model.ipynb",
            figures=("bounds", "capacity", "errors", "bottlenecks", "brief-predicted"),
            claims=(),
            reads=("single-server-scaling", "multi-server-scaling"),
        ),
        Experiment(
            "availability",
            "What do clients see when part of the cluster fails?",
            "06_availability.ipynb",
            figures=("faults",),
            claims=("A-",),
            grid=grids.every_fault,
            sizes={
                "smoke": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 4},
                "quick": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 10},
                "brief": {
                    "servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 30, "repeats": 3,
                },
            },
            variants=(Variant(), *(Variant(f.name, fault=f) for f in fault.FAULTS.values())),
            budget="shared",
        ),
        Experiment(
            "thread-balance",
            "Would a different split of threads raise the peak?",
            "07_thread_balance.ipynb",
            figures=("thread-balance",),
            claims=("F9-next-step", "F9-threads"),
            grid=grids.every_variant,
            sizes={
                "smoke": {"servers": (2,), "clients": (8,)},
                "quick": {
                    "servers": (8,), "clients": (64, 128, 256), "repeats": 2, "warmup_s": 2,
                    "duration_s": 6,
                },
                "brief": {"servers": (16,), "clients": (512, 1024), "repeats": 3},
            },
            variants=(
                Variant(),
                Variant(comparisons.BALANCED, {"balanced_threads": True}),
                Variant(
                    comparisons.THREADS_OF_32, {"num_cpus": cpu_budget.BRIEF_DATA_NODE_CPUS},
                    contrasts_only=True,
                ),
            ),
            contrasts=comparisons.thread_splits,
        ),
        Experiment(
            "the-lab-itself",
            "How far can a measurement of this lab be trusted?",
            "08_the_lab_itself.ipynb",
            figures=("contrast", "variance"),
            claims=(),
            grid=grids.one_point,
            sizes={
                "smoke": {"servers": (4,), "clients": (32,)},
                "quick": {"servers": (4,), "clients": (32,)},
                "brief": {
                    "servers": (4,), "clients": (32,), "repeats": 15, "warmup_s": 5,
                    "duration_s": 30, "table_size": 10_000,
                },
            },
            contrasts=self_contrasts.the_lab_itself,
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
                        quotas=_NO_QUOTAS,
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
                Variant(comparisons.UNDIVIDED, quotas=_NO_QUOTAS, contrasts_only=True),
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
    )
}  # fmt: skip


def find(
    name: str | None = None, figure: str | int | None = None, table: str | int | None = None
) -> Experiment:
    """Find an experiment by its name, or by a figure or table of the brief.

    Raises
    ------
    LabError
        If there is none, or the name and the number do not belong together.
    """
    asked = {"experiment": name, "figure": figure, "table": table}
    asked = {what: str(key) for what, key in asked.items() if key is not None}
    if not asked:
        raise LabError(
            "Say what to reproduce",
            expected="--figure 6, --table 1, --all, or --experiment with one of "
            + ", ".join(EXPERIMENTS),
            next_step="Try: ./lab reproduce --figure 6",
        )
    found = []
    for what, key in asked.items():
        known = {k: e for e in EXPERIMENTS.values() for k in _keys(e)[what]}
        if key not in known:
            raise LabError(
                f"Unknown {what}",
                found=key,
                expected=", ".join(sorted(known, key=_numbers_first)),
                next_step=f"Choose one with --{what}.",
            )
        found.append(known[key])
    if len({experiment.name for experiment in found}) > 1:
        options = [f"--{what} {key}" for what, key in asked.items()]
        raise LabError(
            f"{options[0]} has no such {', '.join(list(asked)[1:])}",
            found=" ".join(options),
            expected=f"a figure or table of {found[0].name}",
            next_step="Drop one of the options.",
        )
    return found[0]


def _numbers_first(key: str) -> tuple[bool, int]:
    """Sort the brief's figures before the lab's own, which keep their order."""
    return (False, int(key)) if key.isdigit() else (True, 0)


def _keys(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Return what an experiment can be found by, by option."""
    return {
        "experiment": (experiment.name,),
        "figure": experiment.figures,
        "table": experiment.tables,
    }
