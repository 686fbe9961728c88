"""Checks on the 95th percentile of latency, and on how steady a run is (Figures 7 and 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import pandas as pd

from ndblab.analysis import estimate, summary
from ndblab.analysis.formatting import count
from ndblab.claims.checks.decorator import check
from ndblab.claims.evidence import P95_STEP, Evidence, compare_p95, p95_of
from ndblab.claims.publication import Claim
from ndblab.claims.verdict import NOT_TESTABLE, Comparison, Finding, decide
from ndblab.error import MissingData


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
    """Compare p95 of n servers with n times the clients of one server; 8 is shown."""
    clients, note = evidence.clients_per_server()
    counts = [n for n in (2, 4, 8) if evidence.has(n, n * clients)]
    judged = [n for n in counts if n < 8]
    tests = []
    for n in counts:
        label = f"with {n} servers and {n * clients} clients"
        test = compare_p95(evidence, label, (n, n * clients), (1, clients), len(judged))
        free = not evidence.saturated(n, n * clients)
        tests.append(replace(test, judged=n in judged, against_counts=free))
    if not judged:
        raise MissingData(f"no run of 2 or 4 servers with {clients} clients each")
    unseen = [str(n) for n in (2, 4) if n not in counts]
    missing = f"{' and '.join(unseen)} servers with {clients} clients each" if unseen else ""
    subject = f"p95 changes from that of 1 server and {count(clients, 'client')} by a factor of"
    return decide(claim, subject, tests, note, missing)


@check("F7-8-vs-16")
def eight_or_sixteen_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 at equal clients.

    If 8 servers saturate the CPUs, 16 have no more, and equal p95 follows from the closed loop:
    equality is then no support, while a difference still contradicts.
    """
    knee = evidence.knee(8)
    equal = _in_both(evidence)
    tests = []
    for clients in equal:
        imposed = evidence.budget == "scaled" and clients >= knee
        free = not (imposed or evidence.saturated(8, clients))
        tests.append(replace(_sixteen_over_eight(evidence, clients, len(equal)), for_counts=free))
    note = f"8 servers saturate at {knee} clients"
    return decide(claim, "p95 of 16 servers is", tests, note)


@check("F7-8-vs-16-2048")
def sixteen_worse_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 at equal clients from 2048 on."""
    equal = [c for c in _in_both(evidence) if c >= 2048]
    if not equal:
        raise MissingData("no run of 8 and of 16 servers with 2048 clients or more")
    tests = [_sixteen_over_eight(evidence, c, len(equal)) for c in equal]
    return decide(claim, "p95 of 16 servers is", tests)


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
    """Compare the variation from second to second where the system is not near saturation.

    Near saturation means within 3 % of the best throughput of 16 servers, or with saturated CPUs of
    the data nodes or of the MySQL servers and sysbench.
    """
    servers = 16
    counts, knee = evidence.clients(servers), evidence.knee(servers)
    if not counts:
        raise MissingData("no run of 16 servers")
    free = [c for c in counts if c < knee and not evidence.saturated(servers, c)]
    runs = evidence.runs[evidence.runs["servers"] == servers]
    varied = summary.steadiness(evidence.seconds(runs)).set_index("run_id")
    tests = []
    for clients in counts:
        judged = clients in free
        note = "" if judged else "near saturation, not judged"
        each = varied[varied.index.isin(evidence.runs_at(servers, clients)["run_id"])]
        for metric in ("qps", "latency_p95_ms"):
            test = _variation(each[f"{metric}_cv"], clients, metric, 2 * max(1, len(free)))
            tests.append(replace(test, judged=judged, note=note))
    subject = (
        f"with {count(servers, 'server')} the coefficient of variation from second to second is"
    )
    finding = decide(claim, subject, tests)
    if not free:
        why = "every number of clients is near saturation here, which the claim leaves out"
        return replace(finding, verdict=NOT_TESTABLE, why=why)
    return finding


def _variation(each: pd.Series, clients: int, metric: str, tests: int) -> Comparison:
    """Average the coefficients of variation within runs: geometric mean, t interval."""
    each = each.dropna()
    if each.empty:
        raise MissingData("no run with two samples")
    # A p95 that never left its bucket varies by less than a bucket, not by nothing.
    each = each.clip(lower=P95_STEP - 1 if metric == "latency_p95_ms" else 1e-6)
    what = "p95" if metric == "latency_p95_ms" else "throughput"
    label = f"of {what} with {clients} clients"
    return Comparison.one_of(tests, label, partial(estimate.geometric, each))


def _p95_values(
    claim: Claim, evidence: Evidence, points: Iterable[tuple[int, int]], note: str = ""
) -> Finding:
    points = list(points)
    tests = [p95_of(evidence, n, c, len(points)) for n, c in points]
    return decide(claim, "p95 is", tests, note)
