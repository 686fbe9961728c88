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
            f"{during}, throughput stayed within {{value_pct}} of its middle in 95 % of seconds "
            "{interval_pct}",
            f"{during}, throughput stayed only within {{value_pct}} of its middle in 95 % of "
            "seconds {interval_pct}",
            "how steady throughput is",
        ),
        Clause(
            "F1-drift",
            "throughput did not drift ({value} % an hour)",
            "throughput drifted by {value} % an hour {interval}",
            "whether throughput drifts ({low} to {high} % an hour)",
        ),
        Clause(
            "W-warmup",
            "two minutes of measurement are enough",
            "only {value_pct} of two-minute windows were within 3 % of the run's mean here",
            "whether two minutes of measurement are enough",
        ),
    ]


@answers("long-run")
def checkpoints(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how the throughput of a long run with writes compares with that between checkpoints."""
    published = dict(zip(table["id"], table["published"], strict=True))
    duration_s = float(stability.longest(dataset.runs)["duration_s"])
    cost = f"in {plain(duration_s)} s, checkpoints changed throughput by {{change}}"
    return [
        Clause(
            "R-long",
            cost,
            f"{cost}; published for more than an hour: a ratio of {published.get('R-long')}",
            "whether an hour is a tenth slower than a short run (checkpoints: {change})",
        ),
    ]
