"""Checks on shared-memory and TCP transporters, and on spinning in them.

Both transporters are loaded at once in one cluster, by contrasts, or in turns, by the sweep.
Spinning needs clusters of its own.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ndblab.error import MissingData
from ndblab.formatting import count
from ndblab.judging.checks import check
from ndblab.judging.contrasted import A, B, place, planned, ratio
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Comparison, Finding, decide
from ndblab.statistics import pairs, summary

READS, TRANSACTIONS = "oltp_point_select", "oltp_read_write"
# The numbers of clients that the source calls low concurrency.
LOW = (1, 2)


@check("T-shm-gain")
def gain_of_the_brief(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the best throughput of point selects, the brief's workload; OLTP RW is shown."""
    if planned(evidence, "reads-best"):
        test = ratio(evidence, "reads-best", f"times TCP with {READS}")
        return decide(claim, "the best throughput over SHM is", [test], _clients(evidence, test))
    found, *best = pairs.peak_ratio(*_transporters(evidence, READS))
    tests = [Comparison(f"times TCP with {READS}", found)]
    try:
        sides = _transporters(evidence, TRANSACTIONS)
        shown, *_ = pairs.peak_ratio(*sides)
        tests.append(Comparison(f"times TCP with {TRANSACTIONS}", shown, judged=False))
    except MissingData:
        pass
    note = f"{_best_at(best, 'SHM', 'TCP')}; {READS} decides, being the brief's workload"
    return decide(claim, "the best throughput over SHM is", tests, note)


@check("T-top")
def top(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the best throughput of OLTP RW over both transporters."""
    subject = f"the best throughput of {TRANSACTIONS} over SHM is"
    if planned(evidence, "writes-top"):
        test = ratio(evidence, "writes-top", "times TCP")
        return decide(claim, subject, [test], _clients(evidence, test))
    found, *best = pairs.peak_ratio(*_transporters(evidence, TRANSACTIONS))
    return decide(claim, subject, [Comparison("times TCP", found)], _best_at(best, "SHM", "TCP"))


@check("T-low")
def low(claim: Claim, evidence: Evidence) -> Finding:
    """Compare OLTP RW over both transporters with 1 and 2 clients."""
    subject = f"throughput of {TRANSACTIONS} over SHM is"
    tests = _contrasted_low(evidence, "writes", "times TCP")
    if not tests:
        logs = pairs.log_ratios(*_transporters(evidence, TRANSACTIONS))
        tests = _at_low(logs, "times TCP")
    return decide(claim, subject, tests)


@check("T-high")
def high(claim: Claim, evidence: Evidence) -> Finding:
    """Compare OLTP RW at the most clients, which must be past the peak."""
    shm, tcp = _transporters(evidence, TRANSACTIONS)
    logs = pairs.log_ratios(shm, tcp)
    most = int(logs["clients"].max())
    best = max(int(side.groupby("clients")["qps"].mean().idxmax()) for side in (shm, tcp))
    if most <= best:
        raise MissingData(f"nothing measured past the peak at {best} clients")
    test = Comparison(f"times TCP with {most} clients", pairs.ratio(logs, [most]))
    note = f"the most clients measured; throughput peaks at {count(best, 'client')}"
    return decide(claim, f"throughput of {TRANSACTIONS} over SHM is", [test], note)


@check("T-spin-low")
def spin_low(claim: Claim, evidence: Evidence) -> Finding:
    """Compare spinning transporters with others, with 1 and 2 clients."""
    subject = f"with spinning transporters, throughput of {TRANSACTIONS} is"
    tests = _contrasted_low(evidence, "spin", "times that without")
    if not tests:
        logs = pairs.log_ratios(_spinning(evidence, "shm-spin"), _plain(evidence))
        tests = _at_low(logs, "times that without")
    return decide(claim, subject, tests)


@check("T-spin-top")
def spin_top(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the best throughput with spinning transporters and without.

    The contrast has the clients of the best throughput without.
    """
    subject = f"with spinning transporters, the best throughput of {TRANSACTIONS} is"
    if planned(evidence, "spin-top"):
        test = ratio(evidence, "spin-top", "times that without")
        return decide(claim, subject, [test], _clients(evidence, test))
    spinning, plain = _spinning(evidence, "shm-spin"), _plain(evidence)
    found, *best = pairs.peak_ratio(spinning, plain)
    tests = [Comparison("times that without", found)]
    return decide(claim, subject, tests, _best_at(best, "with spinning it", "without"))


@check("T-allspin-low")
def all_spin_low(claim: Claim, evidence: Evidence) -> Finding:
    """Compare spinning in transporters, tc and ldm threads with none; others are shown."""
    subject = f"with spinning transporters, tc and ldm threads, throughput of {TRANSACTIONS} is"
    tests = _contrasted_low(evidence, "all-spin", "times that without any")
    if tests:
        return decide(claim, subject, tests)
    spinning = _spinning(evidence, "all-spin")
    tests = _at_low(pairs.log_ratios(spinning, _plain(evidence)), "times that without any")
    try:
        logs = pairs.log_ratios(spinning, _spinning(evidence, "shm-spin"))
        shown = _at_low(logs, "times that with spinning transporters alone")
        tests += [replace(test, judged=False) for test in shown]
    except MissingData:
        pass
    return decide(claim, subject, tests)


def _contrasted_low(evidence: Evidence, name: str, words: str) -> list[Comparison]:
    """Compare at 1 and at 2 clients by the contrasts of a name; none if there are none."""
    found = [c for c in LOW if planned(evidence, f"{name}-{c}")]
    return [
        ratio(evidence, f"{name}-{c}", f"{words}, with {count(c, 'client')}", tests=len(found))
        for c in found
    ]


def _clients(evidence: Evidence, test: Comparison) -> str:
    """Name the clients of both sides of a contrast."""
    top, base = (place(evidence, test.contrast, name).clients for name in (A, B))
    return f"with {count(top, 'client')}" + (f" against {base}" if top != base else "")


def _transporters(evidence: Evidence, workload: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    return (
        _some(summary.select(evidence.good, "shm", workload), f"{workload} over SHM"),
        _some(summary.select(evidence.good, "tcp", workload), f"{workload} over TCP"),
    )


def _plain(evidence: Evidence) -> pd.DataFrame:
    return _transporters(evidence, TRANSACTIONS)[0]


def _spinning(evidence: Evidence, variant: str) -> pd.DataFrame:
    runs = summary.select(evidence.good, "shm", TRANSACTIONS, variant)
    return _some(runs, f"{TRANSACTIONS} of the variant {variant}")


def _some(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    if runs.empty:
        raise MissingData(f"no good run of {name}")
    return runs


def _at_low(logs: pd.DataFrame, words: str) -> list[Comparison]:
    """Return the ratio at 1 and 2 clients, or the one of them that was measured."""
    clients = [c for c in LOW if (logs["clients"] == c).any()]
    if not clients:
        raise MissingData("no pair of runs with 1 or 2 clients")
    label = f"{words}, with {' and '.join(map(str, clients))} client{'s' * (clients != [1])}"
    return [Comparison(label, pairs.ratio(logs, clients))]


def _best_at(best: list[int], name: str, other: str) -> str:
    if best[0] == best[1]:
        return f"both peak at {count(best[0], 'client')}"
    return f"{name} peaks at {count(best[0], 'client')}, {other} at {best[1]}"
