"""Checks on the threads of data nodes, as ndb_top shows them (Figures 5 and 9).

A thread's utilisation is that of the operating system, in percent of one logical CPU.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from ndblab.analysis import estimate
from ndblab.analysis.estimate import Estimate
from ndblab.analysis.formatting import count, significant
from ndblab.claims.checks.decorator import check, check_family
from ndblab.claims.evidence import Evidence, at, mean_of_runs
from ndblab.claims.publication import Claim
from ndblab.claims.verdict import NOT_TESTABLE, Comparison, Finding, decide
from ndblab.error import MissingData

# The brief's NumCPUs, which its thread counts and thread numbers follow from.
BRIEF_NUM_CPUS = 32
# Those of its Figure 5, far past the peak of its one server.
BRIEF_CLIENTS = 1024
_UTILISATION = partial(estimate.share, whole=100.0)
LISTED_KINDS = ("ldm", "query", "tc", "send", "recv", "main")


@check_family(r"F[59]-(ldm|query|tc|send|recv|main)-\d+")
def one_thread(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the utilisation of the published thread, or of all threads of its kind.

    A thread number means the same thread only if the data nodes have the brief's threads.
    """
    _, kind, number = claim.id.split("-")
    servers, clients = _one_server(evidence) if claim.figure == "5" else _peak(evidence)
    threads = evidence.threads(servers, clients)
    if kind not in set(threads["thread"]):
        return Finding(NOT_TESTABLE, f"the data nodes have no {kind} thread here")
    threads = threads[threads["thread"] == kind]
    who = f"mean of {count(threads['thr_no'].nunique(), f'{kind} thread')} on each data node"
    if _num_cpus(evidence) == BRIEF_NUM_CPUS:
        threads = threads[threads["thr_no"] == int(number)]
        who = f"{kind} thread {number}, mean of the data nodes"
    values = threads.groupby("run_id")["pct"].mean()
    label = f"percent of one logical CPU {at(servers, clients)}, {who}"
    test = mean_of_runs(values, label, interval=_UTILISATION)
    return decide(claim, "utilisation is", [test])


@check("F5-recv-busiest")
def busiest_recv(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the busiest recv thread of a data node with its busiest thread of every other kind.

    The brief does not say which data node it shows: differences are the mean of both.
    """
    shown, most = _one_server(evidence), (1, evidence.clients(1)[-1])
    tests = _busiest_differences(evidence, *shown, judged=True)
    if shown != most:
        tests += _busiest_differences(evidence, *most, judged=False)
    subject = (
        "utilisation of the busiest recv thread minus that of the busiest of each other kind, "
    )
    return decide(claim, f"{subject}in percentage points, is", tests)


@check("F5-no-saturation")
def no_saturation(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the utilisation of the busiest NDB thread of either data node under one server."""
    servers, clients = _one_server(evidence)
    threads = evidence.threads(servers, clients)
    kind = threads.groupby("thread")["pct"].max().idxmax()
    busiest = threads.groupby("run_id")["pct"].max()
    test = mean_of_runs(busiest, f"percent, a {kind} thread", interval=_UTILISATION)
    return decide(claim, f"{at(servers, clients)} the busiest NDB thread is at", [test])


@check("F9-tc-bottleneck", "P-tc")
def busiest_tc(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the mean utilisation of tc threads with every other kind at the peak."""
    servers, clients = _peak(evidence)
    means = (
        evidence.threads(servers, clients)
        .groupby(["run_id", "thread"])["pct"].mean().unstack("thread")
    )  # fmt: skip
    tests = _differences(means, "tc", judged=True)
    note = f"{at(servers, clients)}; tc is at {significant(means['tc'].mean())} %"
    if evidence.budget == "scaled":
        share = 100 * evidence.data_node_cpus
        note += f"; all threads of a data node share a quota of {significant(share)} %"
    subject = (
        "mean utilisation of the tc threads minus that of each other kind, in percentage points, is"
    )
    return decide(claim, subject, tests, note)


@check("F9-threads")
def threads(claim: Claim, evidence: Evidence) -> Finding:
    """Count the threads of a data node, by the names it reports."""
    table = evidence.dataset.ndb_threads
    each = table[["node_id", "thr_no", "thread"]].astype({"thread": str}).drop_duplicates()
    if each.empty:
        raise MissingData("no NDB threads were recorded")
    by_node = each.groupby(["node_id", "thread"]).size().unstack(fill_value=0)
    kinds = by_node.reindex(columns=list(LISTED_KINDS), fill_value=0)
    words = ", ".join(f"{kinds[kind].max()} {kind}" for kind in LISTED_KINDS)
    totals = kinds.sum(axis=1)
    total = Estimate(float(totals.mean()), float(totals.min()), float(totals.max()))
    finding = decide(claim, "there are", [Comparison("threads", total)])
    numbers = f"a data node has {words}: {' or '.join(str(n) for n in sorted(set(totals)))} in all"
    finding = replace(finding, numbers=numbers)
    if _num_cpus(evidence) != BRIEF_NUM_CPUS:
        why = f"the data nodes did not run with NumCPUs={BRIEF_NUM_CPUS}"
        return replace(finding, verdict=NOT_TESTABLE, why=why)
    return finding


def _one_server(evidence: Evidence) -> tuple[int, int]:
    """Return the servers and clients of Figure 5: the brief's, if numbers of clients compare.

    Otherwise those of the best throughput of one server, where its NDB threads are busiest.
    """
    if evidence.clients_compare and evidence.has(1, BRIEF_CLIENTS):
        return 1, BRIEF_CLIENTS
    return 1, evidence.best(1)


def _peak(evidence: Evidence) -> tuple[int, int]:
    """Return the servers and clients of Figure 9: the most servers at their best throughput."""
    if not evidence.servers:
        raise MissingData("no good run")
    return evidence.servers[-1], evidence.best(evidence.servers[-1])


def _busiest_differences(
    evidence: Evidence, servers: int, clients: int, judged: bool
) -> list[Comparison]:
    threads = evidence.threads(servers, clients)
    busiest = threads.groupby(["run_id", "node_id", "thread"])["pct"].max().unstack("thread")
    means = busiest.groupby(level="run_id").mean()
    return _differences(means, "recv", judged, f" {at(servers, clients)}")


def _differences(kinds: pd.DataFrame, kind: str, judged: bool, where: str = "") -> list[Comparison]:
    """Compare a kind of threads with every other; one row per run, one column per kind."""
    if kind not in kinds:
        raise MissingData(f"the data nodes have no {kind} thread")
    others = [other for other in kinds if other != kind]
    if not judged:
        others = [kinds[others].mean().idxmax()]
    tests = []
    for other in others:
        difference = (kinds[kind] - kinds[other]).dropna()
        test = mean_of_runs(difference, f"for {other}{where}", len(others), estimate.mean)
        tests.append(replace(test, judged=judged))
    return tests


def _num_cpus(evidence: Evidence) -> int | None:
    """Return the NumCPUs from which the data nodes derived their threads; None if unset."""
    return evidence.dataset.manifest.get("plan", {}).get("threads", {}).get("automatic_cpus")
