"""Checks on the locks of reads."""

from __future__ import annotations

from dataclasses import replace

from ndblab.experiments.locking_reads import (
    CREATE_SELECT,
    READ_COMMITTED,
    REPEATABLE_READ,
    SET_VARIABLE,
)
from ndblab.experiments.locking_reads import analysis as locks
from ndblab.formatting import count
from ndblab.judging.checks import check
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import CONTRADICTED, Comparison, Finding, decide
from ndblab.statistics.estimate import Estimate

LOCKING = (
    (SET_VARIABLE, READ_COMMITTED),
    (SET_VARIABLE, REPEATABLE_READ),
    (CREATE_SELECT, REPEATABLE_READ),
)
"""Statements and isolation levels that take shared record locks, according to the claim."""


@check("L-uservar")
def user_variable(claim: Claim, evidence: Evidence) -> Finding:
    """Count the shared record locks of a statement at its last row, in every run.

    Where there must be some, the run with the fewest decides; where there must be none, the run
    with the most. Every lock was counted, so the numbers are exact.
    """
    recorded = evidence.dataset.locks
    tests = []
    for statement, isolation in LOCKING:
        least = locks.shared(recorded, statement, isolation).min()
        tests.append(Comparison(f"by {statement} in {isolation}", _exact(least)))
    most = int(locks.shared(recorded, CREATE_SELECT, READ_COMMITTED).max())
    runs = count(recorded["run_id"].nunique(), "run")
    subject = f"shared record locks on the table that is read, at its last row ({runs}):"
    finding = decide(claim, subject, tests)
    numbers = f"{finding.numbers}, {most or 'none'} by {CREATE_SELECT} in {READ_COMMITTED}"
    finding = replace(finding, numbers=numbers)
    if most == 0 or finding.verdict == CONTRADICTED:
        return finding
    why = f"{CREATE_SELECT} is published to take none in {READ_COMMITTED}"
    return replace(finding, verdict=CONTRADICTED, why=why, measured=_exact(most))


def _exact(number: float) -> Estimate:
    return Estimate(*[float(number)] * 3)
