"""Checks on throughput: peaks, and the effect of more servers or clients (Figures 4 and 6)."""

from __future__ import annotations

from dataclasses import replace

from ndblab.error import MissingData
from ndblab.formatting import count, significant
from ndblab.judging.checks import check
from ndblab.judging.contrasted import A, B, place, planned, ratio
from ndblab.judging.evidence import (
    COMMON_SHARE,
    SQL_ROLES,
    Evidence,
    at,
    compare_peaks,
    compare_qps,
    mean_of_runs,
)
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_INTERVAL,
    REPRODUCED,
    Finding,
    decide,
)
from ndblab.statistics import summary
from ndblab.statistics.estimate import Estimate

MOST = 16
"""Servers of the brief's peak."""


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
    """Compare 16 servers with 8 and with 4, and those with fewer, step by step.

    Where 8 servers have all the CPUs that 16 would have, both are compared with small servers. In a
    sweep alone, a tie or loss of 16 does not count if n servers already saturate the CPUs.
    """
    steps = [(16, 8), (16, 4), (4, 2), (2, 1)]
    if planned(evidence, _name(16, 4)):
        tests = [
            ratio(evidence, _name(n, m), f"times that of {m} with {n} servers", tests=len(steps))
            for n, m in steps
        ]
        note = "16 and 8 with small servers, which leave CPUs unused"
        return decide(claim, "throughput is", tests, note)
    most = 16
    others = [(n, evidence.best(n)) for n in evidence.servers if n < most]
    if not others:
        raise MissingData("no run with fewer servers to compare with")
    tests = []
    for n, clients in others:
        test = compare_peaks(evidence, f"times that of {n}", most, n, len(others))
        tests.append(replace(test, against_counts=not _full(evidence, n, clients)))
    return decide(claim, f"the peak of {most} servers is", tests)


@check("F6-double-servers")
def double_servers(claim: Claim, evidence: Evidence) -> Finding:
    """Compare twice the servers with twice the clients, if the CPUs allow more than the threshold.

    What they do not allow is shown, by the peaks of the sweep.
    """
    pairs = [n for n in (1, 2, 4) if {n, 2 * n} <= set(evidence.servers)]
    if not pairs:
        raise MissingData("no points of n and 2n servers")
    room = {n: evidence.room(n) for n in pairs}
    threshold = claim.low or 0
    # The tolerance makes 192/120 equal to 1.6 in binary fractions.
    judged = {n: room[n] > threshold * 1.000001 for n in pairs}
    tests = []
    for n in pairs:
        label = f"from {n} to {2 * n} servers"
        if planned(evidence, _name(2 * n, n)):
            test = ratio(evidence, _name(2 * n, n), label, tests=sum(judged.values()))
        else:
            test = compare_peaks(evidence, label, 2 * n, n, sum(judged.values()))
        note = "" if judged[n] else f"not judged: the CPUs allow at most {significant(room[n])}"
        tests.append(replace(test, judged=judged[n], note=note))
    unseen = [str(2 * n) for n in (1, 2) if n not in room]
    missing = f"{' and '.join(unseen)} servers" if unseen else ""
    return decide(claim, "throughput changes by a factor of", tests, missing=missing)


@check("F6-8-to-16")
def last_doubling(claim: Claim, evidence: Evidence) -> Finding:
    """Compare 16 servers with 8, so small that the CPUs leave room for twice the throughput.

    Without room, less than twice follows from the number of CPUs, and means nothing.
    """
    name = _name(16, 8)
    if planned(evidence, name):
        test = ratio(evidence, name, "from 8 to 16 servers")
        used = evidence.used_cpus(place(evidence, name, B).runs, SQL_ROLES).mean()
        room = COMMON_SHARE * evidence.cpus / used
    else:
        test = compare_peaks(evidence, "from 8 to 16 servers", 16, 8, 1)
        room = evidence.room(8)
    note = f"the CPUs allow at most {significant(room)}"
    test = replace(test, for_counts=room >= (claim.high or 0))
    return decide(claim, "throughput changes by a factor of", [test], note)


