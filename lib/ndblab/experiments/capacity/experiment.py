"""Many MySQL servers, predicted from the sweep of one."""

from __future__ import annotations

from ndblab.design.experiment import Experiment

EXPERIMENTS = (
    Experiment(
        "capacity-model",
        "How well does a one-server sweep predict many servers?",
        "05_capacity_model.ipynb",
        figures=("capacity", "bounds", "errors", "bottlenecks", "brief-predicted"),
        claims=(),
        reads=("single-server-scaling", "multi-server-scaling"),
    ),
)  # fmt: skip
