"""Checks on shared-memory and TCP transporters, and on spinning.

Sides are twin clusters; older datasets loaded both transporters of one cluster at once.
"""

from __future__ import annotations

from ndblab.design.contrast import DUET
from ndblab.formatting import count
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition, demanded
from ndblab.judging.contrasted import A, B, of_claim, place, ratio
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Comparison, Finding, decide

READS, TRANSACTIONS = "oltp_point_select", "oltp_read_write"
# The numbers of clients that the source calls low concurrency.
LOW = (1, 2)


@check("T-shm-gain")
def gain_of_the_brief(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the best throughput of point selects, the brief's workload."""
    test = ratio(evidence, "reads-best", f"times TCP with {READS}")
    return decide(claim, "the best throughput over SHM is", [test], _clients(evidence, test))


@condition("own-data-nodes")
def own_data_nodes(claim: Claim, evidence: Evidence) -> State:
    """Each side has data nodes of its own: what both share, a transporter cannot make faster."""
    [name] = of_claim(evidence, claim)
    shared = evidence.contrasts[name].get("design") == DUET
    words = "both sides share the data nodes" if shared else "each side has its own data nodes"
    return demanded(not shared, words, "twin clusters")


@check("T-top")
def top(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the best throughput of OLTP RW over both transporters."""
    test = ratio(evidence, "writes-top", "times TCP")
    subject = f"the best throughput of {TRANSACTIONS} over SHM is"
    return decide(claim, subject, [test], _clients(evidence, test))


@check("T-low")
def low(claim: Claim, evidence: Evidence) -> Finding:
    """Compare OLTP RW over both transporters with 1 and 2 clients."""
    tests = _at_low(evidence, "writes", "times TCP")
    return decide(claim, f"throughput of {TRANSACTIONS} over SHM is", tests)


@check("T-high")
def high(claim: Claim, evidence: Evidence) -> Finding:
    """Compare OLTP RW over both transporters past the peak, where very many clients contend."""
    test = ratio(evidence, "writes-high", "times TCP")
    subject = f"throughput of {TRANSACTIONS} over SHM is"
    return decide(claim, subject, [test], _clients(evidence, test))


@check("T-spin-low")
def spin_low(claim: Claim, evidence: Evidence) -> Finding:
    """Compare spinning transporters with others, with 1 and 2 clients."""
    tests = _at_low(evidence, "spin", "times that without")
    return decide(claim, f"with spinning transporters, throughput of {TRANSACTIONS} is", tests)


@check("T-spin-top")
def spin_top(claim: Claim, evidence: Evidence) -> Finding:
    """Compare spinning transporters with others, at the clients of the others' best throughput."""
    test = ratio(evidence, "spin-top", "times that without")
    subject = f"with spinning transporters, the best throughput of {TRANSACTIONS} is"
    return decide(claim, subject, [test], _clients(evidence, test))


@check("T-allspin-low")
def all_spin_low(claim: Claim, evidence: Evidence) -> Finding:
    """Compare spinning in transporters, tc and ldm threads with none."""
    tests = _at_low(evidence, "all-spin", "times that without any")
    subject = f"with spinning transporters, tc and ldm threads, throughput of {TRANSACTIONS} is"
    return decide(claim, subject, tests)


def _at_low(evidence: Evidence, name: str, words: str) -> list[Comparison]:
    """Compare at 1 and at 2 clients, by the contrasts whose names begin with `name`."""
    return [
        ratio(evidence, f"{name}-{c}", f"{words}, with {count(c, 'client')}", tests=len(LOW))
        for c in LOW
    ]


def _clients(evidence: Evidence, test: Comparison) -> str:
    """Name the clients of both sides of a contrast."""
    top, base = (place(evidence, test.contrast, name).clients for name in (A, B))
    return f"with {count(top, 'client')}" + (f" against {base}" if top != base else "")