@check("P-servers-1-2", "P-servers-2-4")
def published_step(claim: Claim, evidence: Evidence) -> Finding:
    """Compare twice the servers with twice the clients; in the second step, slower ones are added.

    The slower servers have a smaller share of the CPUs, which only a contrast can give them.
    """
    if claim.id == "P-servers-2-4":
        test = ratio(evidence, "slower-servers", "from 2 servers to these and 2 slower ones")
    elif planned(evidence, _name(2, 1)):
        test = ratio(evidence, _name(2, 1), "from 1 to 2 servers")
    else:
        test = compare_peaks(evidence, "from 1 to 2 servers", 2, 1, 1)
    return decide(claim, "throughput changes by a factor of", [test])


@check("F6-overload")
def overload(claim: Claim, evidence: Evidence) -> Finding:
    """Compare more clients of 16 servers than the best number with the best.

    The sweep chose the best, and the contrast measures it anew. A sweep alone allows for how it was
    picked. Throughput that stays within 3 % of the best contradicts the claim.
    """
    if not planned(evidence, "overload"):
        return _swept_overload(claim, evidence)
    top, base = place(evidence, "overload", A), place(evidence, "overload", B)
    if base.servers != MOST:
        raise MissingData(f"no run of {MOST} servers")
    subject = f"from {base.clients} to {top.clients} clients, throughput of {MOST} servers changes"
    finding = decide(claim, f"{subject} by a factor of", [ratio(evidence, "overload", "")])
    if evidence.clients(MOST)[-1:] == [base.clients] and finding.verdict == CONTRADICTED:
        why = f"throughput was best at the most clients measured, {base.clients}: no peak was found"
        return replace(finding, verdict=INCONCLUSIVE, why=why)
    return _flat(finding, finding.measured.low)


def _swept_overload(claim: Claim, evidence: Evidence) -> Finding:
    """Judge overload by a sweep: no ratio to its largest mean exceeds 1."""
    best = evidence.best(MOST)
    beyond = [c for c in evidence.clients(MOST) if c > best]
    if 2 * best not in beyond:
        numbers = f"{MOST} servers are best at {best} clients"
        return Finding(INCONCLUSIVE, numbers, "twice as many were not measured")
    # Noise may pick any of them as the best, and so any of these pairs: were all equal, one of them
    # would look like a loss by chance.
    candidates = [c for c in evidence.clients(MOST) if evidence.has(MOST, 2 * c)]
    tests = []
    for clients in beyond:
        label, top = f"with {clients}", (MOST, clients)
        test = compare_qps(evidence, label, top, (MOST, best), len(candidates))
        tests.append(replace(test, estimate=test.against, judged=clients == 2 * best))
    note = f"intervals widened, as the best is one of {len(candidates)} that noise may pick"
    subject = f"throughput of {MOST} servers is best at {best} clients and changes by a factor of"
    finding = decide(claim, subject, tests, note if len(candidates) > 1 else "")
    return _flat(finding, min(test.estimate.low for test in tests))


def _flat(finding: Finding, low: float) -> Finding:
    if finding.verdict != INCONCLUSIVE or not low > 1 - summary.FLAT:
        return finding
    why = "it stays within 3 % of the best; published: a loss"
    return replace(finding, verdict=CONTRADICTED, why=why, waits={})


@check("F4-degrade")
def past_the_peak(claim: Claim, evidence: Evidence) -> Finding:
    """Compare 128 clients of one server with 32; more clients are shown, by the sweep."""
    label = "from 32 to 128 clients"
    if planned(evidence, "fall"):
        tests = [ratio(evidence, "fall", label)]
    else:
        tests = [compare_qps(evidence, label, (1, 128), (1, 32), 1)]
    beyond = [c for c in evidence.clients(1) if c > 128 and evidence.has(1, 128)]
    for clients in beyond:
        test = compare_qps(evidence, f"from 128 to {clients}", (1, clients), (1, 128), len(beyond))
        tests.append(replace(test, judged=False))
    return decide(claim, "throughput of one server changes by a factor of", tests)


def _name(top: int, base: int) -> str:
    """Return the contrast of two numbers of servers."""
    return f"servers-{base}-{top}"


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
