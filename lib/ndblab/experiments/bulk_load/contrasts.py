"""Bulk loads: the ways to load rows, and the redo log: points and contrasts.

In: an experiment and a profile. Out: points and contrasts. Pure.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from ndblab.design.contrast import ALTERNATION, STARTS, Contrast, Side
from ndblab.design.swept import REDO_SMALL
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.workload import BULK_LOAD, INSERTS, LOAD_LOCAL, NDB_IMPORT
from ndblab.statistics.sequential import LOOKS

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.design.experiment import Experiment
    from ndblab.planning.profile import Profile


def every_way(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Every way with every number of connections.

    ndb_import, which needs none, and LOAD DATA LOCAL, which is slow, only with the most.
    """
    swept = [variant.name for variant in experiment.variants if not variant.contrasts_only]
    return tuple(
        _point(size, name, clients)
        for name, clients in product(swept, size.clients)
        if name not in (NDB_IMPORT, LOAD_LOCAL) or clients == max(size.clients)
    )


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """INSERTs with a small redo log against the usual one; other ways against LOAD DATA.

    A full redo log is a temporary error, and only an INSERT can be tried again. What needs other
    clusters comes last. The smoke profile has nothing else.
    """
    small, inserts, imported, local, usual = (
        Side(_point(size, name))
        for name in (REDO_SMALL, INSERTS, NDB_IMPORT, LOAD_LOCAL, DEFAULT_VARIANT)
    )
    ways = (
        Contrast("import", ALTERNATION, imported, usual, (), blocks=LOOKS[0]),
        Contrast("local", ALTERNATION, local, usual, (), blocks=LOOKS[0]),
    )
    redo = Contrast("redo", STARTS, small, inserts, ("B-load-redo",))
    return (redo,) if size.name == "smoke" else (*ways, redo)


def _point(size: Profile, variant: str, clients: int = 0) -> Point:
    return Point(1, clients or max(size.clients), workload=BULK_LOAD, variant=variant)
