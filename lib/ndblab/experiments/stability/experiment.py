"""How steady a cluster is over an hour, and what its checkpoints take."""

from __future__ import annotations

from ndblab.design import grids
from ndblab.design.experiment import Experiment
from ndblab.experiments.stability import control
from ndblab.planning import workload

EXPERIMENTS = (
    Experiment(
        "stability",
        "How steady is the cluster over an hour?",
        "04_stability.ipynb",
        figures=("1",),
        claims=("F1-", "W-warmup"),
        grid=grids.one_point,
        probes=(control,),
        sizes={
            "smoke": {"servers": (2,), "clients": (8,), "duration_s": 10},
            "quick": {
                "servers": (16,), "clients": (256,), "repeats": 1, "warmup_s": 10,
                "duration_s": 180,
            },
            "brief": {"servers": (16,), "clients": (1024,), "duration_s": 3600},
        },
    ),
    Experiment(
        "long-run",
        "How much throughput do local checkpoints take from a long run?",
        "15_long_run.ipynb",
        figures=("long-run",),
        claims=("R-long",),
        grid=grids.one_point,
        workload=workload.READ_WRITE,
        sizes={
            "smoke": {"servers": (4,), "clients": (16,), "duration_s": 45},
            "quick": {
                "servers": (4,), "clients": (16,), "repeats": 3, "warmup_s": 10,
                "duration_s": 200,
            },
            "brief": {"servers": (16,), "clients": (1024,), "duration_s": 3600},
        },
        not_attached="it reads checkpoints from the cluster log, which is its administrator's",
    ),
)  # fmt: skip
