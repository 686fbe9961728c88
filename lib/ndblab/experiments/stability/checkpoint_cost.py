"""What local checkpoints cost the runs of one point, cycle by cycle.

A cycle compares a checkpoint with its own surroundings: what drifts from minute to minute cancels
out, and cycles, unlike seconds, are nearly independent. `data/coverage.csv` shows how often
intervals from cycles hold the truth.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.stability import analysis as stability
from ndblab.experiments.stability import checkpoints as checkpoint_spans
from ndblab.experiments.stability.checkpoints import PARTS, Span, cycles
from ndblab.statistics import estimate, summary
from ndblab.statistics.estimate import Estimate

BEFORE_S, AFTER_S = 3, 10
"""Seconds around the start of a checkpoint that `around_start` shows."""
_ROLES = ("ndbmtd", "mysqld", "sysbench")
_ABOUT_AS_LONG = 0.9
"""Least length of a repeat, as a share of the longest run's: runs of one plan end seconds apart,
and a run that was cut short is not a repeat."""


@dataclass(frozen=True)
class Run:
    """A run with its checkpoints, and its part of the tables."""

    row: pd.Series
    spans: list[Span]
    samples: pd.DataFrame
    processes: pd.DataFrame
    threads: pd.DataFrame

    @property
    def share(self) -> float:
        """Return the share of the run's seconds that lie in a checkpoint."""
        ends_s = self.samples["t_s"].to_numpy(float)
        return float(checkpoint_spans.inside(ends_s, self.spans).mean())

    @cached_property
    def throughput(self) -> pd.DataFrame:
        """Return the cycles of throughput."""
        return cycles(self.samples.set_index("t_s")["qps"], self.spans)

    def cpu_pct(self, role: str) -> pd.DataFrame:
        """Return the cycles of the CPU of all processes of a role together."""
        own = self.processes[self.processes["role"].astype(str) == role]
        by_node = [
            cycles(node.set_index("t_s")["cpu_pct"], self.spans)
            for _, node in own.groupby("node_id", observed=True)
        ]
        if not by_node:
            raise MissingData(f"no CPU of {role} was recorded")
        total = by_node[0].copy()
        total[PARTS] = sum(node[PARTS] for node in by_node)
        return total.dropna()


@dataclass(frozen=True)
class Repeats:
    """Equal runs, longest first, whose cycles count together."""

    runs: list[Run]

    @property
    def longest(self) -> Run:
        """Return the longest of the runs."""
        return self.runs[0]

    @cached_property
    def throughput(self) -> pd.DataFrame:
        """Return the cycles of throughput, by the number of the run and that of the cycle."""
        return pd.concat([run.throughput for run in self.runs], keys=range(len(self.runs)))

    def cpu_pct(self, role: str) -> pd.DataFrame:
        """Return the cycles of the CPU of all processes of a role together, numbered alike."""
        return pd.concat([run.cpu_pct(role) for run in self.runs], keys=range(len(self.runs)))


