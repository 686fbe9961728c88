"""Checks on one long run, second by second, and on how well short parts represent it.

Intervals come from `series`, within a run, as neighbouring seconds are correlated.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.stability import analysis as stability
from ndblab.experiments.stability import checkpoint_cost as cost
from ndblab.experiments.stability.checkpoints import LEAST_GAP_S
from ndblab.experiments.stability.checks.conditions import NEAR, WINDOWS_S, at_best, written
from ndblab.formatting import count, significant
from ndblab.judging.checks import check
from ndblab.judging.evidence import Evidence, at, p95_widened
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import INCONCLUSIVE, Comparison, Finding, decide
from ndblab.statistics import series
from ndblab.statistics.estimate import Estimate

SECOND_QUERIES = 1_650_000
"""Queries of a second in the middle of the published band."""
# No trend per hour is estimated from less than this.
TREND_S = 600
# What the source of R-long calls a short run.
SHORT_S = 30

Samples = pd.DataFrame
Values = Callable[[Samples, int], list[Comparison]]
"""From the samples of one run, and the number of runs, to comparisons."""


@check("F1-sustained", "F1-p95-range")
def central_range(claim: Claim, evidence: Evidence) -> Finding:
    """Compare both ends of the central 95 % of seconds: of throughput, or of p95 over its mean."""
    of_p95 = claim.id == "F1-p95-range"

    def values(samples: Samples, runs: int) -> list[Comparison]:
        seconds, unit = samples["qps"], "queries/s"
        if of_p95:
            seconds, unit = samples["latency_p95_ms"], "times its mean"
        tests = []
        for name, end in zip(("low", "high"), stability.RANGE, strict=True):
            label = f"{unit} at the {name} end of the central 95 % of seconds"
            quantile = partial(series.quantile, seconds, end, of_mean=of_p95)
            test = Comparison.one_of(len(stability.RANGE) * runs, label, quantile)
            tests.append(test.changed(p95_widened) if of_p95 else test)
        return tests

    return _each_run(claim, evidence, "p95 is" if of_p95 else "throughput is", values)


@check("F1-max", "F1-floor")
def extreme_second(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the highest or lowest second with the middle of the central 95 % of seconds.

    Both are those of this run, and exact.
    """
    subject = "best" if claim.id == "F1-max" else "worst"

    def values(samples: Samples, _: int) -> list[Comparison]:
        qps = samples["qps"]
        middle = qps.quantile(list(stability.RANGE)).mean()
        value = float((qps.max() if claim.id == "F1-max" else qps.min()) / middle)
        label = f"times the middle of the band, {significant(middle)} queries/s"
        return [Comparison(label, Estimate(value, value, value))]

    return _each_run(claim, evidence, f"the {subject} second has", values)


@check("F1-p95-mean")
def mean_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the mean of one-second p95."""

    def values(samples: Samples, runs: int) -> list[Comparison]:
        mean = partial(series.mean, samples["latency_p95_ms"])
        test = Comparison.one_of(runs, "ms, mean of all seconds", mean)
        return [test.changed(p95_widened)]

    return _each_run(claim, evidence, "p95 is", values)


@check("F1-stable")
def steady_throughput(claim: Claim, evidence: Evidence) -> Finding:
    """Compare half the width of the central 95 % of seconds.

    The same is shown for windows with as many queries as a second of the source has: the fewer are
    counted, the more a count varies. An hour on a small host has too few such windows to judge.
    """
    share = stability.CENTRAL_SHARE

    def values(samples: Samples, runs: int) -> list[Comparison]:
        band = partial(series.band, samples["qps"], share, 1.0)
        tests = [Comparison.one_of(runs, "of its middle for 95 % of seconds", band)]
        number = samples["qps"].cumsum() // SECOND_QUERIES
        alike = samples["qps"].groupby(number).mean().iloc[:-1]
        if len(alike) > 1:
            wide = Estimate(series.band(alike, share).value)
            label = f"for 95 % of {len(alike)} windows with as many queries as the source's second"
            tests.append(Comparison(label, wide, judged=False))
        return tests

    return _each_run(claim, evidence, "throughput stays within plus or minus", values)


@check("F1-drift")
def drift(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the trend of throughput over the run."""
    shortest = float(at_best(evidence)["duration_s"].min())
    if shortest < TREND_S:
        raise MissingData(f"a run of {shortest:.0f} s is too short for a trend")

    def values(samples: Samples, runs: int) -> list[Comparison]:
        trend = partial(series.trend, samples["qps"], 1.0)
        return [Comparison.one_of(runs, "percent per hour", trend)]

    return _each_run(claim, evidence, "throughput changes by", values)


