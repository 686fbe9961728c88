"""Checks on how CPUs are divided between data nodes and MySQL servers."""

from __future__ import annotations

from ndblab.formatting import count
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition, demanded
from ndblab.judging.contrasted import A, B, of_claim, place, ratio
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide

SPLITS = 3
"""The fewest divisions among which one can be called sensible: a best one has neighbours."""


@condition("splits")
def splits(claim: Claim, evidence: Evidence) -> State:
    """Several divisions of the CPUs between data nodes and servers were compared."""
    variants = evidence.dataset.manifest.get("variants", {}).values()
    quotas = [variant.get("quotas", {}).get("ndbmtd") for variant in variants]
    tried = {share for share in quotas if share is not None}
    words = f"{count(len(tried), 'division')} of the CPUs compared"
    return demanded(len(tried) >= SPLITS, words, f"{SPLITS}")


@check("B-split")
def quarter(claim: Claim, evidence: Evidence) -> Finding:
    """Compare throughput with a quarter of the CPUs for data nodes with that of every other share.

    Any share that is clearly better contradicts the claim.
    """
    names = of_claim(evidence, claim)
    tests = [
        ratio(evidence, name, f"times that with {name.rpartition('-')[2]} %", tests=len(names))
        for name in names
    ]
    subject = "throughput with a quarter of the CPUs for data nodes is"
    load, *others = (place(evidence, name, side) for name in names for side in (A, B))
    numbers = {load.clients, *(other.clients for other in others)}
    own = f"each share with its own best number of clients, {min(numbers)} to {max(numbers)}"
    return decide(claim, subject, tests, load.words if len(numbers) == 1 else own)
