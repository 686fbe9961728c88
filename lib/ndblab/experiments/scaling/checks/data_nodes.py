"""Checks on the threads of data nodes, as ndb_top shows them (Figures 5 and 9).

A thread's utilisation is that of the operating system, in percent of one logical CPU.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pandas as pd

from ndblab.error import MissingData
from ndblab.formatting import significant
from ndblab.judging import publication
from ndblab.judging.checks import check, check_family
from ndblab.judging.contrasted import A, B, Place, place, planned
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import NOT_TESTABLE, Comparison, Finding, decide
from ndblab.statistics.estimate import Estimate

# The brief's NumCPUs, which its thread counts and thread numbers follow from.
BRIEF_NUM_CPUS = 32
# Clients of its Figure 5 over those of its server's peak, and fewest that count as a peak here.
PAST_PEAK, LEAST_CLIENTS = 32, 4
LISTED_KINDS = ("ldm", "query", "tc", "send", "recv", "main")
# Threads of a data node with that NumCPUs, by the text of the brief; none of main is on a screen.
BRIEF_THREADS = {"ldm": 8, "query": 8, "tc": 4, "send": 3, "recv": 3}
# The contrast whose data nodes choose their threads for 32 CPUs.
COUNTED = "threads-of-32"
# A screen is one second of one data node, in which threads of one kind differ by this much and
# more (ldm and query in Figure 5). It is also the lab's tolerance of a published gain.
SHARE_TOLERANCE = 0.25


@check_family(r"F[59]-(ldm|query|tc|send|recv|main)-\d+")
def one_thread(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the share of a kind of threads in the CPU of its data node with that of the screen.

    A thread number means the same thread only if the data nodes have the brief's threads: there
    the share of the thread itself is judged.
    """
    _, kind, number = claim.id.split("-")
    where = _figure_5(evidence) if claim.figure == "5" else _figure_9(evidence)
    threads = where.threads[where.threads["thread"].isin(LISTED_KINDS)]
    mine = threads["thread"] == kind
    if not mine.any():
        return Finding(NOT_TESTABLE, f"the data nodes have no {kind} thread here")
    judged, who = claim, f"all {kind} threads"
    if _num_cpus(evidence) == BRIEF_NUM_CPUS:
        mine &= threads["thr_no"] == int(number)
        share, who = published_shares(claim.figure)[1][claim.id], f"{kind} thread {number}"
        least, most = (share * (1 + sign * SHARE_TOLERANCE) for sign in (-1, 1))
        judged = replace(claim, low=least, high=most)
    used = threads.groupby("run_id")["pct"].sum()
    shares = threads[mine].groupby("run_id")["pct"].sum() / used[used > 0]
    label = f"of the CPU of its listed threads, {where.words}"
    test = where.mean(shares.dropna(), label, log=True)
    return decide(judged, f"{who} of a data node use", [test])


@check("F5-recv-busiest")
def busiest_recv(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the busiest recv thread of a data node with its busiest thread of every other kind.

    The brief does not say which data node it shows: differences are the mean of both.
    """
    where = _figure_5(evidence)
    busiest = where.threads.groupby(["run_id", "node_id", "thread"])["pct"].max().unstack("thread")
    tests = _differences(where, busiest.groupby(level="run_id").mean(), "recv")
    subject = (
        "utilisation of the busiest recv thread minus that of the busiest of each other kind, "
    )
    return decide(claim, f"{where.words} {subject}in percentage points, is", tests)


@check("F5-no-saturation")
def no_saturation(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the utilisation of the busiest NDB thread of either data node under one server."""
    where = _figure_5(evidence)
    kind = where.threads.groupby("thread")["pct"].max().idxmax()
    busiest = where.threads.groupby("run_id")["pct"].max()
    test = where.mean(busiest, f"percent, a {kind} thread", log=True)
    return decide(claim, f"{where.words} the busiest NDB thread is at", [test])


@check("F9-tc-bottleneck", "P-tc")
def busiest_tc(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the mean utilisation of tc threads with every other kind at the peak."""
    where = _figure_9(evidence)
    means = where.threads.groupby(["run_id", "thread"])["pct"].mean().unstack("thread")
    tests = _differences(where, means, "tc")
    note = f"{where.words}; tc is at {significant(means['tc'].mean())} %"
    if evidence.budget == "scaled":
        share = 100 * evidence.data_node_cpus
        note += f"; all threads of a data node share a quota of {significant(share)} %"
    subject = (
        "mean utilisation of the tc threads minus that of each other kind, in percentage points, is"
    )
    return decide(claim, subject, tests, note)


@check("F9-threads")
def threads(claim: Claim, evidence: Evidence) -> Finding:
    """Count the threads of a data node that chose them for 32 CPUs, by the names it reports.

    They do not depend on the host's CPUs, so one start with that setting is enough anywhere.
    """
    table = evidence.dataset.ndb_threads
    if planned(evidence, COUNTED):
        table = table[table["run_id"].astype(str).isin(place(evidence, COUNTED, A).run_ids)]
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
    if not planned(evidence, COUNTED) and _num_cpus(evidence) != BRIEF_NUM_CPUS:
        why = f"the data nodes did not run with NumCPUs={BRIEF_NUM_CPUS}"
        return replace(finding, verdict=NOT_TESTABLE, why=why)
    return finding


def _figure_5(evidence: Evidence) -> Place:
    """Return the place of Figure 5: one server with 32 times the clients that saturate it.

    The brief's server peaks at 32 clients and is shown at 1024. The contrast fixes the number
    before it is measured. A sweep has it, or the most clients below.
    """
    if planned(evidence, "recv"):
        return place(evidence, "recv", A)
    if not evidence.clients(1):
        raise MissingData("no good run of one server")
    far = [c for c in evidence.clients(1) if c <= PAST_PEAK * max(LEAST_CLIENTS, evidence.knee(1))]
    return place(evidence, "recv", A, (1, far[-1] if far else evidence.clients(1)[0]))


def _figure_9(evidence: Evidence) -> Place:
    """Return the place of Figure 9: the most servers at their best throughput."""
    return place(evidence, "overload", B)


def _differences(where: Place, kinds: pd.DataFrame, kind: str) -> list[Comparison]:
    """Compare a kind of threads with every other; one row per run, one column per kind."""
    if kind not in kinds:
        raise MissingData(f"the data nodes have no {kind} thread")
    others = [other for other in kinds if other != kind]
    return [
        where.mean((kinds[kind] - kinds[other]).dropna(), f"for {other}", len(others))
        for other in others
    ]


@cache
def published_shares(figure: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return the share of each kind in the CPU of a screen's threads, and of each thread by claim.

    A screen does not show all threads. Figure 5 is sorted and ends with nearly idle ones: those
    missing count as idle, as its text says of recv. The ends of Figure 9 are not: there a missing
    thread counts as the mean of its kind. `main` is listed in neither.
    """
    listed = {a.claim: a.value for a in publication.anchors(figure) if a.series.find("thr_no") > 0}
    values = pd.Series(listed)
    of_kind = values.groupby(values.index.str.split("-").str[1])
    used = of_kind.sum() if figure == "5" else of_kind.mean() * pd.Series(BRIEF_THREADS)
    total = used.sum()
    return dict(used / total), dict(values / total)


def _num_cpus(evidence: Evidence) -> int | None:
    """Return the NumCPUs from which the data nodes derived their threads; None if unset."""
    return evidence.dataset.manifest.get("plan", {}).get("threads", {}).get("automatic_cpus")
