"""Checks on CPU and memory of each kind of process, and on variants of one server (Figure 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ndblab.design.variant import UNDIVIDED
from ndblab.error import MissingData
from ndblab.experiments.scaling.sizing_rule import HALVES
from ndblab.formatting import count, significant
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition, demanded
from ndblab.judging.contrasted import A, B, Place, of_claim, place, ratio, side, sides
from ndblab.judging.evidence import COMMON_SHARE, SERVER_SHARE, Evidence, at, mean_of_runs
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Comparison, Finding, decide
from ndblab.machine.interference import STEAL_LIMIT_PCT
from ndblab.statistics.estimate import Estimate

# The brief's tables: 80 million rows take around 60 GB, which may be decimal or binary.
BRIEF_ROWS = 80_000_000
BRIEF_BYTES = {"GB": 60 * 10**9, "GiB": 60 * 2**30}
# Below this growth of throughput, the load hardly grew.
LEAST_RISE = 2.0
# 10 ms of CPU in a second.
TICK_PCT_S = 1.0
# NDB allocates DataMemory in pages. A fragment has its own for rows, the hash index and the ordered
# indexes of primary key and k, and the last of each may be nearly empty.
PAGE_BYTES = 32_768
PAGES_OF_FRAGMENT = 4
MOST_UNUSED = 0.2
# The same where those cancel: with fewer rows a fragment has too few pages for a linear size.
MOST_UNCERTAIN = 0.02
# Standard deviations to either side in the 95 % interval of a normal value.
NORMAL_95 = 1.96
LOAD = "load-1-k"
_VARIANTS = {
    "B-sockets": ("sockets", "throughput over TCP/IP is"),
    "B-redo": ("redo", "throughput with the small redo log is"),
    "F9-next-step": ("balance", "throughput with balanced threads is"),
}
"""Claims that compare a variant with the default: the contrast, and how the sentence begins."""


@check("F4-cpu-32", "F4-cpu-64", "F4-cpu-128")
def server_cpu(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the CPU of one mysqld at the published number of clients."""
    clients = int(claim.id.rpartition("-")[2])
    label = f"percent of one logical CPU {at(1, clients)}"
    return decide(claim, "mysqld uses", [mean_of_runs(evidence.serving_cpu_pct(1, clients), label)])


@check("F4-cpu-with-load")
def cpu_with_load(claim: Claim, evidence: Evidence) -> Finding:
    """Compare CPU growth of data nodes and mysqld from 1 client to many."""
    few, many = (place(evidence, LOAD, name) for name in (B, A))
    cpu = [_nodes_and_server(where) for where in (few, many)]
    both = pd.concat(cpu)
    label = f"times that of mysqld from 1 to {many.clients} clients"
    test = ratio(evidence, LOAD, label, both["ndbmtd"] / both["mysqld"])
    growths = [
        f"{name} grows by a factor of {significant(cpu[1][role].mean() / cpu[0][role].mean())}"
        for name, role in (("the data nodes' CPU", "ndbmtd"), ("mysqld's", "mysqld"))
    ]
    subject = "the growth factor of the data nodes' CPU is"
    return decide(claim, subject, [test], ", ".join(growths))


@condition("load-rises")
def load_rises(claim: Claim, evidence: Evidence) -> State:
    """Throughput at least doubles, so that it can show which use of CPU follows it."""
    many, few = (place(evidence, LOAD, name).runs["qps"].mean() for name in (A, B))
    words = f"throughput grows by a factor of {significant(many / few)}"
    return demanded(many / few >= LEAST_RISE, words, f"{LEAST_RISE:g} or more")


@condition("little-stolen")
def little_stolen(claim: Claim, evidence: Evidence) -> State:
    """Require that the hypervisor takes no more on any side than what disturbs a run.

    CPUs that it takes are not busy: a host that has used them up looks free.
    """
    stolen_pct = [
        place(evidence, contrast, name).runs["host_steal_pct"].mean()
        for contrast in of_claim(evidence, claim)
        for name in sides(evidence, contrast)
    ]
    if any(map(math.isnan, stolen_pct)):
        raise MissingData("what the hypervisor took was not recorded")
    pct = float(max(stolen_pct))
    words = f"the hypervisor took up to {significant(pct)} % of the host's CPUs"
    return demanded(pct <= STEAL_LIMIT_PCT, words, f"{STEAL_LIMIT_PCT:g} % or less")


@condition("by-tcp")
def by_tcp(claim: Claim, evidence: Evidence) -> State:
    """Clients connect over TCP/IP on side A and by their server's Unix socket on side B."""
    manifest = evidence.dataset.manifest
    by_network = bool(manifest.get("hosts"))
    kinds = []
    for contrast, name in ((c, name) for c in of_claim(evidence, claim) for name in (A, B)):
        known = manifest.get("variants", {}).get(side(evidence, contrast, name)["variant"], {})
        remote = known.get("tcp_clients") or (by_network and not known.get("clients_beside"))
        kinds.append("TCP/IP" if remote else "Unix socket")
    words = f"clients connect by {kinds[0]} on one side and by {kinds[1]} on the other"
    return State(kinds[:2] == ["TCP/IP", "Unix socket"], words)


