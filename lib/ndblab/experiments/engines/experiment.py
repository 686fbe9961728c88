"""Two installations of NDB Cluster or RonDB, compared start by start."""

from __future__ import annotations

import pandas as pd

from ndblab.design import grids
from ndblab.design.contrast import ENOUGH, STARTS, Contrast
from ndblab.design.experiment import Experiment
from ndblab.design.swept import Swept
from ndblab.design.variant import Variant
from ndblab.install import engines
from ndblab.planning import workload
from ndblab.planning.profile import Profile

SECOND_ENGINE = "second-engine"
"""The variant of the second installation."""


def two_engines(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Compare the second engine with the first, start by start.

    The contrast has enough blocks for an interval even if no claim waits for it.
    """
    swept = Swept(size, points, workload.READ_WRITE)
    servers, clients = max(size.servers), max(size.clients)
    return (
        Contrast(
            "indexstat", STARTS, swept.point(servers, clients, SECOND_ENGINE),
            swept.point(servers, clients), ("D-indexstat",), blocks=ENOUGH,
        ),
    )  # fmt: skip


EXPERIMENTS = (
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
        variants=(Variant(), Variant(SECOND_ENGINE, second_engine=True)),
        contrasts=two_engines,
        lacks=engines.lacks,
    ),
)
