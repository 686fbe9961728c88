"""Read/write transactions, filters and IN lists."""

from __future__ import annotations

from itertools import product

import pandas as pd

from ndblab.design.contrast import ALTERNATION, ENOUGH, LEVEL, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.swept import LEAST_CLIENTS, Swept
from ndblab.design.variant import NO_QUOTAS, UNDIVIDED, Variant
from ndblab.experiments.read_write import FILTERED, IN_KEYS, IN_LISTS
from ndblab.experiments.read_write import analysis as variations
from ndblab.planning import cpu_budget, profile, workload
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.planning.workload import POINT_SELECT, READ_WRITE

HALF_DATA_NODE_SHARE = cpu_budget.BRIEF_DATA_NODE_CPUS / cpu_budget.BRIEF_CPUS / 2


PROCESSES = {"processes-2": 2, "processes-4": 4}
"""Processes of sysbench, by the name of the variant."""
FREE_SERVERS, HALF_NODES = "free-servers", "half-data-nodes"
"""Variants in which only the CPUs of the data nodes limit the load: their share, and half of it."""
MOST_PER_SERVER = 64
"""Clients of a server at the source's top; more only wait."""


def grid(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Run read/write by servers and clients, and its variations with the most servers and clients.

    Filtered ranges, key lookups one by one and by lists of each length have the two largest numbers
    of clients; several processes of sysbench have only the largest.
    """
    most = max(size.servers)
    high = sorted(c for c in size.clients if c >= most)[-2:]
    plain = product(size.servers, size.clients)
    return (
        *(Point(n, c, workload=READ_WRITE) for n, c in plain if n <= c <= MOST_PER_SERVER * n),
        *(
            Point(most, c, workload=READ_WRITE, variant=name)
            for name, processes in PROCESSES.items()
            for c in high[-1:]
            if c >= processes
        ),
        *(Point(most, c, workload=FILTERED) for c in high),
        *(Point(most, c, workload=POINT_SELECT) for c in high),
        *(Point(most, c, workload=IN_LISTS, variant=name) for name in IN_KEYS for c in high),
    )


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Return the contrasts of the claims, then those no claim waits for, which smoke leaves out.

    One server and two, and two and four, are compared with CPUs kept awake: the side with fewer
    servers leaves some of them idle.
    """
    writes, filtered = (Swept(size, points, name) for name in (READ_WRITE, FILTERED))
    most = max(size.servers)
    best, filling = writes.best(most), LEAST_CLIENTS * most
    enough = max(best, filling)
    claimed = (
        Contrast(
            variations.DATA_NODES, ALTERNATION, writes.point(most, enough, FREE_SERVERS),
            writes.point(most, enough, HALF_NODES), ("R-rw-servers",),
        ),
        Contrast(
            variations.FILTER, ALTERNATION, filtered.point(most, filtered.best(most)),
            writes.point(most, best), ("R-filter-gain",),
        ),
        Contrast(
            variations.UNDIVIDED, LEVEL,
            filtered.point(most, max(filtered.best(most), filling), UNDIVIDED), None,
            ("R-filter-servers",),
        ),
    )  # fmt: skip
    if size.name == "smoke":
        return claimed
    k = writes.saturating()
    singles = Swept(size, points, POINT_SELECT)
    lists = {name: Swept(size, points, IN_LISTS, name) for name in IN_KEYS}
    in_lists = {name: swept.point(most, swept.best(most)) for name, swept in lists.items()}
    length = max(IN_KEYS, key=lambda name: IN_KEYS[name] * lists[name].best_qps(most))
    several, processes = list(PROCESSES.items())[-1]
    all_clients = max(*size.clients, processes)
    return (
        *claimed,
        *(
            _shown(f"servers-{n}-{2 * n}", writes.awake(2 * n, 2 * n * k), writes.awake(n, n * k))
            for n in (1, 2)
            if {n, 2 * n} <= set(size.servers)
        ),
        _shown("in-10-1", in_lists["in-10"], in_lists["in-1"]),
        _shown("in-100-10", in_lists["in-100"], in_lists["in-10"]),
        _shown(variations.LOOKUPS, in_lists[length], singles.point(most, singles.best(most))),
        _shown(
            several, writes.point(most, all_clients, several), writes.point(most, all_clients)
        ),
    )  # fmt: skip


def _shown(name: str, a: Side, b: Side) -> Contrast:
    return Contrast(name, ALTERNATION, a, b, (), blocks=ENOUGH)


EXPERIMENTS = (
    Experiment(
        "read-write",
        "What do more servers, filters and IN lists gain?",
        "10_read_write.ipynb",
        figures=("read-write",),
        claims=("R-rw-", "R-filter-", "R-base-latency"),
        grid=grid,
        workload=workload.READ_WRITE,
        sizes={
            "smoke": {"servers": (1, 2), "clients": (8,), "warmup_s": 0},
            "quick": {"servers": (1, 2, 4), "clients": (1, 4, 16, 32)},
            "brief": {"servers": (1, 2, 4), "clients": profile.powers_of_two(256)},
        },
        variants=(
            Variant(),
            *(Variant(n, options={"in_list": keys}) for n, keys in IN_KEYS.items()),
            *(Variant(n, processes=number) for n, number in PROCESSES.items()),
            Variant(UNDIVIDED, quotas=NO_QUOTAS, contrasts_only=True),
            Variant(FREE_SERVERS, quotas={"mysqld": None}, contrasts_only=True),
            Variant(
                HALF_NODES, contrasts_only=True,
                quotas={"mysqld": None, "ndbmtd": HALF_DATA_NODE_SHARE},
            ),
        ),
        contrasts=contrasts,
    ),
)  # fmt: skip