@check("S-rule")
def sizing_rule(claim: Claim, evidence: Evidence) -> Finding:
    """Divide the CPUs left for mysqld on half of the host by those of one mysqld at its best."""
    best = evidence.best(1)
    used = evidence.serving_cpu_pct(1, best) / 100
    left = COMMON_SHARE * evidence.cpus / HALVES
    label = "servers per half of the host"
    note = f"each half has {significant(left)} logical CPUs for mysqld, "
    note += f"and one mysqld uses {significant(used.mean())} at its peak"
    if evidence.budget == "scaled":
        note += f", of {significant(SERVER_SHARE * evidence.cpus)} that it may use: the quotas "
        note += f"alone give {significant(COMMON_SHARE / HALVES / SERVER_SHARE)}"
    if len(evidence.servers) > 1:
        tops = {n: evidence.values(n, evidence.best(n), "qps").mean() for n in evidence.servers}
        servers = count(max(tops, key=tops.__getitem__), "server")
        note += f"; measured throughput was best with {servers}"
    return decide(claim, "the rule gives", [mean_of_runs(left / used, label)], note)


@check("B-less-cpu")
def less_cpu(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the CPU of all data nodes with that of all MySQL servers at the peak."""
    where = place(evidence, UNDIVIDED)
    used = where.cpu_pct
    label = f"times that of all mysqld {where.words}"
    test = where.mean(_role(used, "ndbmtd") / _role(used, "mysqld"), label, log=True)
    return decide(claim, "CPU of all ndbmtd is", [test])


@check("B-mgmd-idle")
def idle_management_node(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the CPU of the management node with that of the whole cluster at the peak."""
    where = place(evidence, "overload", B)
    used = where.cpu_pct
    node = _role(used, "ndb_mgmd")
    share = node / (node + _role(used, "ndbmtd") + _role(used, "mysqld"))
    # In a few seconds it uses few ticks of the kernel's clock, or none: their mean, not their logs.
    test = where.mean(share, f"of the cluster's CPU {where.words}")
    # The kernel counts CPU in ticks: the CPU of a run is known to one tick at best.
    duration_s = where.runs["duration_s"].mean()
    cluster_pct_s = used[["ndbmtd", "mysqld"]].sum(axis=1).mean() * duration_s
    tick = TICK_PCT_S / cluster_pct_s / math.sqrt(len(used))
    ticked = test.changed(lambda x: Estimate(x.value, max(0.0, x.low - tick), x.high + tick))
    return decide(claim, "ndb_mgmd uses", [ticked])


@check(*_VARIANTS)
def variant_and_default(claim: Claim, evidence: Evidence) -> Finding:
    """Compare a variant with the default."""
    contrast, subject = _VARIANTS[claim.id]
    where = place(evidence, contrast, A)
    test = ratio(evidence, contrast, f"times the default {where.words}")
    return decide(claim, subject, [test])


@check("B-row-bytes")
def row_bytes(claim: Claim, evidence: Evidence) -> Finding:
    """Divide the DataMemory that the tables took by their rows, on each data node.

    Each data node holds one replica of every row. The memory is counted, not sampled: the interval
    spans the data nodes and the possibly empty part of each last page. If as many tables were also
    filled with half the rows, the difference in memory is divided by the difference in rows.
    """
    filled = evidence.dataset.manifest.get("filled") or {}
    rows, taken = filled.get("rows"), filled.get("data_memory_bytes")
    if not rows or not taken:
        raise MissingData("the memory of its tables was not recorded")
    pages = _pages_partly_filled(evidence.dataset.manifest, len(taken))
    half, most = filled.get("half"), pages * PAGE_BYTES
    if half:
        rows -= half["rows"]
        taken = {node: used - half["data_memory_bytes"][node] for node, used in taken.items()}
        # Each of these pages is filled to an unknown part: a uniform value, twice.
        unused = sigmas = NORMAL_95 * PAGE_BYTES * math.sqrt(2 * pages / 12)
        note = f"{rows} more rows in as many tables, so that partly filled pages cancel"
    else:
        unused, sigmas = most, 0.0
        note = f"{rows} rows in all; up to {significant(most / rows)} of the bytes are in partly "
        note += "filled pages"
    per_row = [float(value) / rows for value in taken.values()]
    if unused / rows > (MOST_UNCERTAIN if half else MOST_UNUSED) * min(per_row):
        raise MissingData(f"{rows} rows are too few compared with partly filled pages")
    label = f"bytes of DataMemory per row on {count(len(per_row), 'data node')}"
    low, high = min(per_row) - unused / rows, max(per_row) + sigmas / rows
    row = Estimate(float(np.mean(per_row)), low, high)
    against = " and ".join(
        f"{100 * (row.value * BRIEF_ROWS / size - 1):+.0f} % against 60 {name}"
        for name, size in BRIEF_BYTES.items()
    )
    return decide(claim, "the tables take", [Comparison(label, row)], f"{against}; {note}")


def _pages_partly_filled(manifest: Mapping[str, Any], data_nodes: int) -> int:
    """Return the number of last pages of all fragments.

    A table has a partition for each ldm thread of each data node; with two replicas on two data
    nodes each node holds them all.
    """
    threads = manifest["plan"]["threads"]
    automatic = threads.get("automatic_cpus")
    ldm = automatic // 4 if automatic else threads["ldm"]
    return manifest["profile"]["tables"] * data_nodes * ldm * PAGES_OF_FRAGMENT


def _nodes_and_server(where: Place) -> pd.DataFrame:
    """Return the CPU of the data nodes and of the MySQL servers with clients, by run id."""
    nodes = _role(where.cpu_pct, "ndbmtd")
    serving = where.evidence.usage.of_serving(where.run_ids, where.servers)
    return pd.DataFrame({"ndbmtd": nodes, "mysqld": serving}).dropna()


def _role(used: pd.DataFrame, role: str) -> pd.Series:
    """Return the CPU of a role, run by run."""
    if role not in used or not (used[role] >= 0).all() or not used[role].any():
        raise MissingData(f"no CPU of {role} was recorded")
    return used[role]