def of_longest(runs: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> Repeats:
    """Return the longest good run of a dataset and its repeats, with their checkpoints.

    MissingData if no run is good.
    """
    good = summary.good(runs)
    # Verdicts leave disturbed runs out, so these count only where there is nothing else.
    alone = good[~summary.disturbed(good)]
    good = alone if len(alone) else good
    longest = stability.longest(good)
    point = summary.point_columns(good)
    equal = (good[point] == longest[point]).all(axis=1)
    equal &= good["duration_s"] > _ABOUT_AS_LONG * longest["duration_s"]
    ordered = good[equal].sort_values("duration_s", ascending=False, kind="stable")
    return Repeats([of_run(row, tables) for _, row in ordered.iterrows()])


def of_run(row: pd.Series, tables: Mapping[str, pd.DataFrame]) -> Run:
    """Return a run with its checkpoints, and with its CPU if `tables` hold it."""
    own = {
        name: tables[name][tables[name]["run_id"].astype(str) == row["run_id"]]
        if name in tables
        else pd.DataFrame(columns=["run_id", "t_s", "event", "role", "node_id", "thread"])
        for name in ("events", "processes", "ndb_threads")
    }
    samples = stability.samples(row, tables["intervals"])
    run_s = float(samples["t_s"].max()) if len(samples) else 0.0
    spans = checkpoint_spans.of_run(own["events"], run_s)
    return Run(row, spans, samples, own["processes"], own["ndb_threads"])


def kept(cycles: pd.DataFrame, part: str = "whole") -> Estimate:
    """Return a part over that outside checkpoints: 0.95 of the whole means that these take 5 %.

    Cycles are weighted by their length, as joined checkpoints make some of them long: it is the
    ratio of the sums over all, with its jackknife interval (Efron and Tibshirani 1993). With equal
    weights, short cycles would hide most of what checkpoints take where these fill most of the
    time; the interval then held the truth in half of simulated hours. MissingData if there
    is no cycle, or one of them stands still.
    """
    if cycles.empty:
        raise MissingData("no local checkpoint with time before and after it")
    if not (cycles[PARTS] > 0).all(axis=None):
        raise MissingData("a cycle of a checkpoint stands still")
    length_s = cycles["end_s"] - cycles["begin_s"]
    own, outside = ((cycles[name] * length_s).to_numpy(float) for name in (part, "outside"))
    log = float(np.log(own.sum() / outside.sum()))
    number = len(cycles)
    if number < 2:
        return Estimate(math.exp(log))
    without = np.log((own.sum() - own) / (outside.sum() - outside))
    error = math.sqrt((number - 1) * float(without.var()))
    half = float(estimate.t(number - 1)) * error
    return Estimate(*(math.exp(x) for x in (log, log - half, log + half)))


def taken(repeats: Repeats) -> Estimate:
    """Return the share of the data nodes' CPU that goes to checkpoints.

    It is what they use beyond the CPU per query that they need outside checkpoints.
    MissingData if there is no cycle with throughput and CPU.
    """
    cpu_pct, qps = repeats.cpu_pct("ndbmtd"), repeats.throughput
    both = cpu_pct.join(qps, rsuffix="_qps", how="inner")
    both = both[(both["whole"] > 0) & (both["outside_qps"] > 0)]
    if both.empty:
        raise MissingData("no cycle of a checkpoint has both throughput and CPU")
    per_query = both["outside"] / both["outside_qps"]
    return estimate.mean(1 - per_query * both["whole_qps"] / both["whole"])


def describe_taken(repeats: Repeats) -> str:
    """Say how much of the data nodes' CPU goes to checkpoints."""
    try:
        share = taken(repeats)
    except MissingData as missing:
        return f"What checkpoints take of the data nodes' CPU is not known: {missing}."
    between = f" ({100 * share.low:.1f} to {100 * share.high:.1f} %)" if share.bounded else ""
    return (
        "Beyond the CPU per query that they need outside checkpoints, the data nodes use "
        f"{100 * share.value:.1f} %{between} of their CPU: it goes to checkpoints."
    )


def inside_and_outside(repeats: Repeats) -> pd.DataFrame:
    """Return throughput and the CPU of each role, inside and outside checkpoints.

    Returns
    -------
    `quantity`, `inside`, `outside` (means over cycles by their length; CPU in percent of one
    logical CPU, all processes of a role together), `ratio` of the two with `low` and `high`, as
    `kept` has it.
    """
    tables = {"throughput, queries/s": repeats.throughput}
    for role in _ROLES:
        with contextlib.suppress(MissingData):
            tables[f"CPU of {role}, percent"] = repeats.cpu_pct(role)
    rows = []
    for name, table in tables.items():
        with contextlib.suppress(MissingData):
            ratio, length_s = kept(table, "inside"), table["end_s"] - table["begin_s"]
            means = np.average(table[["inside", "outside"]], axis=0, weights=length_s)
            rows.append([name, *means, *ratio])
    columns = ["quantity", "inside", "outside", "ratio", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def threads(repeats: Repeats) -> pd.DataFrame:
    """Return the CPU of each kind of NDB thread inside and outside checkpoints.

    Returns
    -------
    `thread`, `threads`, `inside_pct` and `outside_pct` (mean of a thread, percent of one logical
    CPU). A sample may be half a second off.
    """
    parts = [
        run.threads.assign(
            part=checkpoint_spans.inside(run.threads["t_s"].to_numpy(float), run.spans)
        )
        for run in repeats.runs
        if len(run.threads)
    ]
    if not parts:
        return pd.DataFrame(columns=["thread", "threads", "inside_pct", "outside_pct"])
    table = pd.concat(parts, ignore_index=True)
    kind, part = table["thread"].astype(str), table["part"]
    pct = table["os_user_pct"] + table["os_system_pct"]
    distinct = table[["node_id", "thr_no"]].assign(thread=kind).drop_duplicates()
    means = {
        "threads": distinct.groupby("thread").size(),
        "inside_pct": pct[part > 0].groupby(kind).mean(),
        "outside_pct": pct[part == 0].groupby(kind).mean(),
    }
    return pd.DataFrame(means).rename_axis("thread").reset_index()


def around_start(repeats: Repeats) -> pd.DataFrame:
    """Return throughput second by second around the start of a checkpoint, over that outside.

    Returns
    -------
    `second` since the start (the sample that covers most of it), `checkpoints`, `ratio` to the
    mean of the same cycle outside checkpoints, with `low` and `high`.
    """
    columns = ["second", "checkpoints", "ratio", "low", "high"]
    if repeats.throughput.empty:
        return pd.DataFrame(columns=columns)
    every = pd.concat([part for run in repeats.runs for part in _around_starts(run)])
    near = every[every["second"].between(-BEFORE_S, AFTER_S - 1)]
    rows = [
        [int(second), len(ratios), *estimate.mean(ratios)]
        for second, ratios in near.groupby("second")["ratio"]
    ]
    return pd.DataFrame(rows, columns=columns)


def _around_starts(run: Run) -> list[pd.DataFrame]:
    """Return each cycle's seconds since its checkpoint began, and their ratio to those outside."""
    middle_s = run.samples["t_s"] - 0.5
    begins = [span.begin_s for span in checkpoint_spans.apart(run.spans)]
    parts = []
    for row in run.throughput.itertuples():
        own = middle_s.between(row.begin_s, row.end_s)
        begin_s = next(at for at in begins if row.begin_s < at < row.end_s)
        second = np.floor(middle_s[own] - begin_s).astype(int)
        ratio = run.samples.loc[own, "qps"] / row.outside
        parts.append(pd.DataFrame({"second": second, "ratio": ratio}))
    return parts
