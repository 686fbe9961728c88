"""The queries of TPC-H with pushed joins and without: points and contrasts.

In: an experiment and a profile. Out: points and contrasts. Pure.

Both variants use one cluster: pushing joins is a setting of the client's session.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.experiments.tpc_h.analysis import PUSHED, UNPUSHED, contrast_name
from ndblab.planning.point import Point
from ndblab.planning.workload import of_query
from ndblab.statistics.sequential import LOOKS

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.design.experiment import Experiment
    from ndblab.planning.profile import Profile

QUERIES = range(1, 23)
BRIEFEST = (3, 6, 20)
"""The queries of the smoke profile: of several tables, of one, and with subqueries."""


def every_query(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Every query in both variants, one client at one server."""
    return tuple(_point(*each) for each in product(_queries(size), (PUSHED, UNPUSHED)))


def join_pushdown(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Each query with pushed joins against the same without; no claim waits for them."""
    return tuple(
        Contrast(
            contrast_name(number), ALTERNATION, Side(_point(number, PUSHED)),
            Side(_point(number, UNPUSHED)), (), blocks=LOOKS[1],
        )
        for number in _queries(size)
    )  # fmt: skip


def _queries(size: Profile) -> tuple[int, ...]:
    return BRIEFEST if size.name == "smoke" else tuple(QUERIES)


def _point(number: int, variant: str) -> Point:
    return Point(1, 1, workload=of_query(number), variant=variant)
