"""One small check per claim, or family of claims, registered by the claim's id.

In: a claim and the evidence of one dataset. Out: a finding.
A check never reads the claim's budgets (`claims` does) and never decides without an interval.

To add one: write a function of (claim, evidence) that returns a finding, and decorate it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from ndblab import summary
from ndblab.brief import Claim
from ndblab.evidence import Evidence, p95_test, p95_value, peak_test, qps_test
from ndblab.verdict import (
    CONTRADICTED,
    INCONCLUSIVE,
    REPRODUCED,
    Comparison,
    Finding,
    Missing,
    count,
    decide,
    figure,
)

Check = Callable[[Claim, Evidence], Finding]
CHECKS: dict[str, Check] = {}


def check(*ids: str) -> Callable[[Check], Check]:
    """Register a function as the check of these claims."""

    def register(function: Check) -> Check:
        CHECKS.update(dict.fromkeys(ids, function))
        return function

    return register


@check("F4-peak-clients", "F6-peak-clients")
def peak_clients(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the published number of clients with every other measured one."""
    servers = 1 if claim.figure == "4" else 16
    best, measured = evidence.best(servers), evidence.clients(servers)
    expected = int(claim.low or 0)
    low, high = _indistinct(evidence, [(servers, c) for c in measured], (servers, best), 1)
    qps = evidence.values(servers, best, "qps").mean()
    told = f"the best mean throughput of {count(servers, 'server')}, {figure(qps)} queries/s, is"
    told += f" at {count(best, 'client')}"
    if not math.isnan(low):
        told += f", and {low:.0f} to {high:.0f} clients cannot be told from it"

    def finding(verdict: str, words: str) -> Finding:
        return Finding(verdict, told, words, best, low, high)

    if expected not in measured:
        return finding(INCONCLUSIVE, f"{expected} clients were not measured")
    others = [c for c in measured if c != expected]
    tests = [qps_test(evidence, "", (servers, expected), (servers, c), len(others)) for c in others]
    if any(test.high < 1 for test in tests):
        return finding(CONTRADICTED, f"{expected} clients give clearly less")
    if any(math.isnan(test.low) for test in tests):
        return finding(INCONCLUSIVE, f"one run a point, so no spread to decide on {expected}")
    if not min(measured) < expected < max(measured):
        return finding(INCONCLUSIVE, f"nothing was measured on both sides of {expected}")
    if all(test.low > 1 for test in tests):
        return finding(REPRODUCED, f"{expected} clients give clearly more than any other number")
    return finding(INCONCLUSIVE, f"the spread is too wide to decide on {expected}")


@check("F4-peak-qps")
def one_server_peak(claim: Claim, evidence: Evidence) -> Finding:
    """Give the best mean throughput of one server."""
    return _peak_value(claim, evidence, 1)


@check("F6-peak-qps")
def largest_peak(claim: Claim, evidence: Evidence) -> Finding:
    """Give the best mean throughput of 16 servers."""
    return _peak_value(claim, evidence, 16)


