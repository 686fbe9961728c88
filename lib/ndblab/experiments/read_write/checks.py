"""Checks on OLTP read/write: throughput, filtered ranges, CPUs of data nodes."""

from __future__ import annotations

import math

from ndblab.error import MissingData
from ndblab.experiments.read_write import analysis as variations
from ndblab.formatting import count, significant
from ndblab.judging import allowance
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition
from ndblab.judging.contrasted import A, B, place, ratio
from ndblab.judging.evidence import DATA_NODES_SHARE, SATURATED, Evidence, at, mean_of_runs
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide
from ndblab.planning.workload import READ_WRITE

# What a data node uses without any load, in CPUs: the recorded sweep of one server, extrapolated.
IDLE_CPUS = 0.04


@check("R-rw-top", "R-rw-server")
def best(claim: Claim, evidence: Evidence) -> Finding:
    """Show the best mean transactions a second: of any number of servers, or of one."""
    runs = variations.transactions(evidence.good)
    if claim.id == "R-rw-server":
        runs = runs[runs["servers"] == 1]
    if runs.empty:
        raise MissingData(f"no good run of {READ_WRITE} with these servers")
    groups = runs.groupby(["servers", "clients"])
    servers, clients = groups["qps"].mean().idxmax()
    own = groups.get_group((servers, clients))
    where = at(int(servers), int(clients))
    test = mean_of_runs(own["tps"], f"transactions/s {where}")
    note = f"p95 {significant(own['latency_p95_ms'].astype(float).mean())} ms"
    return decide(claim, "the best throughput is", [test], note)


@check("R-base-latency")
def unloaded(claim: Claim, evidence: Evidence) -> Finding:
    """Show the mean latency of a transaction with a single client."""
    runs = variations.transactions(evidence.good)
    alone = runs[(runs["servers"] == 1) & (runs["clients"] == 1)]
    if alone.empty:
        raise MissingData(f"no good run of {READ_WRITE} {at(1, 1)}")
    test = mean_of_runs(alone["latency_avg_ms"].astype(float), f"ms {at(1, 1)}")
    return decide(claim, "a transaction takes", [test])


@check("R-rw-servers")
def cpus_of_data_nodes(claim: Claim, evidence: Evidence) -> Finding:
    """Compare data nodes under their CPU share with data nodes under half of it.

    On a small host, what they use without any load is so much of half their CPUs that it alone
    makes the ratio exceed 2.
    """
    where = place(evidence, variations.DATA_NODES)
    label = f"times that under half of their CPUs {where.words}"
    test = ratio(evidence, variations.DATA_NODES, label)
    note = f"what they use without load by itself makes it {significant(_by_idling(evidence))}"
    return decide(claim, "throughput under all of the data nodes' CPUs is", [test], note)


@condition("own-cpus")
def own_cpus(claim: Claim, evidence: Evidence) -> State:
    """The data nodes get CPUs of their own, not a larger quota, and use them up."""
    nodes = [
        allowance.parts(evidence, variations.DATA_NODES, name)[allowance.DATA_NODES]
        for name in (A, B)
    ]
    used = " and ".join(f"{100 * part.share:.0f} %" for part in nodes)
    words = f"the data nodes use {used} of the CPU that they may use"
    if min(part.share for part in nodes) < SATURATED:
        return State(False, f"{words} ({100 * SATURATED:.0f} % or more wanted)")
    if allowance.QUOTA in (part.limit for part in nodes):
        forced = {variations.DATA_NODES: nodes[0].allowed / nodes[1].allowed}
        words += ", limited by quotas (CPUs of their own wanted)"
        return State(False, words, forced, allowance.DATA_NODES)
    return State(True, words)


@check("R-filter-gain")
def filtered(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the best throughput with filtered ranges and without."""
    top, base = (place(evidence, variations.FILTER, name) for name in (A, B))
    test = ratio(evidence, variations.FILTER, f"times that without the filter {top.words}")
    note = f"without it, with {count(base.clients, 'client')}" * (base.clients != top.clients)
    return decide(claim, "throughput with filtered ranges is", [test], note)


@check("R-filter-servers")
def cpus_of_servers(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the CPU of all servers with that of the data nodes, where no quota divides them.

    The source reads it off the number of servers at which more of them gain little. Without quotas
    either side takes what it needs, and the ratio is that of what they use.
    """
    where = place(evidence, variations.UNDIVIDED)
    used = where.cpu_pct
    if not {"mysqld", "ndbmtd"} <= set(used) or not (used["ndbmtd"] > 0).all():
        raise MissingData("no CPU of mysqld or ndbmtd was recorded")
    label = f"times that of the data nodes {where.words}"
    test = where.mean(used["mysqld"] / used["ndbmtd"], label, log=True)
    busy = where.runs["host_busy_pct"].astype(float).mean()
    note = f"without quotas; the host's CPUs are {busy:.0f} % busy"
    return decide(claim, "CPU of all mysqld is", [test], note)


def _by_idling(evidence: Evidence) -> float:
    """Return what is left of a data node's CPUs over what is left of half of them."""
    cpus = DATA_NODES_SHARE * evidence.cpus / 2
    half = cpus / 2
    return (cpus - IDLE_CPUS) / (half - IDLE_CPUS) if half > IDLE_CPUS else math.inf
