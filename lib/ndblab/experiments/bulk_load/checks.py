"""Checks on bulk loads."""

from __future__ import annotations

from ndblab.formatting import count
from ndblab.judging.checks import check
from ndblab.judging.contrasted import A, ratio, side
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide


@check("B-load-redo")
def redo_log_of_loads(claim: Claim, evidence: Evidence) -> Finding:
    """Compare loading with the small redo log and with the usual one."""
    clients = side(evidence, "redo", A)["clients"]
    label = f"times that with the usual redo log, by INSERTs over {count(clients, 'connection')}"
    test = ratio(evidence, "redo", label)
    return decide(claim, "with the small redo log, rows loaded per second are", [test])
