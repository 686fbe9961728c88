"""Checks on throughput: peaks, and the effect of more servers or clients (Figures 4 and 6).

The check on doubled servers judges their p95 too (Figure 7).
"""

from __future__ import annotations

import contextlib

from ndblab.error import MissingData
from ndblab.experiments.scaling import SMALL_SERVERS, WARM_QUERIES
from ndblab.formatting import count, significant
from ndblab.judging import allowance
from ndblab.judging.allowance import SQL_SIDE
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition, demanded
from ndblab.judging.contrasted import P95, QPS, A, B, of_claim, place, ratio, side
from ndblab.judging.evidence import Evidence, at, mean_of_runs
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import INCONCLUSIVE, Finding, decide
from ndblab.statistics.estimate import Estimate

MOST = 16
"""Servers of the brief's peak."""
_STEPS = {
    "F6-8-to-16": ("servers-8-16", "from 8 to 16 servers"),
    "P-servers-1-2": ("servers-1-2", "from 1 to 2 servers"),
    "P-servers-2-4": ("slower-servers", "from 2 servers to these and 2 slower ones"),
    "F4-degrade": ("fall", "from 32 to 128 clients"),
}
"""By claim: a contrast, and what it compares. Slower servers have a smaller share of the CPUs."""


@check("F4-peak-clients", "F6-peak-clients")
def peak_clients(claim: Claim, evidence: Evidence) -> Finding:
    """Show the clients of the best mean throughput; a sweep does not compare it with others."""
    servers = _servers(claim)
    best = evidence.best(servers)
    qps = evidence.values(servers, best, "qps").mean()
    numbers = f"the best mean throughput of {count(servers, 'server')}, "
    numbers += f"{significant(qps)} queries/s, is at {count(best, 'client')}"
    why = "no contrast compares it with other numbers of clients, so another may be as good; "
    why += f"published: {claim.published}"
    return Finding(INCONCLUSIVE, numbers, why, Estimate(best))


@check("F4-peak-qps", "F6-peak-qps")
def peak_qps(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the best mean throughput of 1 or 16 servers."""
    servers = _servers(claim)
    best = evidence.best(servers)
    test = mean_of_runs(evidence.values(servers, best, "qps"), f"queries/s {at(servers, best)}")
    return decide(claim, "the best mean throughput is", [test])


@check("F6-peak")
def peak_servers(claim: Claim, evidence: Evidence) -> Finding:
    """Compare 16 servers with 8 and with 4, then 4 with 2, and 2 with 1."""
    steps = [(16, 8), (16, 4), (4, 2), (2, 1)]
    tests = []
    for n, m in steps:
        contrast = f"servers-{m}-{n}"
        label = f"times that of {m} with {n} servers{_smaller(evidence, contrast)}"
        tests.append(ratio(evidence, contrast, label, tests=len(steps)))
    return decide(claim, "throughput is", tests)


@check("F6-double-servers", "F7-doubling")
def double_servers(claim: Claim, evidence: Evidence) -> Finding:
    """Compare throughput or p95 when servers and clients double, from 1 to 2 and from 2 to 4."""
    what, quantity = ("p95", P95) if claim.id == "F7-doubling" else ("throughput", QPS)
    tests = [
        ratio(evidence, f"servers-{n}-{2 * n}", f"from {n} to {2 * n} servers", quantity, 2)
        for n in (1, 2)
    ]
    return decide(claim, f"{what} changes by a factor of", tests)


@check(*_STEPS)
def step(claim: Claim, evidence: Evidence) -> Finding:
    """Compare throughput with more servers or clients."""
    contrast, label = _STEPS[claim.id]
    what = "throughput of one server" if contrast == "fall" else "throughput"
    label += _smaller(evidence, contrast)
    return decide(claim, f"{what} changes by a factor of", [ratio(evidence, contrast, label)])


@check("F6-overload")
def overload(claim: Claim, evidence: Evidence) -> Finding:
    """Compare 16 servers past their best number of clients with 16 servers at it.

    The sweep chose the best, and the contrast measures it anew.
    """
    top, base = place(evidence, "overload", A), place(evidence, "overload", B)
    if base.servers != MOST:
        raise MissingData(f"no run of {MOST} servers")
    subject = f"throughput of {MOST} servers changes by a factor of"
    label, note = f"from {base.clients} to {top.clients} clients", ""
    with contextlib.suppress(MissingData):
        note = allowance.beyond(evidence, "overload", SQL_SIDE)
    return decide(claim, subject, [ratio(evidence, "overload", label)], note)


@condition("warm-connections")
def warm_connections(claim: Claim, evidence: Evidence) -> State:
    """Each client sends many queries on its connection, at the throughput of side B.

    Every slice opens new connections. The brief's clients sent over 1 000 queries a second each.
    Side A's own throughput is the effect that a claim is about, so it must not decide.
    """
    least = min(_queries_per_client(evidence, name) for name in of_claim(evidence, claim))
    words = f"a client sends {significant(least)} queries on its new connection"
    return demanded(least >= WARM_QUERIES, words, f"{WARM_QUERIES} or more")


def _queries_per_client(evidence: Evidence, contrast: str) -> float:
    """Return the queries that side B, with its warm-up, has for each client of the larger side."""
    runs = place(evidence, contrast, B).runs
    queries = (runs["qps"] * (runs["duration_s"] + runs["warmup_s"])).mean()
    return float(queries / max(place(evidence, contrast, name).clients for name in (A, B)))


def _smaller(evidence: Evidence, contrast: str) -> str:
    """Name the quotas of a contrast that are smaller than those of the sweep; else nothing.

    With them 16 servers have room that they lack in the sweep, so that both may disagree.
    """
    smaller = side(evidence, contrast)["variant"] == SMALL_SERVERS and evidence.budget == "scaled"
    return " on smaller CPU quotas" * smaller


def _servers(claim: Claim) -> int:
    """Return the number of servers that a claim on a peak is about."""
    return 1 if claim.figure == "4" else MOST
