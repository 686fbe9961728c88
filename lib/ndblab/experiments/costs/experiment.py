"""What one more MySQL server costs: CPU time of a query by role, on undivided CPUs.

Quotas would set the throughput themselves. Without them a query's CPU time is what software and
host need for it. It differs from hour to hour: recordings of one point on hosts of one kind differ
by a factor of up to 2.7 (mysqld, 8 servers, 64 clients). So ratios within a recording say what more
servers cost where each of them has CPUs; microseconds of two recordings do not.
"""

from __future__ import annotations

import pandas as pd

from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.statistics.sequential import LOOKS

EACH, TOTAL = 8, 64
"""Clients of each server, and of all together, at which numbers of servers are compared."""
BRIEF_EACH, BRIEF_TOTAL = 32, 1024
"""The same for the brief's own profile: those of its best throughput, of one server and of 16."""
RISE, FALL = (32, 1), (128, 32)
"""Clients between which one server's throughput rises, and then falls, in the brief (Figure 4)."""
AT_EACH, AT_TOTAL = "most-over-one-each", "most-over-one-total"
RISING, FALLING = "rise", "fall"
"""Names of contrasts."""
BLOCKS = LOOKS[1]
"""Blocks of each contrast: two looks; the quick profile has time for the first at least."""


def compared_at(size: Profile) -> tuple[int, int]:
    """Return the clients of each server, and of all, at which numbers of servers are compared."""
    return (BRIEF_EACH, BRIEF_TOTAL) if size.name == "brief" else (EACH, TOTAL)


def servers_and_clients(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Run one server with every number of clients, and every number of servers with equal clients
    each and in all.

    Points with more clients than the profile has are left out.
    """
    per_server, total = compared_at(size)
    wanted = [(1, clients) for clients in size.clients] if 1 in size.servers else []
    wanted += [(n, clients) for n in size.servers for clients in (n * per_server, total)]
    least = [(max(size.servers), max(size.clients))]
    fit = [(n, clients) for n, clients in wanted if n <= clients <= max(size.clients)]
    return tuple(Point(*pair) for pair in dict.fromkeys(fit or least))


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Compare the most servers with one, at equal clients each and in all; one at more clients."""
    (per_server, total), most = compared_at(size), max(size.servers)
    pairs = {
        AT_EACH: ((most, most * per_server), (1, per_server)),
        AT_TOTAL: ((most, total), (1, total)),
        RISING: ((1, RISE[0]), (1, RISE[1])),
        FALLING: ((1, FALL[0]), (1, FALL[1])),
    }
    return tuple(
        Contrast(name, ALTERNATION, Side(Point(*a)), Side(Point(*b)), (), blocks=BLOCKS)
        for name, (a, b) in pairs.items()
        if a != b and a[0] <= a[1] <= max(size.clients)
    )


EXPERIMENTS = (
    Experiment(
        "costs",
        "What does one more MySQL server cost?",
        "23_costs.ipynb",
        figures=("costs", "costs-one-server"),
        claims=(),
        grid=servers_and_clients,
        sizes={
            "smoke": {"servers": (1, 2), "clients": (1, 8, 64)},
            "quick": {"clients": profile.powers_of_two(256), "repeats": 3, "duration_s": 4},
            "brief": {"clients": profile.powers_of_two(1024), "repeats": 3},
        },
        budget="shared",
        contrasts=contrasts,
    ),
)
