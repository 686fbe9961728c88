"""How often each kind of interval that the lab prints holds the truth, by simulation.

A 95 % interval should hold the truth in 93 to 97 % of draws. Everything is drawn at random with
fixed seeds, never measured; the intervals are computed by the functions that the lab itself uses.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri

from ndblab.benchmarks import simulations
from ndblab.benchmarks.row import Row, shown
from ndblab.benchmarks.simulations import DEVIATION, PER_QUERY, REPEATS, SECOND, Simulation
from ndblab.judging.evidence import p95_widened
from ndblab.measuring import recorded
from ndblab.statistics import estimate, series

FILE = Path(recorded.ROOT) / "data" / "coverage.csv"
LEAST_PCT, MOST_PCT = 93.0, 97.0


class Case(NamedTuple):
    """One kind of interval; `held` simulates whether each of some intervals holds its truth.

    `reason` says why an interval is conservative; it then may hold the truth more often.
    """

    interval: str
    used_for: str
    units: str
    held: Simulation
    reason: str = ""


def of_intervals() -> list[Row]:
    """Simulate all kinds of intervals, and write their coverage to `data/coverage.csv`."""
    table = simulate()
    table.to_csv(FILE, index=False, lineterminator="\n")
    return [
        Row(
            f"coverage: {row.interval}, {row.units}",
            (row.coverage_pct,),
            "%",
            at_least=LEAST_PCT,
            at_most=None if row.reason or row.coverage_pct < LEAST_PCT else MOST_PCT,
            note=f"{row.used_for}; simulation: {row.low_pct} to {row.high_pct} %"
            + (f"; conservative: {row.reason}" if row.reason else ""),
        )
        for row in table.itertuples()
    ]


def simulate() -> pd.DataFrame:
    """Return the coverage of each kind of interval.

    Returns
    -------
    `interval`, `used_for`, `units`; `coverage_pct` with the simulation's own 95 % interval,
    `low_pct` to `high_pct`; `draws` (independent ones); `reason` why an interval is conservative.
    """
    rows = []
    for number, case in enumerate(shown(cases(), "coverage")):
        held = case.held(np.random.default_rng(number))
        draws_pct = 100 * np.array([np.mean(row) for row in held])
        mean, error = draws_pct.mean(), 1.96 * draws_pct.std(ddof=1) / np.sqrt(draws_pct.size)
        coverage_pct = (mean, max(0.0, mean - error), min(100.0, mean + error))
        rounded = [round(float(pct), 1) for pct in coverage_pct]
        names = case.interval, case.used_for, case.units
        rows.append([*names, *rounded, draws_pct.size, case.reason])
    columns = ["interval", "used_for", "units", "coverage_pct", "low_pct", "high_pct", "draws",
               "reason"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def cases() -> list[Case]:
    """Return all kinds of intervals, with how they are simulated."""
    runs = f"{REPEATS} runs"
    of_runs, lognormal = simulations.of_runs, simulations.lognormal
    histogram = "widened by a step of the histogram of latencies"
    early = "it allows for all looks, also for those after it stopped"
    single = [
        Case("mean of runs", "throughput, CPU of processes", runs,
             of_runs(estimate.positive, lognormal(REPEATS, DEVIATION), 1.0)),
        Case("mean of runs", "CPU time per query", runs,
             of_runs(estimate.positive, lognormal(REPEATS, PER_QUERY), 1.0)),
        Case("mean of runs", "p95", runs,
             of_runs(lambda x: p95_widened(estimate.positive(x)), simulations.p95, 1.0), histogram),
        Case("share of runs", "utilisation of NDB threads", "3 runs",
             of_runs(estimate.share, _utilisations, _utilisation_truth())),
        Case("mean of differences", "kinds of NDB threads", "3 runs",
             of_runs(estimate.mean, lambda rng: rng.normal(0, 1, 3), 0.0)),
        Case("ratio of points", "throughput and p95 of a sweep", f"{runs} a side",
             simulations.ratios),
        Case("ratio of peaks", "best throughput of servers", f"{runs} a point",
             simulations.peaks),
        Case("no loss past the best point", "choice of the best number of clients",
             f"{runs} a point", simulations.no_loss, "corrected for every point that may be best"),
        Case("ratio of pairs", "transporters and variants", "12 pairs",
             simulations.of_pairs([0, 1])),
        Case("ratio of pairs", "transporters and variants", "30 pairs",
             simulations.of_pairs(list(range(simulations.PAIRED)))),
        *(Case("contrast when it stops", f"ratio of {np.exp(effect):.2f}", "4 to 100 blocks",
               simulations.contrast(effect), early if effect else "")
          for effect in (0.0, 0.05, 0.2)),
        Case("parts of a level", "kinds of NDB threads in one side", "all looks to 100 blocks",
             simulations.parts),
    ]  # fmt: skip
    by_cycles = "whole over outside, by cycles"
    checkpoints = [
        Case(by_cycles, "local checkpoints of a long run", "600 s", simulations.checkpoints(600)),
        Case(by_cycles, "checkpoints most of the time", "3600 s",
             simulations.busy_checkpoints(3600)),
    ]  # fmt: skip
    least = "the variance between recordings is never estimated below zero"
    together = [
        Case("several recordings", f"{words} between recordings", f"{number} recordings",
             simulations.recordings(number, between),
             least if number == 2 or not between else "")
        for number in (2, 3, 5)
        for words, between in (("no difference", 0), ("differences of 3 errors", 3),
                               ("differences of 10 errors", 10))
    ]  # fmt: skip
    return [*single, *_of_long_run(3600), *_of_long_run(600), *checkpoints, *together]


def _of_long_run(length: int) -> list[Case]:
    """Return the intervals of a run of so many seconds."""
    ends = np.exp(SECOND * ndtri([0.025, 0.975]))
    middle, window = np.exp(SECOND**2 / 2), 120
    short = "sections of 100 s miss most of what varies slowly, and are widened for the worst case"
    of_run = partial(simulations.of_hour, length=length)
    few = "" if length == 3600 else short
    return [
        Case("trend", "drift of a long run", f"{length} s", of_run(series.trend, 0.0), few),
        Case("mean of seconds", "p95 of a long run", f"{length} s",
             of_run(series.mean, middle)),
        Case("quantile of seconds", "throughput of a long run", f"{length} s",
             of_run(lambda x: series.quantile(x, 0.025), ends[0])),
        Case("quantile over mean", "p95 of a long run", f"{length} s",
             of_run(lambda x: series.quantile(x, 0.975, of_mean=True), ends[1] / middle), few),
        Case("band of seconds", "steadiness of a long run", f"{length} s",
             of_run(series.band, (ends[1] - ends[0]) / (ends[1] + ends[0])), few),
        Case("start over whole run", "starts of 60 s", f"{length} s",
             of_run(lambda x: series.prefix_ratio(x, 60), 1.0)),
        Case("share of windows", f"windows of {window} s", f"{length} s",
             simulations.windows(window, length), few),
    ]  # fmt: skip


def _utilisations(rng: np.random.Generator) -> np.ndarray:
    """Draw utilisations of a tc thread: 5 % of a CPU, from which runs deviate by a tenth."""
    return expit(logit(0.05) + rng.normal(0, DEVIATION, 3))


def _utilisation_truth() -> float:
    nodes = ndtri((np.arange(10_000) + 0.5) / 10_000)
    return float(expit(logit(0.05) + DEVIATION * nodes).mean())