@check("F6-peak")
def peak_servers(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the peak of 16 servers with that of every other number of servers.

    Where n servers already left no CPU to mysqld and sysbench, a tie or loss of 16 is the budget's.
    """
    most = int(claim.low or 0)
    top = (most, evidence.best(most))
    others = [(n, evidence.best(n)) for n in evidence.servers if n < most]
    if not others:
        raise Missing("no run with fewer servers to compare with")
    better = replace(claim, comparison="greater_than", low=1.0, high=None)
    tests = []
    for n, clients in others:
        label = f"times that of {n}"
        test = peak_test(evidence, label, most, n, len(others))
        tests.append(replace(test, against_counts=not _full(evidence, n, clients)))
    finding = decide(better, f"the peak of {most} servers is", tests)
    points = [top, *others]
    best = max(points, key=lambda point: evidence.values(point[0], point[1], "qps").mean())
    low, high = _indistinct(evidence, points, best, 0)
    told = f"throughput is best with {count(best[0], 'server')}: {finding.told}"
    return replace(finding, told=told, measured=best[0], low=low, high=high)


@check("F6-double-servers")
def double_servers(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the peaks of twice the servers, where the CPUs allow more than the threshold."""
    pairs = [(n, 2 * n) for n in (1, 2, 4) if {n, 2 * n} <= set(evidence.servers)]
    if not pairs:
        raise Missing("no peaks of n and 2n servers")
    room = {n: evidence.room(n) for n, _ in pairs}
    threshold = claim.low or 0
    # The tolerance keeps 192/120 equal to 1.6 in binary fractions.
    judged = {n: room[n] > threshold * 1.000001 for n, _ in pairs}
    tests = []
    for n, twice in pairs:
        label = f"from {n} to {twice} servers"
        test = peak_test(evidence, label, twice, n, sum(judged.values()))
        note = "" if judged[n] else f"not judged, as the CPUs allow {figure(room[n])} at most"
        tests.append(replace(test, judged=judged[n], note=note))
    unseen = [str(2 * n) for n in (1, 2) if n not in room]
    missing = f"{' and '.join(unseen)} servers" if unseen else ""
    return decide(claim, "the best throughput changes by a factor of", tests, missing=missing)


@check("F6-8-to-16")
def eight_to_sixteen(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the peaks of 16 and 8 servers, beside what the CPUs allow."""
    test = peak_test(evidence, "from 8 to 16 servers", 16, 8, 1)
    note = f"the CPUs allow {figure(evidence.room(8))} at most"
    return decide(claim, "the best throughput changes by a factor of", [test], note)


@check("F6-overload")
def overload(claim: Claim, evidence: Evidence) -> Finding:
    """Compare twice the best clients with the best, allowing for how the best was picked.

    The best is the largest mean, so no ratio to it is above 1: what contradicts is a throughput
    that stays flat at every larger number of clients.
    """
    servers = 16
    best = evidence.best(servers)
    candidates = evidence.flat(servers)
    beyond = [c for c in evidence.clients(servers) if c > best]
    if 2 * best not in beyond:
        told = f"{servers} servers are best at {best} clients"
        return Finding(INCONCLUSIVE, told, "twice as many were not measured")
    tests = []
    for clients in beyond:
        label = f"with {clients}"
        test = qps_test(evidence, label, (servers, clients), (servers, best), candidates)
        tests.append(replace(test, judged=clients == 2 * best))
    note = f"intervals widened, as the best was picked among {candidates} points within 3 % of it"
    subject = (
        f"throughput of {servers} servers is best at {best} clients and changes by a factor of"
    )
    finding = decide(claim, subject, tests, note if candidates > 1 else "")
    flat = all(test.low > 1 - summary.FLAT for test in tests)
    if finding.verdict == INCONCLUSIVE and flat:
        why = "it stays within 3 % of the best, published was a loss"
        return replace(finding, verdict=CONTRADICTED, why=why)
    return finding


@check("F7-one")
def one_server_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Take p95 of one server at every number of clients up to the published one."""
    limit, note = evidence.clients_per_server()
    return _p95_values(claim, evidence, [(1, c) for c in evidence.clients(1) if c <= limit], note)


@check("F7-saturated")
def saturated_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Take p95 of 8 and 16 servers from 512 clients on."""
    points = [(n, c) for n in (8, 16) for c in evidence.clients(n) if c >= 512]
    if not points:
        raise Missing("no run of 8 or 16 servers with 512 clients or more")
    return _p95_values(claim, evidence, points)


@check("F7-growth")
def growth(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of one server at twice the clients that fill it."""
    clients, note = evidence.clients_per_server()
    label = f"from {clients} to {2 * clients} clients"
    test = p95_test(evidence, label, (1, 2 * clients), (1, clients), 1)
    return decide(claim, "p95 of one server changes by a factor of", [test], note)


@check("F7-doubling")
def doubling_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 of n servers with n times the clients to that of one; 8 is shown."""
    clients, note = evidence.clients_per_server()
    counts = [n for n in (2, 4, 8) if evidence.has(n, n * clients)]
    judged = [n for n in counts if n < 8]
    tests = []
    for n in counts:
        label = f"with {n} servers and {n * clients} clients"
        test = p95_test(evidence, label, (n, n * clients), (1, clients), len(judged))
        free = not evidence.exhausted(n, n * clients)
        tests.append(replace(test, judged=n in judged, against_counts=free))
    if not judged:
        raise Missing(f"no run of 2 or 4 servers with {clients} clients each")
    unseen = [str(n) for n in (2, 4) if n not in counts]
    missing = f"{' and '.join(unseen)} servers with {clients} clients each" if unseen else ""
    subject = f"p95 changes from that of 1 server and {count(clients, 'client')} by a factor of"
    return decide(claim, subject, tests, note, missing)


@check("F7-8-vs-16")
def eight_or_sixteen_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 at equal clients.

    Where 8 servers left no CPU, 16 have no more of it, and equal p95 follows from the closed loop:
    there equality is no support, while a difference still contradicts.
    """
    knee = evidence.knee(8)
    equal = _in_both(evidence)
    tests = []
    for clients in equal:
        imposed = evidence.budget == "scaled" and clients >= knee
        free = not (imposed or evidence.exhausted(8, clients))
        tests.append(replace(_sixteen_over_eight(evidence, clients, len(equal)), for_counts=free))
    note = f"8 servers are full from {knee} clients on"
    return decide(claim, "p95 of 16 servers is", tests, note)


@check("F7-8-vs-16-2048")
def sixteen_worse_p95(claim: Claim, evidence: Evidence) -> Finding:
    """Compare p95 at equal clients from 2048 on."""
    equal = [c for c in _in_both(evidence) if c >= 2048]
    if not equal:
        raise Missing("no run of 8 and of 16 servers with 2048 clients or more")
    tests = [_sixteen_over_eight(evidence, c, len(equal)) for c in equal]
    return decide(claim, "p95 of 16 servers is", tests)


def _in_both(evidence: Evidence) -> list[int]:
    equal = sorted(set(evidence.clients(8)) & set(evidence.clients(16)))
    if not equal:
        raise Missing("no equal numbers of clients with 8 and with 16 servers")
    return equal


def _sixteen_over_eight(evidence: Evidence, clients: int, tests: int) -> Comparison:
    label = f"times that of 8 at {clients} clients"
    return p95_test(evidence, label, (16, clients), (8, clients), tests)


def _peak_value(claim: Claim, evidence: Evidence, servers: int) -> Finding:
    best = evidence.best(servers)
    value = summary.mean(evidence.values(servers, best, "qps"))
    label = f"queries/s with {count(servers, 'server')} and {count(best, 'client')}"
    return decide(claim, "the best mean throughput is", [Comparison(label, *value)])


def _p95_values(
    claim: Claim, evidence: Evidence, points: Iterable[tuple[int, int]], note: str = ""
) -> Finding:
    points = list(points)
    tests = [p95_value(evidence, n, c, len(points)) for n, c in points]
    return decide(claim, "p95 is", tests, note)


def _indistinct(
    evidence: Evidence, points: list[tuple[int, int]], best: tuple[int, int], part: int
) -> tuple[float, float]:
    """Give the least and most servers (part 0) or clients (1) not clearly below the best."""
    others = [point for point in points if point != best]
    tests = {p: qps_test(evidence, "", p, best, len(others)) for p in others}
    if any(math.isnan(test.high) for test in tests.values()):
        return math.nan, math.nan
    near = [best[part], *(p[part] for p, test in tests.items() if test.high >= 1)]
    return min(near), max(near)


def _full(evidence: Evidence, servers: int, clients: int) -> bool:
    """Say whether more servers could get no more CPU than these have at this point."""
    imposed = evidence.budget == "scaled" and evidence.room(servers) <= 1
    saturated = clients >= evidence.knee(servers)
    return evidence.exhausted(servers, clients) or (imposed and saturated)
