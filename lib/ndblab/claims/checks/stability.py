"""Checks on one long run, second by second (Figure 1), and on what a short one tells of it.

In: a claim and the evidence of one dataset. Out: a finding. They never read a claim's budgets.
Intervals come from `series`, within a run: neighbouring seconds are alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from ndblab.analysis import series
from ndblab.analysis.formatting import count, significant
from ndblab.claims.checks.registry import check
from ndblab.claims.evidence import P95_STEP, Evidence, at, confidence
from ndblab.claims.publication import Claim
from ndblab.claims.verdict import INCONCLUSIVE, Comparison, Finding, decide
from ndblab.error import MissingData

HOUR_S = 3600
MINUTE_S = 60
# A trend an hour is not read from less than this.
TREND_S = 600
# The warm-up and the length of a run for which the brief says that a start of it is enough.
WARMUP_S, RUN_S, STARTS_S = 120, 300, (60, 120)
# Sources give the range of a curve, not of its every point: the central 95 % of seconds are it.
RANGE = (0.025, 0.975)

# More CPU than this, in percent of the host's, and other work has its part in what is seen: the
# kernel and what a system does of itself take some 3 % beside a full cluster.
QUIET_PCT = 6

Values = Callable[[pd.DataFrame, float], list[Comparison]]


@check("F1-sustained")
def throughput_range(claim: Claim, evidence: Evidence) -> Finding:
    """Take the ends of the central 95 % of one-second throughput."""
    return _each_run(claim, evidence, "throughput is", _range("qps", "queries/s"))


@check("F1-p95-range")
def p95_range(claim: Claim, evidence: Evidence) -> Finding:
    """Take the ends of the central 95 % of one-second p95."""
    return _each_run(claim, evidence, "p95 is", _range("latency_p95_ms", "ms"))


@check("F1-max", "F1-floor")
def extreme_second(claim: Claim, evidence: Evidence) -> Finding:
    """Take the highest or lowest one-second throughput; every second was seen."""
    word, subject = ("highest", "best") if claim.id == "F1-max" else ("lowest", "worst")

    def values(samples: pd.DataFrame, _: float) -> list[Comparison]:
        value = float(samples["qps"].max() if word == "highest" else samples["qps"].min())
        return [Comparison(f"queries/s, the {word} of all seconds", value, value, value)]

    return _each_run(claim, evidence, f"the {subject} second has", values)


@check("F1-p95-mean")
def mean_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Take the mean of one-second p95."""

    def values(samples: pd.DataFrame, level: float) -> list[Comparison]:
        value, low, high = series.mean(samples["latency_p95_ms"], level)
        return [Comparison("ms, mean of all seconds", value, low / P95_STEP, high * P95_STEP)]

    return _each_run(claim, evidence, "p95 is", values)


@check("F1-stable")
def steady_throughput(claim: Claim, evidence: Evidence) -> Finding:
    """Take half the width of the band of the central 95 % of seconds; that of minutes is shown."""

    def values(samples: pd.DataFrame, level: float) -> list[Comparison]:
        found = series.band(samples["qps"], RANGE[1] - RANGE[0], level)
        tests = [Comparison("of its middle, 95 % of seconds", *found)]
        minutes = samples.groupby((samples["t_s"] - 1) // MINUTE_S)["qps"].mean()
        if len(minutes) > 1:
            wide = series.band(minutes, RANGE[1] - RANGE[0], level)
            tests.append(Comparison("95 % of the means of minutes", *wide, judged=False))
        return tests

    return _each_run(claim, evidence, "the band of throughput reaches either side by", values)


@check("F1-drift")
def drift(claim: Claim, evidence: Evidence) -> Finding:
    """Take the trend of throughput over the run."""
    shortest = float(_runs(evidence)["duration_s"].min())
    if shortest < TREND_S:
        raise MissingData(f"a run of {shortest:.0f} s is too short for a trend")

    def values(samples: pd.DataFrame, level: float) -> list[Comparison]:
        found = series.trend(samples["qps"], confidence=level)
        return [Comparison("percent an hour", found.per_hour_pct, found.low, found.high)]

    return _each_run(claim, evidence, "throughput changes by", values)


@check("W-warmup")
def start_is_enough(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the mean of the first one and two minutes with that of the whole run."""
    runs = _runs(evidence)
    warmup_s, duration_s = runs["warmup_s"].min(), runs["duration_s"].min()
    if warmup_s < WARMUP_S:
        raise MissingData(
            f"the warm-up was {significant(warmup_s)} s, the claim is on {WARMUP_S} s"
        )
    if duration_s < RUN_S:
        raise MissingData(
            f"the run was {significant(duration_s)} s, the claim is on {RUN_S} s or more"
        )

    def values(samples: pd.DataFrame, _: float) -> list[Comparison]:
        level = confidence(len(STARTS_S) * len(runs))
        return [
            Comparison(
                f"times that of the whole run in its first {seconds} s",
                *series.prefix_ratio(samples["qps"], seconds, confidence=level),
            )
            for seconds in STARTS_S
        ]

    return _each_run(claim, evidence, "mean throughput is", values, least_s=RUN_S)


def _range(metric: str, unit: str) -> Values:
    def values(samples: pd.DataFrame, level: float) -> list[Comparison]:
        # Two ends are two tests of one claim.
        each = level ** (1 / len(RANGE))
        names = ("lowest", "highest")
        step = P95_STEP if metric == "latency_p95_ms" else 1.0
        tests = []
        for name, end in zip(names, RANGE, strict=True):
            value, low, high = series.quantile(samples[metric], end, each)
            label = f"{unit} at the {name} of the central 95 % of seconds"
            tests.append(Comparison(label, value, low / step, high * step))
        return tests

    return values


def _runs(evidence: Evidence) -> pd.DataFrame:
    """Give the runs of the busiest point: the most servers at their best throughput."""
    if not evidence.servers:
        raise MissingData("no good run")
    servers = evidence.servers[-1]
    return evidence.runs.loc[evidence.values(servers, evidence.best(servers), "qps").index]


def _each_run(
    claim: Claim, evidence: Evidence, subject: str, values: Values, least_s: float = HOUR_S
) -> Finding:
    """Judge every run by its own samples; shorter ones than the claim is on are never enough."""
    runs = _runs(evidence)
    tests = []
    for name in runs["run_id"]:
        samples = evidence.seconds(runs[runs["run_id"] == name]).sort_values("t_s")
        if samples.empty:
            raise MissingData("no samples of the run were recorded")
        found = values(samples, confidence(len(runs)))
        label = f" in {name}" if len(runs) > 1 else ""
        tests += [replace(test, label=test.label + label) for test in found]
    shortest = float(runs["duration_s"].min())
    servers, clients = int(runs["servers"].iloc[0]), int(runs["clients"].iloc[0])
    note = f"{at(servers, clients)}, {count(len(runs), 'run')} of {shortest:.0f} s"
    # sysbench ends some milliseconds early or late.
    missing = "" if shortest > 0.99 * least_s else f"{least_s:.0f} s were"
    finding = decide(claim, subject, tests, note, missing)
    if finding.verdict == INCONCLUSIVE and math.isnan(finding.low):
        return replace(finding, why="too few seconds to know how far they vary")
    others_pct = evidence.others_pct(runs)
    if others_pct > QUIET_PCT:
        why = f"other work took {significant(others_pct)} % of this host's CPUs beside it, so that what "
        why += "varied need not be the cluster"
        return replace(finding, verdict=INCONCLUSIVE, why=why)
    return finding
