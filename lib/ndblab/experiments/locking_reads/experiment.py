"""Which locks reads take on InnoDB."""

from __future__ import annotations

from ndblab.design import grids
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.experiments.locking_reads import LOCKING_READS

_FEW_ROWS = {
    "servers": (1,), "clients": (1,), "warmup_s": 0, "duration_s": 1, "tables": 1,
    "table_size": 200,
}  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "locking-reads",
        "Which locks do reads take on InnoDB?",
        "18_locking_reads.ipynb",
        figures=("locks",),
        claims=("L-",),
        grid=grids.one_point,
        workload=LOCKING_READS,
        sizes={
            "smoke": _FEW_ROWS,
            "quick": {**_FEW_ROWS, "repeats": 3},
            "brief": {**_FEW_ROWS, "repeats": 3},
        },
        variants=(Variant(my_cnf={"performance_schema": "ON"}),),
        budget="shared",
    ),
)
