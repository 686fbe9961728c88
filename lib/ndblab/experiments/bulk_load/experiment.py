"""How fast rows are loaded, and whether the redo log matters."""

from __future__ import annotations

import functools
from itertools import product

import pandas as pd

from ndblab.design.contrast import ALTERNATION, ENOUGH, STARTS, Contrast, Length, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.experiments.bulk_load import (
    BULK_LOAD,
    INSERTS,
    LOAD_DATA,
    LOAD_LOCAL,
    LOADERS,
    NDB_IMPORT,
)
from ndblab.install import ndb_tools
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.profile import Profile

CHECKED_ROWS_PER_S = 25_000
"""Rate of reading a bulk load back, with its run's other costs included, observed on 2 CPUs."""
REDO_SMALL = "redo-small"
_API_BY_SHM = {"api": {"HostName": "localhost"}}
"""Programs of the NDB API then reach the data nodes by shared memory, as MySQL servers do."""
_READ_FILES = {"secure_file_priv": "/"}
"""A server may then read any file, as LOAD DATA asks it to."""
_variant = functools.partial(Variant, config_ini=_API_BY_SHM, my_cnf=_READ_FILES)
_LOADED = {"servers": (1,), "warmup_s": 0}


def every_way(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return every way with every number of connections.

    ndb_import, which needs none, and LOAD DATA LOCAL, which is slow, have only the largest number.
    """
    swept = [variant.name for variant in experiment.variants if not variant.contrasts_only]
    return tuple(
        _point(size, name, clients)
        for name, clients in product(swept, size.clients)
        if name not in (NDB_IMPORT, LOAD_LOCAL) or clients == max(size.clients)
    )


def contrasts(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Compare INSERTs with a small and the usual redo log, and other ways with LOAD DATA.

    A full redo log is a temporary error, after which only an INSERT can be tried again. The redo
    log's contrast needs other clusters, so it comes last; the smoke profile has no other.
    """
    small, inserts, imported, local, usual = (
        Side(_point(size, name))
        for name in (REDO_SMALL, INSERTS, NDB_IMPORT, LOAD_LOCAL, DEFAULT_VARIANT)
    )
    ways = (
        Contrast("import", ALTERNATION, imported, usual, (), blocks=ENOUGH),
        Contrast("local", ALTERNATION, local, usual, (), blocks=ENOUGH),
    )
    redo = Contrast("redo", STARTS, small, inserts, ("B-load-redo",))
    return (redo,) if size.name == "smoke" else (*ways, redo)


def _point(size: Profile, variant: str, clients: int = 0) -> Point:
    return Point(1, clients or max(size.clients), workload=BULK_LOAD, variant=variant)


EXPERIMENTS = (
    Experiment(
        "bulk-load",
        "How fast are rows loaded, and does the redo log matter?",
        "14_bulk_load.ipynb",
        figures=("bulk-load",),
        claims=("B-load-",),
        grid=every_way,
        workload=BULK_LOAD,
        sizes={
            "smoke": {**_LOADED, "clients": (2,), "duration_s": 1},
            "quick": {
                **_LOADED, "clients": (1, 4), "repeats": 3, "duration_s": 3, "tables": 4,
                "table_size": 10_000,
            },
            "brief": {
                **_LOADED, "clients": (1, 8), "repeats": 5, "duration_s": 200,
                "table_size": 500_000,
            },
        },
        slices={"smoke": Length(0, 1), "quick": Length(0, 4), "brief": Length(0, 200)},
        variants=(
            _variant(options={"way": LOAD_DATA}),
            *(_variant(way, options={"way": way}) for way in LOADERS[1:]),
            _variant(
                REDO_SMALL, {"small_redo": True}, options={"way": INSERTS}, contrasts_only=True
            ),
        ),
        budget="shared",
        overhead_s=lambda size, point: size.rows / CHECKED_ROWS_PER_S,
        contrasts=contrasts,
        lacks=functools.partial(ndb_tools.lacks, "ndb_import"),
    ),
)  # fmt: skip
