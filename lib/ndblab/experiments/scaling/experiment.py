"""The experiments of the brief, and what it left open. Pure."""

from __future__ import annotations

from ndblab.design import grids
from ndblab.design import swept as comparisons
from ndblab.design.contrast import Length
from ndblab.design.experiment import Experiment
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.experiments.network_cost import contrasts as network
from ndblab.planning import cpu_budget, profile

SMALL_SERVER_SHARE = 9 / cpu_budget.BRIEF_CPUS
"""So small that 16 servers with their clients do not use up the SQL side's share: twice 8 servers
may then do twice the work, and whether they do is up to the software."""
SLOWER_SERVER_SHARE = cpu_budget.BRIEF_SERVER_CPUS / cpu_budget.BRIEF_CPUS * 38 / 52
"""As much slower as the slow servers of select-pk-2010: 38 000 reads/s where others did 52 000."""


def _lacks_hosts() -> str:
    from ndblab.hosts import connected

    return connected.lacks()


EXPERIMENTS = (
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
            Variant(comparisons.UNDIVIDED, quotas=NO_QUOTAS, contrasts_only=True),
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
        slices={"quick": Length(1, 2)},
        variants=(
            Variant(),
            Variant(comparisons.UNDIVIDED, quotas=NO_QUOTAS, contrasts_only=True),
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
        contrasts=comparisons.thread_splits, budget="shared",
    ),
    Experiment(
        "network-cost",
        "What does the network between clients, servers and data nodes cost?",
        "20_network_cost.ipynb",
        figures=("network-cost",),
        claims=("N-",),
        grid=network.grid,
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
        shape={"tcp_servers": network.TCP_SERVERS},
        variants=(
            Variant(beside_data=True),
            Variant(network.SERVERS_ELSEWHERE, beside_data=False),
            Variant(network.CLIENTS_BESIDE, beside_data=True, clients_beside=True),
        ),
        contrasts=network.contrasts,
        spare_servers=network.SPARE_SERVERS,
        hosts=network.HOSTS,
        lacks=_lacks_hosts,
    ),
)  # fmt: skip
