"""How far one MySQL server, and a cluster with more of them, scale; and what limits them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ndblab.design import grids
from ndblab.design.contrast import ALTERNATION, DUET, LEVEL, STARTS, TWINS, Contrast, Length
from ndblab.design.experiment import Experiment
from ndblab.design.swept import Swept
from ndblab.design.variant import NO_QUOTAS, UNDIVIDED, Variant
from ndblab.experiments.scaling import SMALL_SERVERS, THREADS_OF_32, WARM_QUERIES
from ndblab.planning import cpu_budget, profile
from ndblab.workloads import sysbench

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.planning.profile import Profile
    from ndblab.workloads.load_generator import Job


SLOWER_SERVERS, BALANCED = "slower-servers", "balanced-threads"
TCP_CLIENTS, REDO_SMALL = "tcp-clients", "redo-small"
"""Names of variants."""
PAST_PEAK = 32
"""The brief shows NDB threads (Figure 5) at 1024 clients, 32 times those of its server's peak."""
FALL = (128, 32)
"""Clients between which the throughput of one server falls (Figure 4)."""
EQUAL_LOAD = 0.4
"""Share of the lower of two best throughputs that both sides get as their load. They are compared
without quotas, and can do more there than under the quotas of the sweep."""
SMALL_SERVER_SHARE = 9 / cpu_budget.BRIEF_CPUS
"""So small that 16 servers with their clients do not use up the SQL side's share. Each still uses
up its own quota, so that twice 8 of them have twice the CPU by construction."""
SLOWER_SERVER_SHARE = cpu_budget.BRIEF_SERVER_CPUS / cpu_budget.BRIEF_CPUS * 38 / 52
"""As much slower as the slow servers of select-pk-2010: 38 000 reads/s where others did 52 000."""


