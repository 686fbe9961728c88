"""How long a dump takes, and what compression saves."""

from __future__ import annotations

from ndblab.design import grids
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.experiments.dump import DUMP, GZIP, UNCOMPRESSED, ZSTD

READ_BACK_ROWS_PER_S = 110_000
"""Rate of reading a dump back, as observed on 2 CPUs."""
_ONE_CLIENT = {"servers": (1,), "clients": (1,), "warmup_s": 0}


EXPERIMENTS = (
    Experiment(
        "dump",
        "How long does a dump take, and what does compression save?",
        "17_dump.ipynb",
        figures=("dump",),
        claims=("M-zstd",),
        grid=grids.every_variant,
        workload=DUMP,
        sizes={
            "smoke": {**_ONE_CLIENT, "duration_s": 1},
            "quick": {**_ONE_CLIENT, "repeats": 5, "duration_s": 11, "table_size": 100_000},
            "brief": {**_ONE_CLIENT, "repeats": 5, "duration_s": 110, "table_size": 1_000_000},
        },
        variants=(
            Variant(options={"compression": UNCOMPRESSED}),
            Variant("zstd", options={"compression": ZSTD}),
            Variant("gzip", options={"compression": GZIP}),
        ),
        budget="shared",
        overhead_s=lambda size, point: size.rows / READ_BACK_ROWS_PER_S,
    ),
)
