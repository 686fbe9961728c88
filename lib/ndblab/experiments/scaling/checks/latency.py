"""Checks on the 95th percentile of latency, and on how steady a run is (Figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import digamma

from ndblab.error import MissingData
from ndblab.formatting import significant
from ndblab.judging import allowance
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition, demanded, servers_free
from ndblab.judging.contrasted import P95, A, B, Place, place, ratio
from ndblab.judging.evidence import P95_STEP, Evidence, p95_of
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide
from ndblab.planning import cpu_budget
from ndblab.statistics import summary

EARLY, LATE, HALF_LOAD, GROWTH = "early-8-16", "late-8-16", "half-load", "growth"
MINUTE_S = 60
PEAK_CLIENTS = 32
MOST_OVER = 1.2
CARRIED = 0.95
"""Share of a rate that an unsaturated cluster carries: arrivals vary."""
_VARIED = {"qps": "throughput", P95: "p95"}


@check("F7-one")
def one_server_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of one server at every number of clients up to those that saturate it.

    The brief's server peaks at 32; elsewhere, the limit is the peak of the server at hand.
    """
    limit = PEAK_CLIENTS if evidence.cpus >= cpu_budget.BRIEF_CPUS else evidence.knee(1)
    return _p95_values(claim, evidence, [(1, c) for c in evidence.clients(1) if c <= limit])


@check("F7-saturated")
def saturated_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of 8 and 16 servers from 512 clients on."""
    points = [(n, c) for n in (8, 16) for c in evidence.clients(n) if c >= 512]
    if not points:
        raise MissingData("no run of 8 or 16 servers with 512 clients or more")
    return _p95_values(claim, evidence, points)


@check("F7-growth")
def growth(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of one server at 64 clients with that at 32, which saturate it in the brief."""
    few, many = (place(evidence, GROWTH, name).clients for name in (B, A))
    label = f"from {few} to {many} clients"
    test = ratio(evidence, GROWTH, label, P95)
    return decide(claim, "p95 of one server changes by a factor of", [test])


@check("F7-8-vs-16", "F7-8-vs-16-2048")
def eight_or_sixteen_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 before the CPUs are used up, at an equal rate; or at twice the best clients."""
    name = EARLY if claim.id == "F7-8-vs-16" else LATE
    clients = place(evidence, name, B).clients
    rate = _rate(evidence, name)
    load = f"with {clients} clients at {rate:g} queries/s" if rate else f"at {clients} clients"
    test = ratio(evidence, name, f"times that of 8 {load}", P95)
    return decide(claim, "p95 of 16 servers is", [test])


@condition("before-saturation")
def before_saturation(claim: Claim, evidence: Evidence) -> State:
    """Both get the same load, well below what they can do, and carry it.

    Without a rate, the load is a number of clients that suffices for 16 servers and does not
    saturate 8.
    """
    if EARLY in evidence.contrasts:
        rate = _rate(evidence, EARLY)
        if not rate:
            free = servers_free(claim, evidence)
            if not free.holds and allowance.described(allowance.limits(evidence, EARLY, B)):
                older = "an older design, with quotas and no equal rate for both sides"
                return State(free.holds, f"this recording has {older}: measure again")
            return State(True, f"8 servers are not at their best {place(evidence, EARLY, B).words}")
        carried = [_carried(place(evidence, EARLY, name)) / rate for name in (A, B)]
        words = f"8 and 16 servers carry {100 * min(carried):.0f} % of {rate:g} queries/s"
        return demanded(min(carried) >= CARRIED, words, f"{100 * CARRIED:.0f} % or more")
    if not evidence.contrasts or not {8, 16} <= set(evidence.servers):
        raise MissingData("no run of 8 and 16 servers")
    least, knee = evidence.clients(16)[0], evidence.knee(8)
    words = f"8 servers reach their best with {knee} clients, and 16 were given {least} or more"
    return State(False, words)


def _carried(where: Place) -> float:
    """Return the queries/s of a side before its clients stop.

    With a rate, sysbench ends later than asked, and the last report of a slice has that time. It
    counts only where there is no other.
    """
    table = where.evidence.dataset.intervals.astype({"run_id": str})
    table = table[table["run_id"].isin(where.run_ids)]
    before = table[table.groupby("run_id").cumcount(ascending=False) > 0]
    return float((before if len(before) else where.runs)["qps"].mean())


def _rate(evidence: Evidence, contrast: str) -> float:
    """Return the queries/s that both sides of a contrast are asked for; 0 for a closed loop."""
    return float(evidence.contrasts[contrast][A]["options"].get("rate", 0))


@check("F8-p95-512")
def sixteen_servers_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of 16 servers at every number of clients up to 512."""
    points = [(16, c) for c in evidence.clients(16) if c <= 512]
    if not points:
        raise MissingData("no run of 16 servers with 512 clients or fewer")
    return _p95_values(claim, evidence, points)


@condition("minutes")
def in_minutes(claim: Claim, evidence: Evidence) -> State:
    """The load lasts for a minute or more, as the source's does."""
    where = place(evidence, HALF_LOAD)
    seconds = float(where.runs["duration_s"].mean())
    words = f"slices last {significant(seconds)} s"
    return demanded(seconds >= MINUTE_S, words, f"{MINUTE_S} s or more")


@check("F8-steady")
def steady(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the variation from second to second at half of the best throughput of 16 servers."""
    where = place(evidence, HALF_LOAD, A)
    if where.servers != 16:
        raise MissingData("no run of 16 servers")
    steadiness = summary.steadiness(_whole_seconds(evidence, where)).set_index("run_id")
    tests = []
    for metric, what in _VARIED.items():
        # A p95 that never left its bucket may vary within it, not by nothing.
        least = P95_STEP - 1 if metric == P95 else 1e-6
        cv = steadiness[f"{metric}_cv"].clip(lower=least) / _bias(steadiness["intervals"])
        tests.append(where.mean(cv.dropna(), f"of {what}", 2, log=True))
    rate = _rate(evidence, HALF_LOAD)
    load = f"at {rate:.0f} queries/s, half of the best of 16 servers" if rate else where.words
    return decide(claim, f"{load}, the coefficient of variation from second to second is", tests)


def _whole_seconds(evidence: Evidence, where: Place) -> pd.DataFrame:
    """Return the samples of slices without a last one that lasted less than a second.

    sysbench may report late, and then once more at the end: a few queries within milliseconds read
    as a very high rate. Such samples add up to more queries than there were.
    """
    table = evidence.dataset.intervals.astype({"run_id": str})
    table = table[table["run_id"].isin(where.run_ids)]
    queries = where.runs.set_index(where.runs["run_id"].astype(str))["queries"].astype(float)
    of_slice = table.groupby("run_id")
    over = of_slice["qps"].transform("sum") > MOST_OVER * table["run_id"].map(queries)
    return table[~(over & (of_slice.cumcount(ascending=False) == 0))]


def _bias(seconds: pd.Series) -> pd.Series:
    """Return the factor by which the geometric mean of deviations of so few seconds is too small.

    For normal values, digamma gives the mean of the logarithm of a chi-squared value.
    """
    half = (seconds - 1) / 2
    return np.exp((digamma(half) - np.log(half)) / 2)


def _p95_values(claim: Claim, evidence: Evidence, points: Sequence[tuple[int, int]]) -> Finding:
    tests = [p95_of(evidence, n, c, len(points)) for n, c in points]
    return decide(claim, "p95 is", tests)
