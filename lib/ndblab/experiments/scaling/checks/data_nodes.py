"""Checks on the threads of data nodes, as ndb_top shows them (Figures 5 and 9).

A thread's utilisation is that of the operating system, in percent of one logical CPU.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pandas as pd

from ndblab.design.variant import UNDIVIDED
from ndblab.error import MissingData
from ndblab.formatting import significant
from ndblab.judging import publication
from ndblab.judging.checks import check
from ndblab.judging.conditions import NEAR_PCT, State, condition, demanded
from ndblab.judging.contrasted import A, B, Place, decided_by, of_claim, place, side, sides
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import CONTRADICTED, REPRODUCED, Comparison, Finding, decide
from ndblab.statistics.estimate import Estimate

# The brief's NumCPUs, which its thread counts and thread numbers follow from.
BRIEF_NUM_CPUS = 32
# Threads of a data node with that NumCPUs, by the text of the brief; none of main is on a screen.
BRIEF_THREADS = {"ldm": 8, "query": 8, "tc": 4, "send": 3, "recv": 3}
LISTED_KINDS = (*BRIEF_THREADS, "main")
BRIEF_LISTED = 27
# A screen is one second of one data node, in which threads of one kind differ by this much and
# more (ldm and query in Figure 5). It is also the lab's tolerance of a published gain.
SHARE_TOLERANCE = 0.25
# Under a quota, threads stop for lack of CPU time, and their order is not that of the software.
decided_by(UNDIVIDED, "P-tc")


@check(*(claim.id for claim in publication.claims() if claim.is_reading))
def one_thread(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the share of a kind of threads in the CPU of its data node with that of the screen.

    A thread number means the same thread only if the data nodes have the brief's threads: there
    the share of the thread itself is judged.
    """
    _, kind, number = claim.id.split("-")
    contrast, name = ("recv", A) if claim.figure == "5" else ("overload", B)
    where = place(evidence, contrast, name)
    threads = where.threads[where.threads["thread"].isin(LISTED_KINDS)]
    mine = threads["thread"] == kind
    if not mine.any():
        raise MissingData(f"the data nodes have no {kind} thread here")
    judged, who = claim, f"all {kind} threads of a data node use"
    if _num_cpus(evidence, contrast) == BRIEF_NUM_CPUS:
        mine &= threads["thr_no"] == int(number)
        who = f"{kind} thread {number} of a data node uses"
        # Four decimals, rounded inwards: what is printed is what is compared with.
        share = 1e4 * published_shares(claim.figure)[1][claim.id]
        least = math.ceil(share * (1 - SHARE_TOLERANCE)) / 1e4
        most = math.floor(share * (1 + SHARE_TOLERANCE)) / 1e4
        judged = replace(claim, low=least, high=most)
    used = threads.groupby("run_id")["pct"].sum()
    shares = threads[mine].groupby("run_id")["pct"].sum() / used[used > 0]
    label = f"of the CPU of its listed threads, {where.words}"
    test = where.mean(shares.dropna(), label, log=True)
    return decide(judged, who, [test])


