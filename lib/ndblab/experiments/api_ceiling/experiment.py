"""Key lookups through SQL and through the NDB API."""

from __future__ import annotations

import functools
from itertools import product

import pandas as pd

from ndblab.design.contrast import ALTERNATION, ENOUGH, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.experiments.api_ceiling import AT_ONCE, NDB_API
from ndblab.experiments.api_ceiling.analysis import BATCH, SINGLE
from ndblab.install import ndb_tools
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.profile import Profile
from ndblab.planning.workload import POINT_SELECT

FLEX_ASYNCH_S = 4
"""Extra seconds of a run of flexAsynch, which warms up, cools down and finds its table."""
_API_BY_SHM = {"api": {"HostName": "localhost"}}
"""Programs of the NDB API then reach the data nodes by shared memory, as MySQL servers do."""


def every_interface(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Run every number of clients through SQL, and through the NDB API in every variant."""
    names = (DEFAULT_VARIANT, *AT_ONCE)
    return tuple(_point(name, clients) for clients, name in product(size.clients, names))


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Compare the NDB API with SQL at the most clients: one lookup at a time, then many at once."""
    most = max(size.clients)
    sql, single, batch = (Side(_point(name, most)) for name in (DEFAULT_VARIANT, *AT_ONCE))
    return (
        Contrast(SINGLE, ALTERNATION, single, sql, ("R-nosql",)),
        Contrast(BATCH, ALTERNATION, batch, sql, (), blocks=ENOUGH),
    )


def _point(variant: str, clients: int) -> Point:
    kind = POINT_SELECT if variant == DEFAULT_VARIANT else NDB_API
    return Point(1, clients, workload=kind, variant=variant)


EXPERIMENTS = (
    Experiment(
        "api-ceiling",
        "What do key lookups cost through SQL, and through the NDB API?",
        "13_api_ceiling.ipynb",
        figures=("api-ceiling",),
        claims=("R-nosql",),
        grid=every_interface,
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
                for name, number in AT_ONCE.items()
            ),
        ),
        budget="shared",
        overhead_s=lambda size, point: FLEX_ASYNCH_S * (point.workload == NDB_API),
        contrasts=contrasts,
        lacks=functools.partial(ndb_tools.lacks, "flexAsynch"),
    ),
)  # fmt: skip
