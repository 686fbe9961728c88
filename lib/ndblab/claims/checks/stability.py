"""Checks on one long run, second by second (Figure 1), and on how well its start represents it.

Intervals come from `series`, within a run, as neighbouring seconds are correlated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from ndblab.analysis import series
from ndblab.analysis.estimate import Estimate, sidak
from ndblab.analysis.formatting import count, significant
from ndblab.claims.checks.decorator import check
from ndblab.claims.evidence import Evidence, at, p95_widened
from ndblab.claims.publication import Claim
from ndblab.claims.verdict import INCONCLUSIVE, Comparison, Finding, decide
from ndblab.error import MissingData

HOUR_S = 3600
MINUTE_S = 60
# No trend per hour is estimated from less than this.
TREND_S = 600
# Warm-up and length of a run of which, by the brief, the start is enough.
WARMUP_S, RUN_S, STARTS_S = 120, 300, (60, 120)
# Sources give the range of a curve, not of every second: the central 95 % of seconds stand for it.
RANGE = (0.025, 0.975)

# Above this share of the host's CPUs, unrelated processes may explain what varies. The kernel and
# system services take some 3 % beside a saturated cluster.
QUIET_PCT = 6

Values = Callable[[pd.DataFrame, float], list[Comparison]]


@check("F1-sustained")
def throughput_range(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the ends of the central 95 % of one-second throughput."""
    return _each_run(claim, evidence, "throughput is", _range("qps", "queries/s"))


@check("F1-p95-range")
def p95_range(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the ends of the central 95 % of one-second p95."""
    return _each_run(claim, evidence, "p95 is", _range("latency_p95_ms", "ms"))


@check("F1-max", "F1-floor")
def extreme_second(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the highest or lowest one-second throughput, which is exact."""
    word, subject = ("highest", "best") if claim.id == "F1-max" else ("lowest", "worst")

    def values(samples: pd.DataFrame, _: float) -> list[Comparison]:
        value = float(samples["qps"].max() if word == "highest" else samples["qps"].min())
        return [Comparison("queries/s", Estimate(value, value, value))]

    return _each_run(claim, evidence, f"the {subject} second has", values)


@check("F1-p95-mean")
def mean_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the mean of one-second p95."""

    def values(samples: pd.DataFrame, level: float) -> list[Comparison]:
        mean = series.mean(samples["latency_p95_ms"], level)
        return [Comparison("ms, mean of all seconds", p95_widened(mean))]

    return _each_run(claim, evidence, "p95 is", values)


@check("F1-stable")
def steady_throughput(claim: Claim, evidence: Evidence) -> Finding:
    """Compare half the width of the central 95 % of seconds; that of minutes is shown."""

    def values(samples: pd.DataFrame, level: float) -> list[Comparison]:
        found = series.band(samples["qps"], RANGE[1] - RANGE[0], level)
        tests = [Comparison("of its middle for 95 % of seconds", found)]
        minutes = samples.groupby((samples["t_s"] - 1) // MINUTE_S)["qps"].mean()
        if len(minutes) > 1:
            wide = series.band(minutes, RANGE[1] - RANGE[0], level)
            tests.append(Comparison("for 95 % of one-minute means", wide, judged=False))
        return tests

    return _each_run(claim, evidence, "throughput stays within plus or minus", values)


@check("F1-drift")
def drift(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the trend of throughput over the run."""
    shortest = float(_runs(evidence)["duration_s"].min())
    if shortest < TREND_S:
        raise MissingData(f"a run of {shortest:.0f} s is too short for a trend")

    def values(samples: pd.DataFrame, level: float) -> list[Comparison]:
        return [Comparison("percent per hour", series.trend(samples["qps"], confidence=level))]

    return _each_run(claim, evidence, "throughput changes by", values)


@check("W-warmup")
def start_is_enough(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the mean of the first one and two minutes with that of the whole run."""
    runs = _runs(evidence)
    warmup_s, duration_s = runs["warmup_s"].min(), runs["duration_s"].min()
    if warmup_s < WARMUP_S:
        raise MissingData(
            f"the warm-up lasted {significant(warmup_s)} s, the claim is about {WARMUP_S} s"
        )
    if duration_s < RUN_S:
        raise MissingData(
            f"the run lasted {significant(duration_s)} s, the claim is about {RUN_S} s or more"
        )

    def values(samples: pd.DataFrame, _: float) -> list[Comparison]:
        level = sidak(len(STARTS_S) * len(runs))
        return [
            Comparison(
                f"times that of the whole run in the first {seconds} s",
                series.prefix_ratio(samples["qps"], seconds, confidence=level),
            )
            for seconds in STARTS_S
        ]

    return _each_run(claim, evidence, "mean throughput is", values, least_s=RUN_S)


def _range(metric: str, unit: str) -> Values:
    def values(samples: pd.DataFrame, level: float) -> list[Comparison]:
        # The two ends are two tests of one claim.
        each = level ** (1 / len(RANGE))
        tests = []
        for name, end in zip(("low", "high"), RANGE, strict=True):
            found = series.quantile(samples[metric], end, each)
            found = p95_widened(found) if metric == "latency_p95_ms" else found
            tests.append(
                Comparison(f"{unit} at the {name} end of the central 95 % of seconds", found)
            )
        return tests

    return values


def _runs(evidence: Evidence) -> pd.DataFrame:
    """Return the runs of the most servers at their best throughput."""
    if not evidence.servers:
        raise MissingData("no good run")
    servers = evidence.servers[-1]
    return evidence.runs_at(servers, evidence.best(servers))


def _each_run(
    claim: Claim, evidence: Evidence, subject: str, values: Values, least_s: float = HOUR_S
) -> Finding:
    """Judge every run by its own samples; runs shorter than `least_s` never reproduce a claim."""
    runs = _runs(evidence)
    tests = []
    for name in runs["run_id"]:
        samples = evidence.seconds(runs[runs["run_id"] == name]).sort_values("t_s")
        if samples.empty:
            raise MissingData("no samples of the run were recorded")
        found = values(samples, sidak(len(runs)))
        label = f" in {name}" if len(runs) > 1 else ""
        tests += [replace(test, label=test.label + label) for test in found]
    shortest = float(runs["duration_s"].min())
    servers, clients = int(runs["servers"].iloc[0]), int(runs["clients"].iloc[0])
    note = f"{at(servers, clients)}, {count(len(runs), 'run')} of {shortest:.0f} s"
    # sysbench ends some milliseconds early or late.
    missing = "" if shortest > 0.99 * least_s else f"a run of {least_s:.0f} s"
    finding = decide(claim, subject, tests, note, missing)
    if finding.verdict == INCONCLUSIVE and not finding.measured.bounded:
        return replace(finding, why="too few seconds for an interval")
    others_pct = evidence.others_pct(runs)
    if others_pct > QUIET_PCT:
        why = f"unrelated processes used {significant(others_pct)} % of the host's CPUs, "
        why += "so the cluster need not be what varied"
        return replace(finding, verdict=INCONCLUSIVE, why=why)
    return finding
