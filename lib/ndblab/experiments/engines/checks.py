"""Checks on two releases of one engine, each in cluster starts of its own."""

from __future__ import annotations

from dataclasses import replace

from ndblab.judging import releases
from ndblab.judging.checks import check
from ndblab.judging.contrasted import ratio
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import NOT_TESTABLE, Finding, decide


@check("D-indexstat")
def index_statistics(claim: Claim, evidence: Evidence) -> Finding:
    """Compare OLTP RW at high load; two other engines say nothing of the claim."""
    versions = evidence.dataset.manifest.get("versions", {})
    first, second = releases.engines(versions)
    test = ratio(evidence, "indexstat", f"times that of {first}")
    finding = decide(claim, f"the throughput of {second} is", [test])
    if releases.are_measured(claim.source, versions):
        return finding
    why = f"needs {releases.in_words(claim.source)}"
    return replace(finding, verdict=NOT_TESTABLE, why=why, waits={})
