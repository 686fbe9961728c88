"""The queries of TPC-H, with and without joins that the data nodes execute."""

from __future__ import annotations

from itertools import product, starmap

import pandas as pd

from ndblab.design.contrast import ALTERNATION, Contrast, Length, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.experiments.tpc_h import of_query
from ndblab.experiments.tpc_h.analysis import PUSHED, UNPUSHED, contrast_name
from ndblab.experiments.tpc_h.queries import NUMBERS
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.statistics.sequential import LOOKS

BRIEFEST = (3, 6, 20)
"""The queries of the smoke profile: of several tables, of one, and with subqueries."""


def every_query(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return every query in both variants, with one client at one server."""
    return tuple(starmap(_point, product(_queries(size), (PUSHED, UNPUSHED))))


def join_pushdown(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Compare each query with and without pushed joins; no claim waits for these contrasts."""
    return tuple(
        Contrast(
            contrast_name(number), ALTERNATION, Side(_point(number, PUSHED)),
            Side(_point(number, UNPUSHED)), (), blocks=LOOKS[1],
        )
        for number in _queries(size)
    )  # fmt: skip


def _queries(size: Profile) -> tuple[int, ...]:
    return BRIEFEST if size.name == "smoke" else tuple(NUMBERS)


def _point(number: int, variant: str) -> Point:
    return Point(1, 1, workload=of_query(number), variant=variant)


EXPERIMENTS = (
    Experiment(
        "tpc-h",
        "Which queries of TPC-H gain from joins that the data nodes execute?",
        "12_tpc_h.ipynb",
        figures=("tpc-h",),
        claims=("H-",),
        grid=every_query,
        sizes={
            "smoke": {
                "servers": (1,), "clients": (1,), "warmup_s": 0, "duration_s": 1,
                "tables": 8, "table_size": 1_083,
            },
            "quick": {
                "servers": (1,), "clients": (1,), "warmup_s": 0, "duration_s": 1, "repeats": 1,
                "tables": 8, "table_size": 10_830,
            },
            "brief": {
                "servers": (1,), "clients": (1,), "warmup_s": 0, "duration_s": 10,
                "tables": 8, "table_size": 1_082_656,
            },
        },
        slices={"smoke": Length(0, 0.3), "quick": Length(0, 0.5), "brief": Length(0, 10)},
        variants=(Variant(), Variant(UNPUSHED, options={"join-pushdown": 0})),
        budget="shared",
        filled_rows_per_s=1_300,  # both engines, with statistics; observed on 2 CPUs
        contrasts=join_pushdown,
    ),
)  # fmt: skip
