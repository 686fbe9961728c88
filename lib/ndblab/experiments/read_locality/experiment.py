"""Which kinds of tables and settings keep reads on the nearest data node."""

from __future__ import annotations

import functools
from itertools import product

import pandas as pd

from ndblab.design.contrast import ALTERNATION, ENOUGH, Contrast, Length
from ndblab.design.experiment import Experiment
from ndblab.design.swept import Swept
from ndblab.design.variant import Variant
from ndblab.experiments.read_locality import probe
from ndblab.experiments.read_locality.analysis import FULLY_REPLICATED, PRIMARY_ONLY, READ_BACKUP
from ndblab.planning import profile
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.profile import Profile
from ndblab.planning.workload import POINT_SELECT, READ_ONLY

_NO_SCANS = {"range-selects": "off"}
_NO_STATISTICS = {"ndb_index_stat_enable": "OFF"}
"""Else servers read index statistics for minutes after a start, and count these rows as read."""
_variant = functools.partial(Variant, options=_NO_SCANS, my_cnf=_NO_STATISTICS)
COMMENTS = {
    READ_BACKUP: "COMMENT='NDB_TABLE=READ_BACKUP=1'",
    PRIMARY_ONLY: "COMMENT='NDB_TABLE=READ_BACKUP=0'",
    FULLY_REPLICATED: "COMMENT='NDB_TABLE=READ_BACKUP=1,FULLY_REPLICATED=1'",
}
"""Options of each kind of tables; READ_BACKUP=1 is NDB's default."""
DOMAINS, DOMAINS_PRIMARY = "domains", "domains-primary-only"
"""Variants with location domains. The others are named after their tables; in the default one,
which has READ_BACKUP=1 too, no server knows its data node."""
LOOKUPS = "lookups"
"""Prefix of the name of a contrast of lookups without transactions."""


def grid(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return all servers under single lookups and ten in a transaction, in every variant."""
    names = [variant.name for variant in experiment.variants if not variant.contrasts_only]
    return tuple(
        Point(max(size.servers), clients, workload=workload, variant=name)
        for workload, clients, name in product((POINT_SELECT, READ_ONLY), size.clients, names)
    )


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Return the claims' contrasts, in transactions; then those that no claim waits for.

    Both sides have as many clients as give the default variant its best throughput. The smoke
    profile has only the claims' contrasts.
    """
    servers = max(size.servers)
    transactions, lookups = Swept(size, points, READ_ONLY), Swept(size, points, POINT_SELECT)

    def compared(swept: Swept, name: str, a: str, b: str, *claims: str) -> Contrast:
        best = swept.best(servers)
        sides = (swept.point(servers, best, variant) for variant in (a, b))
        return Contrast(name, ALTERNATION, *sides, claims, blocks=ENOUGH)

    claimed = (
        compared(transactions, READ_BACKUP, READ_BACKUP, PRIMARY_ONLY, "C-read-backup"),
        compared(
            transactions, FULLY_REPLICATED, FULLY_REPLICATED, READ_BACKUP, "C-fully-replicated"
        ),
        compared(transactions, DOMAINS, DOMAINS, DOMAINS_PRIMARY, "C-location"),
    )
    if size.name == "smoke":
        return claimed
    return (
        *claimed,
        compared(lookups, f"{LOOKUPS}-{READ_BACKUP}", READ_BACKUP, PRIMARY_ONLY),
        compared(lookups, f"{LOOKUPS}-{FULLY_REPLICATED}", FULLY_REPLICATED, READ_BACKUP),
        compared(lookups, f"{LOOKUPS}-told", READ_BACKUP, DEFAULT_VARIANT),
    )


EXPERIMENTS = (
    Experiment(
        "read-locality",
        "Which settings keep reads on the nearest data node?",
        "16_read_locality.ipynb",
        figures=("read-locality",),
        claims=("C-",),
        grid=grid,
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
            _variant(table_options=COMMENTS[READ_BACKUP]),
            *(
                _variant(kind, table_options=comment, neighbours=True)
                for kind, comment in COMMENTS.items()
            ),
            *(
                _variant(name, {"domains": True}, table_options=COMMENTS[kind], contrasts_only=True)
                for name, kind in ((DOMAINS, READ_BACKUP), (DOMAINS_PRIMARY, PRIMARY_ONLY))
            ),
        ),
        contrasts=contrasts,
        probes=(probe,),
    ),
)  # fmt: skip
