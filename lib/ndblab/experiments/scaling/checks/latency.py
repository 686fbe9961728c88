"""Checks on the 95th percentile of latency, and on how steady a run is (Figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import digamma

from ndblab.error import MissingData
from ndblab.formatting import count, significant
from ndblab.judging.checks import check
from ndblab.judging.contrasted import P95, A, B, Place, place, planned, ratio, slices
from ndblab.judging.evidence import P95_STEP, Evidence, compare_p95, p95_of
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import NOT_TESTABLE, Comparison, Finding, decide, with_tolerance
from ndblab.statistics import estimate, summary

EARLY, LATE, HALF_LOAD = "early-8-16", "late-8-16", "half-load"
MOST_OVER = 1.2
_VARIED = {"qps": "throughput", P95: "p95"}


@check("F7-one")
def one_server_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of one server at every number of clients up to the published one."""
    limit, note = evidence.clients_per_server()
    return _p95_values(claim, evidence, [(1, c) for c in evidence.clients(1) if c <= limit], note)


@check("F7-saturated")
def saturated_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of 8 and 16 servers from 512 clients on."""
    points = [(n, c) for n in (8, 16) for c in evidence.clients(n) if c >= 512]
    if not points:
        raise MissingData("no run of 8 or 16 servers with 512 clients or more")
    return _p95_values(claim, evidence, points)


@check("F7-growth")
def growth(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of one server at twice the clients that saturate it."""
    clients, note = evidence.clients_per_server()
    label = f"from {clients} to {2 * clients} clients"
    test = compare_p95(evidence, label, (1, 2 * clients), (1, clients), 1)
    return decide(claim, "p95 of one server changes by a factor of", [test], note)


@check("F7-doubling")
def doubling_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of twice the servers with twice the clients, from 1 to 2 and from 2 to 4."""
    clients, note = evidence.clients_per_server()
    tests, unseen = [], []
    for n in (1, 2):
        contrast, label = f"servers-{n}-{2 * n}", f"from {n} to {2 * n} servers"
        points = (2 * n, 2 * n * clients), (n, n * clients)
        if planned(evidence, contrast):
            test, note = ratio(evidence, contrast, label, P95, 2), ""
            where = slices(evidence, contrast, A)
        elif all(evidence.has(*point) for point in points):
            test = compare_p95(evidence, label, *points, 2)
            where = evidence.runs_at(*points[0])
        else:
            unseen.append(label)
            continue
        # Without CPUs for the clients that were added, p95 follows from the number of CPUs.
        tests.append(replace(test, against_counts=not evidence.full(where)))
    missing = " and ".join(unseen)
    return decide(claim, "p95 changes by a factor of", tests, note, missing)


@check("F7-8-vs-16")
def eight_or_sixteen_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 at equal clients, before 8 servers saturate the CPUs.

    If they saturate the CPUs, 16 have no more, and equal p95 follows from the closed loop: equality
    is then no support, while a difference still contradicts. A host on which they do with the
    fewest clients that 16 servers can have is not measured.
    """
    if planned(evidence, EARLY):
        where = place(evidence, EARLY, B)
        test = ratio(evidence, EARLY, f"times that of 8 at {where.clients} clients", P95)
        test = replace(test, for_counts=not evidence.full(where.runs))
        return decide(claim, "p95 of 16 servers is", [test])
    knee = evidence.knee(8)
    equal = _in_both(evidence)
    if evidence.contrasts:
        few, best = evidence.runs_at(8, min(equal)), evidence.runs_at(8, evidence.best(8))
        share = few["qps"].mean() / best["qps"].mean()
        numbers = f"with {min(equal)} clients, the fewest for 16 servers, 8 servers carry "
        numbers += f"{significant(share)} times their best throughput"
        why = "they saturate the CPUs before 16 servers can be compared with them; published: "
        return Finding(NOT_TESTABLE, numbers, why + with_tolerance(claim))
    tests = []
    for clients in equal:
        imposed = evidence.budget == "scaled" and clients >= knee
        free = not (imposed or evidence.saturated(8, clients))
        tests.append(replace(_sixteen_over_eight(evidence, clients, len(equal)), for_counts=free))
    note = f"8 servers saturate at {knee} clients"
    return decide(claim, "p95 of 16 servers is", tests, note)


