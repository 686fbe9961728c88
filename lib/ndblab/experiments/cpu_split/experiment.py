"""How CPUs are best divided between data nodes and MySQL servers.

The brief gives its data nodes a quarter of the CPUs, and tries no other division. Here quotas
divide them in several ways, on one running cluster. No server has a quota of its own: what is
compared is the division alone.
"""

from __future__ import annotations

import pandas as pd

from ndblab.design import grids
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.swept import Swept
from ndblab.design.variant import NO_QUOTAS, UNDIVIDED, Variant
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.planning.profile import Profile
from ndblab.statistics.sequential import LOOKS

QUARTER_PCT = 25
"""Percent of the CPUs that the brief gives its data nodes."""
SHARES_PCT = (10, 17, QUARTER_PCT, 35, 50)
"""Shares that are compared: each about 1.4 to 1.7 times the one before it."""
DATA_NODES = 2
BLOCKS = LOOKS[1]
"""Blocks of each contrast, whether or not the claim is decided: two looks."""


def variant(pct: int) -> str:
    """Return the name of the variant with this share for data nodes.

    >>> variant(25), variant(10)
    ('default', 'split-10')
    """
    return DEFAULT_VARIANT if pct == QUARTER_PCT else f"split-{pct}"


def contrast(pct: int) -> str:
    """Return the name of the contrast of a quarter with another share."""
    return f"{QUARTER_PCT}-over-{pct}"


def divisions(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Compare a quarter with every other share, each with its own best number of clients."""
    servers = max(size.servers)

    def best(pct: int) -> Side:
        swept = Swept(size, points, variant=variant(pct))
        return swept.point(servers, swept.best(servers), variant(pct))

    return tuple(
        Contrast(
            contrast(pct), ALTERNATION, best(QUARTER_PCT), best(pct), ("B-split",), blocks=BLOCKS
        )
        for pct in SHARES_PCT
        if pct != QUARTER_PCT
    )


def _divided(pct: int) -> Variant:
    share = pct / 100
    quotas = {"mysqld": None, "ndbmtd": share / DATA_NODES, "sql": 1 - share}
    return Variant(variant(pct), quotas=quotas)


EXPERIMENTS = (
    Experiment(
        "cpu-split",
        "Which division of CPUs between data nodes and MySQL servers gives most?",
        "24_cpu_split.ipynb",
        figures=("cpu-split",),
        claims=("B-split",),
        grid=grids.every_variant,
        sizes={
            "smoke": {"servers": (2,), "clients": (8, 16)},
            "quick": {"servers": (4,), "clients": (16, 32, 64), "repeats": 3, "duration_s": 3},
            "brief": {"servers": (16,), "clients": (512, 1024), "repeats": 3},
        },
        variants=(
            *map(_divided, sorted(SHARES_PCT, key=lambda pct: pct != QUARTER_PCT)),
            Variant(UNDIVIDED, quotas=NO_QUOTAS),
        ),
        budget="scaled",
        contrasts=divisions,
    ),
)
