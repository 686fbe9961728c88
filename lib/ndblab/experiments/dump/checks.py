"""Checks on runs that end by themselves: the locks of reads, dumps, and bulk loads."""

from __future__ import annotations

from dataclasses import replace

from ndblab.error import MissingData
from ndblab.experiments.dump import analysis as dumps
from ndblab.experiments.locking_reads import analysis as locks
from ndblab.formatting import count, significant
from ndblab.judging.contrasted import A, ratio, side
from ndblab.judging.decorator import check
from ndblab.judging.evidence import Evidence, mean_of_runs
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import CONTRADICTED, Comparison, Finding, decide
from ndblab.planning.workload import (
    CREATE_SELECT,
    READ_COMMITTED,
    REPEATABLE_READ,
    SET_VARIABLE,
    ZSTD,
)
from ndblab.statistics.estimate import Estimate

LOCKING = (
    (SET_VARIABLE, READ_COMMITTED),
    (SET_VARIABLE, REPEATABLE_READ),
    (CREATE_SELECT, REPEATABLE_READ),
)
"""Statements and isolation levels of which the claim says that they take shared record locks."""


@check("L-uservar")
def user_variable(claim: Claim, evidence: Evidence) -> Finding:
    """Count the shared record locks of a statement at its last row, in every run.

    A run with the fewest decides where there must be some, and one with the most where there must
    be none. Every lock was counted, so the numbers are exact.
    """
    found = evidence.dataset.locks
    tests = []
    for statement, isolation in LOCKING:
        least = locks.shared(found, statement, isolation).min()
        tests.append(Comparison(f"by {statement} in {isolation}", _exact(least)))
    most = int(locks.shared(found, CREATE_SELECT, READ_COMMITTED).max())
    runs = count(found["run_id"].nunique(), "run")
    subject = f"shared record locks on the table that is read, at its last row ({runs}):"
    finding = decide(claim, subject, tests)
    numbers = f"{finding.numbers}, {most or 'none'} by {CREATE_SELECT} in {READ_COMMITTED}"
    finding = replace(finding, numbers=numbers)
    if most == 0 or finding.verdict == CONTRADICTED:
        return finding
    why = f"{CREATE_SELECT} is published to take them only in {REPEATABLE_READ}"
    return replace(finding, verdict=CONTRADICTED, why=why, measured=_exact(most))


@check("M-zstd")
def dump_time(claim: Claim, evidence: Evidence) -> Finding:
    """Give the time of a dump through zstd; time and ratio of the others are shown."""
    found = dumps.of(evidence.good, evidence.dataset.dumps)
    if ZSTD not in set(found["compression"].astype(str)):
        raise MissingData("no good dump through zstd")
    tests = []
    for (tool, compression), own in found.groupby(["tool", "compression"], observed=True):
        ratio = significant(own["ratio"].mean())
        label = f"s with {tool} and compression {compression} (ratio {ratio})"
        test = mean_of_runs(own["duration_s"], label)
        tests.append(replace(test, judged=compression == ZSTD))
    return decide(claim, f"dumping {significant(found['content_mb'].mean())} MB takes", tests)


@check("B-load-redo")
def redo_log_of_loads(claim: Claim, evidence: Evidence) -> Finding:
    """Compare loading with the small redo log and with the usual one."""
    clients = side(evidence, "redo", A)["clients"]
    label = f"times that with the usual redo log, by INSERTs over {count(clients, 'connection')}"
    test = ratio(evidence, "redo", label)
    return decide(claim, "with the small redo log, rows loaded per second are", [test])


def _exact(number: float) -> Estimate:
    return Estimate(*[float(number)] * 3)
