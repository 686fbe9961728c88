"""Checks on throughput: peaks, and the effect of more servers or clients (Figures 4 and 6)."""

from __future__ import annotations

from dataclasses import replace

from ndblab.analysis import summary
from ndblab.analysis.estimate import Estimate
from ndblab.analysis.formatting import count, significant
from ndblab.claims.checks.decorator import check
from ndblab.claims.evidence import Evidence, at, compare_peaks, compare_qps, mean_of_runs
from ndblab.claims.publication import Claim
from ndblab.claims.verdict import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_INTERVAL,
    REPRODUCED,
    Finding,
    decide,
)
from ndblab.error import MissingData


@check("F4-peak-clients", "F6-peak-clients")
def peak_clients(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the published number of clients with every other measured one."""
    servers = _servers(claim)
    best, measured = evidence.best(servers), evidence.clients(servers)
    expected = int(claim.low or 0)
    peak = _indistinct(evidence, [(servers, c) for c in measured], (servers, best), 1)
    qps = evidence.values(servers, best, "qps").mean()
    numbers = f"the best mean throughput of {count(servers, 'server')}, "
    numbers += f"{significant(qps)} queries/s, is at {count(best, 'client')}"
    if peak.bounded:
        numbers += f", statistically the same from {peak.low:.0f} to {peak.high:.0f} clients"

    def finding(verdict: str, why: str) -> Finding:
        return Finding(verdict, numbers, why, peak)

    if expected not in measured:
        return finding(INCONCLUSIVE, f"{expected} clients were not measured")
    others = [c for c in measured if c != expected]
    tests = [
        compare_qps(evidence, "", (servers, expected), (servers, c), len(others)) for c in others
    ]
    if any(test.against.high < 1 for test in tests):
        return finding(CONTRADICTED, f"{expected} clients give clearly less")
    if not all(test.estimate.bounded for test in tests):
        return finding(INCONCLUSIVE, f"{NO_INTERVAL}; published: {expected} clients")
    if not min(measured) < expected < max(measured):
        return finding(INCONCLUSIVE, f"not measured on both sides of {expected}")
    if all(test.estimate.low > 1 for test in tests):
        return finding(REPRODUCED, f"{expected} clients give clearly more than any other number")
    return finding(INCONCLUSIVE, f"too wide intervals to decide; published: {expected} clients")


@check("F4-peak-qps", "F6-peak-qps")
def peak_qps(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the best mean throughput of 1 or 16 servers."""
    servers = _servers(claim)
    best = evidence.best(servers)
    test = mean_of_runs(evidence.values(servers, best, "qps"), f"queries/s {at(servers, best)}")
    return decide(claim, "the best mean throughput is", [test])


@check("F6-peak")
def peak_servers(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the peak of 16 servers with that of every other number of servers.

    If n servers already saturate the CPUs, the CPU budget alone causes a tie or loss of 16.
    """
    most = int(claim.low or 0)
    top = (most, evidence.best(most))
    others = [(n, evidence.best(n)) for n in evidence.servers if n < most]
    if not others:
        raise MissingData("no run with fewer servers to compare with")
    better = replace(claim, comparison="greater_than", low=1.0, high=None)
    tests = []
    for n, clients in others:
        label = f"times that of {n}"
        test = compare_peaks(evidence, label, most, n, len(others))
        tests.append(replace(test, against_counts=not _full(evidence, n, clients)))
    finding = decide(better, f"the peak of {most} servers is", tests)
    points = [top, *others]
    best = max(points, key=lambda point: evidence.values(point[0], point[1], "qps").mean())
    numbers = f"throughput is best with {count(best[0], 'server')}; {finding.numbers}"
    return replace(finding, numbers=numbers, measured=_indistinct(evidence, points, best, 0))


@check("F6-double-servers")
def double_servers(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the peaks of twice the servers, if the CPUs allow more than the threshold."""
    pairs = [(n, 2 * n) for n in (1, 2, 4) if {n, 2 * n} <= set(evidence.servers)]
    if not pairs:
        raise MissingData("no peaks of n and 2n servers")
    room = {n: evidence.room(n) for n, _ in pairs}
    threshold = claim.low or 0
    # The tolerance makes 192/120 equal to 1.6 in binary fractions.
    judged = {n: room[n] > threshold * 1.000001 for n, _ in pairs}
    tests = []
    for n, twice in pairs:
        label = f"from {n} to {twice} servers"
        test = compare_peaks(evidence, label, twice, n, sum(judged.values()))
        note = "" if judged[n] else f"not judged: the CPUs allow at most {significant(room[n])}"
        tests.append(replace(test, judged=judged[n], note=note))
    unseen = [str(2 * n) for n in (1, 2) if n not in room]
    missing = f"{' and '.join(unseen)} servers" if unseen else ""
    return decide(claim, "the best throughput changes by a factor of", tests, missing=missing)


@check("F6-8-to-16", "P-servers-1-2")
def one_doubling(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the peaks of the two numbers of servers that the claim names."""
    few = 8 if claim.id == "F6-8-to-16" else 1
    test = compare_peaks(evidence, f"from {few} to {2 * few} servers", 2 * few, few, 1)
    note = f"the CPUs allow at most {significant(evidence.room(few))}"
    return decide(claim, "the best throughput changes by a factor of", [test], note)


@check("F6-overload")
def overload(claim: Claim, evidence: Evidence) -> Finding:
    """Compare twice the best clients with the best, allowing for how the best was picked.

    The best is the largest mean, so no ratio to it exceeds 1: the claim is contradicted by a
    throughput that stays flat at every larger number of clients.
    """
    servers = 16
    best = evidence.best(servers)
    beyond = [c for c in evidence.clients(servers) if c > best]
    if 2 * best not in beyond:
        numbers = f"{servers} servers are best at {best} clients"
        return Finding(INCONCLUSIVE, numbers, "twice as many were not measured")
    tests = []
    # Noise may pick any of them as the best: were all equal, the best would look better by chance.
    candidates = evidence.clients(servers)
    for clients in beyond:
        label, top = f"with {clients}", (servers, clients)
        test = compare_qps(evidence, label, top, (servers, best), len(candidates))
        tests.append(replace(test, estimate=test.against, judged=clients == 2 * best))
    note = f"intervals widened, as the best is one of {len(candidates)} that noise may pick"
    subject = (
        f"throughput of {servers} servers is best at {best} clients and changes by a factor of"
    )
    finding = decide(claim, subject, tests, note if len(candidates) > 1 else "")
    flat = all(test.estimate.low > 1 - summary.FLAT for test in tests)
    if finding.verdict == INCONCLUSIVE and flat:
        why = "it stays within 3 % of the best; published: a loss"
        return replace(finding, verdict=CONTRADICTED, why=why)
    return finding


@check("F4-degrade")
def past_the_peak(claim: Claim, evidence: Evidence) -> Finding:
    """Compare 128 clients of one server with 32; more clients are shown."""
    beyond = [c for c in evidence.clients(1) if c > 128]
    tests = [compare_qps(evidence, "from 32 to 128 clients", (1, 128), (1, 32), 1)]
    for clients in beyond:
        test = compare_qps(evidence, f"from 128 to {clients}", (1, clients), (1, 128), len(beyond))
        tests.append(replace(test, judged=False))
    return decide(claim, "throughput of one server changes by a factor of", tests)


def _servers(claim: Claim) -> int:
    """Return the number of servers that a claim on a peak is about."""
    return 1 if claim.figure == "4" else 16


def _indistinct(
    evidence: Evidence, points: list[tuple[int, int]], best: tuple[int, int], part: int
) -> Estimate:
    """Return the best servers (part 0) or clients (1), and the range not clearly below it."""
    others = [point for point in points if point != best]
    tests = {p: compare_qps(evidence, "", p, best, len(others)) for p in others}
    if not all(test.estimate.bounded for test in tests.values()):
        return Estimate(best[part])
    near = [best[part], *(p[part] for p, test in tests.items() if test.against.high >= 1)]
    return Estimate(best[part], min(near), max(near))


def _full(evidence: Evidence, servers: int, clients: int) -> bool:
    """Return whether more servers could get no more CPU than these."""
    imposed = evidence.budget == "scaled" and evidence.room(servers) <= 1
    saturated = clients >= evidence.knee(servers)
    return evidence.saturated(servers, clients) or (imposed and saturated)