@check("F7-8-vs-16-2048")
def sixteen_worse_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 at equal clients, twice those of the best throughput of 16 servers.

    That is what 2048 are in the brief. Equal CPUs serve equal clients there, so nothing but the
    work that more servers cause makes a difference.
    """
    if planned(evidence, LATE):
        clients = place(evidence, LATE, B).clients
        test = ratio(evidence, LATE, f"times that of 8 at {clients} clients", P95)
    else:
        clients = 2 * evidence.best(16)
        if clients not in _in_both(evidence):
            raise MissingData(f"no run of 8 and of 16 servers with {clients} clients")
        test = _sixteen_over_eight(evidence, clients, 1)
    return decide(claim, "p95 of 16 servers is", [test])


def _in_both(evidence: Evidence) -> list[int]:
    equal = sorted(set(evidence.clients(8)) & set(evidence.clients(16)))
    if not equal:
        raise MissingData("no equal numbers of clients with 8 and with 16 servers")
    return equal


def _sixteen_over_eight(evidence: Evidence, clients: int, tests: int) -> Comparison:
    label = f"times that of 8 at {clients} clients"
    return compare_p95(evidence, label, (16, clients), (8, clients), tests)


@check("F8-p95-512")
def sixteen_servers_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of 16 servers at every number of clients up to 512."""
    points = [(16, c) for c in evidence.clients(16) if c <= 512]
    if not points:
        raise MissingData("no run of 16 servers with 512 clients or fewer")
    return _p95_values(claim, evidence, points)


@check("F8-steady")
def steady(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the variation from second to second at half of the best throughput of 16 servers.

    A sweep alone has numbers of clients instead: those not near saturation, which is within 3 % of
    the best throughput, or with saturated CPUs of the data nodes or of mysqld and sysbench.
    """
    if not planned(evidence, HALF_LOAD):
        return _swept_steady(claim, evidence)
    where = place(evidence, HALF_LOAD, A)
    if where.servers != 16:
        raise MissingData("no run of 16 servers")
    found = summary.steadiness(_whole_seconds(evidence, where)).set_index("run_id")
    tests = []
    for metric, what in _VARIED.items():
        each = _clipped(found[f"{metric}_cv"], metric) / _bias(found["intervals"])
        tests.append(where.mean(each.dropna(), f"of {what}", 2, log=True))
    rate = evidence.contrasts[HALF_LOAD]["a"]["options"]["rate"]
    subject = f"at {rate} queries/s, half of the best of 16 servers, the coefficient of variation"
    return decide(claim, f"{subject} from second to second is", tests)


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


def _swept_steady(claim: Claim, evidence: Evidence) -> Finding:
    servers = 16
    counts, knee = evidence.clients(servers), evidence.knee(servers)
    if not counts:
        raise MissingData("no run of 16 servers")
    free = [c for c in counts if c < knee and not evidence.saturated(servers, c)]
    runs = evidence.runs[evidence.runs["servers"] == servers]
    varied = summary.steadiness(evidence.seconds(runs)).set_index("run_id")
    tests = []
    for clients in free or counts:
        each = varied[varied.index.isin(evidence.runs_at(servers, clients)["run_id"])]
        for metric, what in _VARIED.items():
            values = _clipped(each[f"{metric}_cv"].dropna(), metric)
            if values.empty:
                raise MissingData("no run with two samples")
            found = Comparison.one_of(
                2 * max(1, len(free)), f"of {what} with {clients} clients",
                partial(estimate.geometric, values),
            )  # fmt: skip
            tests.append(replace(found, judged=bool(free)))
    subject = (
        f"with {count(servers, 'server')} the coefficient of variation from second to second is"
    )
    finding = decide(claim, subject, tests)
    if not free:
        why = "every number of clients is near saturation here, which the claim leaves out"
        return replace(finding, verdict=NOT_TESTABLE, why=why)
    return finding


def _clipped(each: pd.Series, metric: str) -> pd.Series:
    """A p95 that never left its bucket varies by less than a bucket, not by nothing."""
    return each.clip(lower=P95_STEP - 1 if metric == P95 else 1e-6)


def _bias(seconds: pd.Series) -> pd.Series:
    """Return by which factor the geometric mean of deviations of so few seconds is too small.

    That of normal values: the logarithm of a chi-squared value has a mean known by digamma.
    """
    half = (seconds - 1) / 2
    return np.exp((digamma(half) - np.log(half)) / 2)


def _p95_values(
    claim: Claim, evidence: Evidence, points: Iterable[tuple[int, int]], note: str = ""
) -> Finding:
    points = list(points)
    tests = [p95_of(evidence, n, c, len(points)) for n, c in points]
    return decide(claim, "p95 is", tests, note)