@check("F5-recv-busiest")
def busiest_recv(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the busiest recv thread of a data node with its busiest thread of every other kind.

    The brief does not say which data node it shows: differences are the mean of both.
    """
    where = _busiest(claim, evidence)
    busiest = where.threads.groupby(["run_id", "node_id", "thread"])["pct"].max().unstack("thread")
    tests = _differences(where, busiest.groupby(level="run_id").mean(), "recv")
    subject = f"{where.words} utilisation of the busiest recv thread minus that of the busiest of "
    return decide(claim, f"{subject}each other kind, in percentage points, is", tests)


@check("F5-no-saturation")
def no_saturation(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the utilisation of the busiest NDB thread of either data node under one server."""
    where = _busiest(claim, evidence)
    kind = where.threads.groupby("thread")["pct"].max().idxmax()
    busiest = where.threads.groupby("run_id")["pct"].max()
    test = where.mean(busiest, f"percent, a {kind} thread", log=True)
    return decide(claim, f"{where.words} the busiest NDB thread is at", [test])


@check("F9-tc-bottleneck", "P-tc")
def busiest_tc(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the mean utilisation of tc threads with every other kind at the peak."""
    where = _busiest(claim, evidence)
    means = where.threads.groupby(["run_id", "thread"])["pct"].mean().unstack("thread")
    tests = _differences(where, means, "tc")
    note = f"{where.words}; tc is at {significant(means['tc'].mean())} %"
    subject = "mean utilisation of the tc threads minus that of each other kind"
    return decide(claim, f"{subject}, in percentage points, is", tests, note)


@check("F9-threads")
def threads(claim: Claim, evidence: Evidence) -> Finding:
    """Count the threads of a data node, by the names it reports; each kind must be as published.

    They do not depend on the host's CPUs, so one start is enough anywhere.
    """
    kinds = _counted(place(evidence, of_claim(evidence, claim)[0]))
    words = ", ".join(f"{kinds[kind].max()} {kind}" for kind in LISTED_KINDS)
    totals = kinds.sum(axis=1)
    total = Estimate(float(totals.mean()), float(totals.min()), float(totals.max()))
    finding = decide(claim, "there are", [Comparison("threads", total)])
    published = pd.Series({**BRIEF_THREADS, "main": 1})
    if finding.verdict == REPRODUCED and not (kinds == published).all(axis=None):
        wanted = ", ".join(f"{number} {kind}" for kind, number in published.items())
        finding = replace(finding, verdict=CONTRADICTED, why=f"as many, of other kinds: {wanted}")
    numbers = f"a data node has {words}: {' or '.join(str(n) for n in sorted(set(totals)))} in all"
    return replace(finding, numbers=numbers)


@condition("num-cpus-32")
def num_cpus(claim: Claim, evidence: Evidence) -> State:
    """The data nodes chose their threads for 32 CPUs, as the brief's did."""
    chosen = _num_cpus(evidence, of_claim(evidence, claim)[0])
    words = f"the data nodes chose threads for {chosen or 'no given number of'} CPUs"
    return demanded(chosen == BRIEF_NUM_CPUS, words, f"{BRIEF_NUM_CPUS}")


@condition("threads-27")
def as_many_threads(claim: Claim, evidence: Evidence) -> State:
    """Each data node has as many threads as the brief's; of fewer, another kind may be busiest."""
    totals = _counted(_busiest(claim, evidence)).sum(axis=1)
    words = f"a data node has {totals.min()} threads"
    return demanded((totals == BRIEF_LISTED).all(), words, f"{BRIEF_LISTED}")


@condition("ndb-saturated")
def ndb_saturated(claim: Claim, evidence: Evidence) -> State:
    """An NDB thread of any kind is near saturation, on at least one side.

    Its words have what tc threads reached, which are saturated in the source.
    """
    kinds = [
        where.threads.groupby(["run_id", "thread"])["pct"].max().unstack("thread")
        for where in _places(claim, evidence)
    ]
    busiest = max(kinds, key=lambda by_kind: by_kind.max(axis=1).mean())
    pct = float(busiest.max(axis=1).mean())
    words = f"the busiest NDB thread uses {significant(pct)} % of a CPU"
    if "tc" in busiest:
        words += f", the busiest tc thread {significant(busiest['tc'].mean())} %"
    return demanded(pct >= NEAR_PCT, words, f"{NEAR_PCT} % or more")


@condition("tc-near-saturation")
def tc_near_saturation(claim: Claim, evidence: Evidence) -> State:
    """The tc threads are short of CPU, so that more of them would relieve them."""
    threads = place(evidence, of_claim(evidence, claim)[0], B).threads
    tc = threads[threads["thread"] == "tc"]
    if tc.empty:
        raise MissingData("the data nodes have no tc thread")
    pct = float(tc.groupby("run_id")["pct"].max().mean())
    words = f"the busiest tc thread uses {significant(pct)} % of a CPU"
    return demanded(pct >= NEAR_PCT, words, f"{NEAR_PCT} % or more")


def _busiest(claim: Claim, evidence: Evidence) -> Place:
    """Return where throughput is best on any side of the claim's contrasts."""
    return max(_places(claim, evidence), key=lambda where: where.runs["qps"].mean())


def _places(claim: Claim, evidence: Evidence) -> list[Place]:
    """Return all sides of the claim's contrasts."""
    return [
        place(evidence, contrast, name)
        for contrast in of_claim(evidence, claim)
        for name in sides(evidence, contrast)
    ]


def _counted(where: Place) -> pd.DataFrame:
    """Count the listed threads: one row per data node, one column per kind."""
    distinct = where.threads[["node_id", "thr_no", "thread"]].drop_duplicates()
    by_node = distinct.groupby(["node_id", "thread"]).size().unstack(fill_value=0)
    return by_node.reindex(columns=list(LISTED_KINDS), fill_value=0)


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


def _num_cpus(evidence: Evidence, contrast: str) -> int | None:
    """Return the NumCPUs from which data nodes derived their threads; None if unset."""
    manifest = evidence.dataset.manifest
    variant = side(evidence, contrast)["variant"]
    shape = manifest.get("variants", {}).get(variant, {}).get("shape", {})
    return shape.get("num_cpus", manifest.get("plan", {}).get("threads", {}).get("automatic_cpus"))
