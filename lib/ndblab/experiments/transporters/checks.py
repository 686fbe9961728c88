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
from ndblab.judging.verdict import Finding, decide

READS, TRANSACTIONS = "oltp_point_select", "oltp_read_write"
_SPINNING = "with spinning transporters"
_AT_ONE = {
    "T-shm-gain": ("reads-best", f"times TCP with {READS}", "the best throughput over SHM is"),
    "T-top": ("writes-top", "times TCP", f"the best throughput of {TRANSACTIONS} over SHM is"),
    "T-high": ("writes-high", "times TCP", f"throughput of {TRANSACTIONS} over SHM is"),
    "T-spin-top": (
        "spin-top",
        "times that without",
        f"{_SPINNING}, the best throughput of {TRANSACTIONS} is",
    ),
}
"""By claim: the contrast, the words after its ratio, and how the sentence begins."""
LOW = (1, 2)
"""The numbers of clients that the source calls low concurrency."""
_AT_LOW = {
    "T-low": ("writes", "times TCP", f"throughput of {TRANSACTIONS} over SHM is"),
    "T-spin-low": ("spin", "times that without", f"{_SPINNING}, throughput of {TRANSACTIONS} is"),
    "T-allspin-low": (
        "all-spin",
        "times that without any",
        f"{_SPINNING}, tc and ldm threads, throughput of {TRANSACTIONS} is",
    ),
}
"""The same at those clients; names of contrasts end in their number."""


@condition("own-data-nodes")
def own_data_nodes(claim: Claim, evidence: Evidence) -> State:
    """Each side has data nodes of its own: what both share, a transporter cannot make faster."""
    [name] = of_claim(evidence, claim)
    shared = evidence.contrasts[name].get("design") == DUET
    words = "both sides share the data nodes" if shared else "each side has its own data nodes"
    return demanded(not shared, words, "twin clusters")


@check(*_AT_ONE)
def at_one(claim: Claim, evidence: Evidence) -> Finding:
    """Compare both sides of one contrast, and name the clients of both."""
    contrast, words, subject = _AT_ONE[claim.id]
    test = ratio(evidence, contrast, words)
    top, base = (place(evidence, contrast, name).clients for name in (A, B))
    note = f"with {count(top, 'client')}" + (f" against {base}" if top != base else "")
    return decide(claim, subject, [test], note)


@check(*_AT_LOW)
def at_low(claim: Claim, evidence: Evidence) -> Finding:
    """Compare at 1 and at 2 clients, each by a contrast of its own."""
    name, words, subject = _AT_LOW[claim.id]
    tests = [
        ratio(evidence, f"{name}-{c}", f"{words}, with {count(c, 'client')}", tests=len(LOW))
        for c in LOW
    ]
    return decide(claim, subject, tests)
