"""The answers about long runs: the band of one, its drift, and what checkpoints take from it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.stability import analysis as stability
from ndblab.experiments.stability import checkpoint_cost as cost
from ndblab.experiments.stability import control
from ndblab.experiments.stability.checkpoints import LEAST_GAP_S
from ndblab.formatting import change, count, duration, less_or_more, percent
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, quotas
from ndblab.judging.verdict import CONTRADICTED, DIFFERS, NOT_TESTABLE, REPRODUCED

_WIDE_PCT = 10
"""Width of a band beyond which a run cannot tell small differences from chance."""
_DECIDED = REPRODUCED, CONTRADICTED, DIFFERS


@answers("stability")
def steadiness(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how wide the band of the run is, and whether it drifts."""
    duration_s = stability.longest(dataset.runs)["duration_s"]
    during = f"of {duration(float(duration_s))}"
    return [
        *_band(dataset, table, during),
        Clause(
            "F1-stable",
            f"throughput stayed within {{value_pct}} of its middle in 95 % of the seconds {during} "
            "{interval_pct}",
            "throughput stayed only within {value_pct} of its middle in 95 % of the seconds "
            f"{during} {{interval_pct}}",
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
    taken = f"checkpoints changed throughput by {{change}} over {duration(duration_s)}"
    theirs = change(float(published.get("R-long", math.nan)))
    return [
        *_cost(dataset, table),
        Clause(
            "R-long",
            taken,
            f"{taken}; published, for more than an hour: about {theirs}",
            "whether an hour is a tenth slower than a short run (checkpoints: {change})",
        ),
        *_taken(dataset),
        *_dip(dataset),
    ]


def _band(dataset: Dataset, table: pd.DataFrame, during: str) -> Iterator[str]:
    """Say how close to its mean throughput stayed, and what that demands of a comparison.

    A verdict on F1-stable says the same of its middle. Without a control it has none.
    """
    run = stability.longest(dataset.runs)
    seconds = stability.samples(run, dataset.intervals)
    qps = stability.steadiness(seconds).loc["qps"]
    low, high = (100 * (qps[end] / qps["mean"] - 1) for end in ("low_95", "high_95"))
    speed = control.of_run(dataset.tables["control"], run)
    host = ", the host's part unknown" if speed.empty else ""
    if not table.loc[table["id"] == "F1-stable", "verdict"].isin(_DECIDED).any():
        yield (
            f"{quotas(dataset)}throughput in 95 % of the seconds {during} differed from its mean "
            f"by {low:+.0f} to {high:+.0f} %{host}"
        )
    if not speed.empty:
        slow, fast = (100 * (speed.quantile(end) / speed.mean() - 1) for end in stability.RANGE)
        yield (
            "the host's own speed differed from its mean by "
            f"{slow:+.1f} to {fast:+.1f} % in 95 % of the same seconds"
        )
    if high - low > _WIDE_PCT:
        yield Advice("Compare two settings in turns of seconds, not one run after the other")


def _cost(dataset: Dataset, table: pd.DataFrame) -> Iterator[str]:
    """Say what checkpoints take from throughput where the claim on it cannot be tested."""
    known = (table["id"] == "R-long") & (table["verdict"] == NOT_TESTABLE)
    for row in table[known & (table["low"] < table["high"])].itertuples():
        did = less_or_more(row.measured, row.low, row.high, "lower", "higher")
        cycles = len(cost.of_longest(dataset.runs, dataset.tables).throughput)
        yield (
            f"{quotas(dataset)}throughput was {did} over whole checkpoint cycles than between "
            f"checkpoints, in {count(cycles, 'cycle')}"
        )


def _taken(dataset: Dataset) -> Iterator[str]:
    """Say which share of the data nodes' CPU goes to checkpoints, where some certainly does."""
    with contextlib.suppress(MissingData):
        share = cost.taken(cost.of_longest(dataset.runs, dataset.tables))
        if share.low > 0:
            value, low, high = (percent(100 * end) for end in share)
            of = f"of the data nodes' CPU ({low} to {high} %)"
            yield f"{quotas(dataset)}checkpoints took {value} % {of}"


def _dip(dataset: Dataset) -> Iterator[str]:
    """Say how far throughput falls in the second in which a checkpoint starts."""
    repeats = cost.of_longest(dataset.runs, dataset.tables)
    dip = cost.around_start(repeats)
    every = sum(len(run.spans) for run in repeats.runs)
    for row in dip[(dip["second"] == 0) & (dip["high"] < 1)].itertuples():
        fall = less_or_more(row.ratio, row.low, row.high, less="lower")
        yield (
            f"{quotas(dataset)}throughput was {fall} in a checkpoint's first second, "
            f"in {row.checkpoints} of {every}, each after a gap of at least {LEAST_GAP_S:g} s"
        )
        yield Advice("Measure writes over several whole checkpoints, not over a part of one")