def one_server(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Compare what may limit one server: its CPU, too many clients, sockets, the redo log.

    The NDB threads of Figure 5 are the brief's 27, and no quota stops them: which of them is the
    busiest is then NDB's own order.
    """
    swept = Swept(size, points)
    most, k = max(size.clients), swept.saturating()
    default, many = swept.point(1, k), min(32, most)
    return (
        Contrast(
            "recv", LEVEL, swept.point(1, min(PAST_PEAK * k, most), THREADS_OF_32), None,
            ("F5-recv-busiest", "F5-no-saturation"),
        ),
        *(
            [Contrast("fall", ALTERNATION, *(swept.point(1, c) for c in FALL), ("F4-degrade",))]
            if most >= max(FALL)
            else []
        ),
        Contrast(
            "load-1-k", ALTERNATION, swept.point(1, many, UNDIVIDED),
            swept.point(1, 1, UNDIVIDED), ("F4-cpu-with-load",),
        ),
        Contrast("sockets", DUET, swept.point(1, k, TCP_CLIENTS), default, ("B-sockets",)),
        Contrast(
            "redo", TWINS, swept.point(1, k, REDO_SMALL), swept.point(1, k, UNDIVIDED),
            ("B-redo",),
        ),
    )  # fmt: skip


def many_servers(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Compare more servers, more clients and fewer CPUs, for the servers that the profile has.

    Contrasts that seldom decide a claim at their first look say so: on 2 CPUs, `slower-servers` did
    2 of 5 times, `servers-8-16` 1 of 5, and the other two never.
    """
    swept = Swept(size, points)
    most, k = max(size.servers), swept.saturating()
    best = {n: swept.best(n) for n in size.servers} | {n: swept.peak(n) for n in (most, 16)}
    rate = max(1, round(swept.best_qps(most) / 2))
    equal = max(1, round(EQUAL_LOAD * min(swept.best_qps(8), swept.best_qps(16))))
    # Few enough clients for each to send WARM_QUERIES, and as many for each of 16 servers.
    warm = int(equal * sum(experiment.slice_length(size)) / WARM_QUERIES)
    few = 16 * max(1, min(best[16], warm) // 16)
    contrasts = (
        *_up_to_four(size, swept, best, k),
        Contrast(
            "servers-8-16", ALTERNATION, swept.awake(16, best[16], SMALL_SERVERS),
            swept.awake(8, best[16] // 2, SMALL_SERVERS), ("F6-8-to-16", "F6-peak"),
            first_look=0.2,
        ),
        Contrast(
            "servers-4-16", ALTERNATION, swept.point(16, best[16]),
            swept.point(4, best.get(4, 4 * k)), ("F6-peak",), first_look=0.1,
        ),
        Contrast(
            "half-load", LEVEL, replace(swept.point(most, best[most]), options={"rate": rate}),
            None, ("F8-steady",), one_slice=True,
        ),
        Contrast(
            "late-8-16", ALTERNATION, swept.point(16, 2 * best[16]), swept.point(8, 2 * best[16]),
            ("F7-8-vs-16-2048",), first_look=0.1,
        ),
        Contrast(
            "early-8-16", ALTERNATION,
            *(
                replace(swept.awake(n, few, UNDIVIDED), options={"rate": equal})
                for n in (16, 8)
            ),
            ("F7-8-vs-16",),
        ),
        Contrast(
            "slower-servers", ALTERNATION, swept.awake(4, 4 * k, SLOWER_SERVERS),
            swept.awake(2, 2 * k, SLOWER_SERVERS), ("P-servers-2-4",), first_look=0.4,
        ),
    )  # fmt: skip
    sides = ((contrast, [s for s in (contrast.a, contrast.b) if s]) for contrast in contrasts)
    return tuple(c for c, both in sides if {s.point.servers for s in both} <= set(size.servers))


def _up_to_four(
    size: Profile, swept: Swept, best: Mapping[int, int], k: int
) -> tuple[Contrast, ...]:
    """Return the contrasts of up to four servers, and those of clients and CPUs with the most.

    `best` has the clients of the best throughput by servers; `k` clients saturate a server.
    """
    most = max(size.servers)
    return (
        Contrast(
            "overload", ALTERNATION, swept.point(most, swept.past(most)),
            swept.point(most, best[most]),
            ("F6-overload", "F9-tc-bottleneck", "B-mgmd-idle"),
        ),
        Contrast(
            "servers-1-2", ALTERNATION, swept.awake(2, 2 * k), swept.awake(1, k),
            ("F6-double-servers", "P-servers-1-2", "F7-doubling", "F6-peak"),
        ),
        Contrast(
            "servers-2-4", ALTERNATION, swept.awake(4, 4 * k), swept.awake(2, 2 * k),
            ("F6-double-servers", "F7-doubling", "F6-peak"),
        ),
        *(
            [Contrast("growth", ALTERNATION, swept.point(1, 64), swept.point(1, 32),
                      ("F7-growth",))]
            if max(size.clients) >= 64
            else []
        ),
        Contrast(
            UNDIVIDED, LEVEL, swept.point(most, best[most], UNDIVIDED), None,
            ("B-less-cpu", "P-tc"), one_slice=True,
        ),
    )  # fmt: skip


def thread_splits(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Compare balanced threads with automatic ones at the peak; count the threads for 32 CPUs."""
    swept = Swept(size, points)
    servers = max(size.servers)
    best = swept.best(servers)
    return (
        Contrast("threads-of-32", LEVEL, swept.point(1, 1, THREADS_OF_32), None, ("F9-threads",)),
        Contrast(
            "balance", STARTS, swept.point(servers, best, BALANCED), swept.point(servers, best),
            ("F9-next-step",),
        ),
    )  # fmt: skip


def _weighed(cluster: Cluster, job: Job) -> dict[str, object]:
    """Fill the tables once more at half the size, to weigh a row."""
    return {"half": sysbench.weigh(cluster, job).to_dict()}


EXPERIMENTS = (
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
            Variant(TCP_CLIENTS, tcp_clients=True, contrasts_only=True),
            Variant(
                REDO_SMALL, {"small_redo": True}, quotas=NO_QUOTAS, contrasts_only=True
            ),
            Variant(UNDIVIDED, quotas=NO_QUOTAS, contrasts_only=True),
            Variant(
                THREADS_OF_32, {"num_cpus": cpu_budget.BRIEF_DATA_NODE_CPUS}, quotas=NO_QUOTAS,
                contrasts_only=True,
            ),
        ),
        contrasts=one_server,
        spare_servers=1,
        after_filling=_weighed,
    ),
    Experiment(
        "multi-server-scaling",
        "How far does one cluster scale with more MySQL servers?",
        "02_multi_server_scaling.ipynb",
        figures=("6", "7", "8", "9"),
        claims=(
            "F6-", "F7-", "F8-", "F9-tc", "F9-send", "F9-recv", "F9-query", "F9-ldm",
            "B-less-cpu", "B-mgmd-idle", "P-servers-", "P-tc",
        ),
        grid=grids.all_servers,
        slices={"quick": Length(1, 2)},
        variants=(
            Variant(),
            Variant(UNDIVIDED, quotas=NO_QUOTAS, contrasts_only=True),
            Variant(SMALL_SERVERS, quotas={"mysqld": SMALL_SERVER_SHARE}, contrasts_only=True),
            Variant(
                SLOWER_SERVERS, contrasts_only=True,
                quotas={"mysqld.3": SLOWER_SERVER_SHARE, "mysqld.4": SLOWER_SERVER_SHARE},
            ),
        ),
        contrasts=many_servers,
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
            Variant(BALANCED, {"balanced_threads": True}),
            Variant(
                THREADS_OF_32, {"num_cpus": cpu_budget.BRIEF_DATA_NODE_CPUS},
                contrasts_only=True,
            ),
        ),
        contrasts=thread_splits, budget="shared",
    ),
)  # fmt: skip