@check("W-warmup")
def short_measurement(claim: Claim, evidence: Evidence) -> Finding:
    """Judge the share of 2-minute windows near the mean of the run; show that of 1-minute ones."""

    def values(samples: Samples, runs: int) -> list[Comparison]:
        tests = []
        for seconds in WINDOWS_S:
            share = partial(series.windows_share, samples["qps"], seconds, NEAR)
            label = f"of windows of {seconds} s"
            test = Comparison.one_of(runs, label, share)
            tests.append(replace(test, judged=seconds == WINDOWS_S[0]))
        return tests

    subject = f"the mean throughput is within {100 * NEAR:g} % of that of the whole run in a share"
    return _each_run(claim, evidence, subject, values)


@check("R-long")
def long_and_short(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the longest run with writes and its repeats with their seconds outside checkpoints.

    The source blames checkpoints for what a long run loses. A run between two of them is its short
    run: there are as many as there are checkpoints, each beside the checkpoint that it is compared
    with. The first seconds of the longest run, literally a short run, are only shown: there is just
    one, with the noise of one. The CPU that checkpoints take is shown, too.
    """
    runs = written(evidence)
    repeats = cost.of_longest(runs, evidence.dataset.tables)
    tests = [
        Comparison("times that between local checkpoints", cost.kept(repeats.throughput)),
        *_shown(repeats),
    ]
    row, many = repeats.longest.row, len(repeats.runs)
    spans = count(sum(len(run.spans) for run in repeats.runs), "local checkpoint")
    of_runs = "" if many == 1 else f"{many} runs of "
    point = at(int(row["servers"]), int(row["clients"]))
    cycles = count(len(repeats.throughput), "cycle")
    note = f"{point}, {spans} in {of_runs}{row['duration_s']:.0f} s, compared in {cycles}, "
    note += f"with those less than {LEAST_GAP_S:g} s apart in one"
    return decide(claim, "the throughput of the whole run is", tests, note)


def _shown(repeats: cost.Repeats) -> list[Comparison]:
    """Return the long run over its first seconds, and the CPU of checkpoints; not judged."""
    comparisons = []
    qps = repeats.longest.samples["qps"]
    if len(qps) > SHORT_S:
        value, low, high = series.prefix_ratio(qps, SHORT_S)
        inverse = Estimate(1 / value, 1 / high, 1 / low if low > 0 else math.inf)
        label = f"times that of its first {SHORT_S} s"
        comparisons.append(Comparison(label, inverse, judged=False))
    with contextlib.suppress(MissingData):
        label = "of the data nodes' CPU goes to checkpoints"
        comparisons.append(Comparison(label, cost.taken(repeats), judged=False))
    return comparisons


def _each_run(claim: Claim, evidence: Evidence, subject: str, values: Values) -> Finding:
    """Judge every run by its own samples."""
    runs = at_best(evidence)
    tests = []
    for _, run in runs.iterrows():
        samples = stability.samples(run, evidence.dataset.intervals)
        if samples.empty:
            raise MissingData("no samples of the run were recorded")
        comparisons = values(samples, len(runs))
        label = f" in {run['run_id']}" if len(runs) > 1 else ""
        tests += [replace(test, label=test.label + label) for test in comparisons]
    shortest = float(runs["duration_s"].min())
    servers, clients = int(runs["servers"].iloc[0]), int(runs["clients"].iloc[0])
    note = f"{at(servers, clients)}, {count(len(runs), 'run')} of {shortest:.0f} s"
    finding = decide(claim, subject, tests, note)
    if finding.verdict == INCONCLUSIVE and not finding.measured.bounded:
        return replace(finding, why="too few seconds for an interval")
    return finding
