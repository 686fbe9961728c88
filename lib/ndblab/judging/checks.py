"""Checks of claims, found by claim id; they are in the experiments' `checks` modules.

A check gets a claim and the evidence of one dataset, and returns a finding. It never reads the
claim's budgets or condition (`judge` does), and never decides without an interval.
"""

from __future__ import annotations

from collections.abc import Callable

from ndblab import discovery
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding

Check = Callable[[Claim, Evidence], Finding]
CHECKS: dict[str, Check] = {}


def check(*ids: str) -> Callable[[Check], Check]:
    """Make a function the check of these claims."""
    return discovery.named(CHECKS, *ids)


def find(claim_id: str) -> Check | None:
    """Return the check of a claim; None if there is none."""
    discovery.modules("checks")
    return CHECKS.get(claim_id)
