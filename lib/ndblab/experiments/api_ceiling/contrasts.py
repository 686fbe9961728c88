"""SQL and the NDB API: key lookups through either, points and contrasts.

In: an experiment and a profile. Out: points and contrasts. Pure.

Both run in turns on one cluster without CPU quotas, so that either uses all CPUs.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.experiments.api_ceiling.analysis import BATCH, SINGLE
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.workload import AT_ONCE, NDB_API, POINT_SELECT
from ndblab.statistics.sequential import LOOKS

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.design.experiment import Experiment
    from ndblab.planning.profile import Profile


def every_interface(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Every number of clients through SQL, and through the NDB API in every variant."""
    names = (DEFAULT_VARIANT, *AT_ONCE)
    return tuple(_point(name, clients) for clients, name in product(size.clients, names))


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """The NDB API against SQL, one lookup at a time, then many at once, with the most clients."""
    most = max(size.clients)
    sql, single, batch = (Side(_point(name, most)) for name in (DEFAULT_VARIANT, *AT_ONCE))
    return (
        Contrast(SINGLE, ALTERNATION, single, sql, ("R-nosql",)),
        Contrast(BATCH, ALTERNATION, batch, sql, (), blocks=LOOKS[0]),
    )


def _point(variant: str, clients: int) -> Point:
    kind = POINT_SELECT if variant == DEFAULT_VARIANT else NDB_API
    return Point(1, clients, workload=kind, variant=variant)
