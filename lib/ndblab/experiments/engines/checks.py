"""Checks on two releases of one engine, each in cluster starts of its own."""

from __future__ import annotations

from ndblab.judging import releases
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition
from ndblab.judging.contrasted import ratio
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide


@check("D-indexstat")
def index_statistics(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the two engines under OLTP RW at high load."""
    first, second = releases.engines(_versions(evidence))
    test = ratio(evidence, "indexstat", f"times that of {first}")
    return decide(claim, f"the throughput of {second} is", [test])


@condition("releases")
def both_releases(claim: Claim, evidence: Evidence) -> State:
    """The engines are the two releases that the source compares; no others stand in for them."""
    measured = releases.are_measured(claim.source, _versions(evidence))
    first, second = releases.engines(_versions(evidence))
    wanted = "" if measured else f" (needs {releases.in_words(claim.source)})"
    return State(measured, f"the recording compares {first} with {second}{wanted}")


def _versions(evidence: Evidence) -> dict[str, str]:
    return evidence.dataset.manifest.get("versions", {})
