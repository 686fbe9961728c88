"""The answers about long runs: the band of one, its drift, and what checkpoints take from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.stability import analysis as stability
from ndblab.formatting import plain
from ndblab.judging.answer import Clause
from ndblab.judging.answers import answers

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("stability")
def steadiness(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how wide the band of the run is, and whether it drifts."""
    duration_s = stability.longest(dataset.runs)["duration_s"]
    during = f"in {plain(float(duration_s))} s"
    return [
        Clause(
            "F1-stable",
            f"{during}, 95 % of seconds stay within {{value_pct}} {{interval_pct}} of the middle "
            "of throughput",
            f"{during}, 95 % of seconds stay only within {{value_pct}} {{interval_pct}} of the "
            "middle of throughput",
            "how steady throughput is",
        ),
        Clause(
            "F1-drift",
            "throughput does not drift ({value} % per hour)",
            "throughput drifts by {value} % per hour {interval}",
            "whether throughput drifts ({low} to {high} % per hour)",
        ),
        Clause(
            "W-warmup",
            "measuring for two minutes is enough",
            "measuring for two minutes is not enough here",
            "whether measuring for two minutes is enough",
        ),
    ]


@answers("long-run")
def checkpoints(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how the throughput of a long run with writes compares with that between checkpoints."""
    published = dict(zip(table["id"], table["published"], strict=True))
    duration_s = float(stability.longest(dataset.runs)["duration_s"])
    run = f"a run of {plain(duration_s)} s"
    kept = f"{run} has {{value}} times {{interval}} its throughput between local checkpoints"
    return [
        Clause(
            "R-long",
            kept,
            f"{kept}; published for more than an hour: {published.get('R-long')}",
            "whether an hour is a tenth slower than a short run (checkpoints leave {value_pct} "
            "{interval_pct} of the throughput between them)",
        ),
    ]
