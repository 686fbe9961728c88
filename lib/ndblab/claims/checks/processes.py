"""Checks on CPU and memory of each kind of process, and on variants of one server (Figure 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ndblab.analysis import estimate, pairs, summary
from ndblab.analysis.estimate import Estimate
from ndblab.analysis.formatting import count, significant
from ndblab.claims.checks.decorator import check
from ndblab.claims.evidence import COMMON_SHARE, SERVER_SHARE, Evidence, at, mean_of_runs
from ndblab.claims.publication import Claim
from ndblab.claims.verdict import INCONCLUSIVE, Comparison, Finding, decide
from ndblab.error import MissingData
from ndblab.planning.workload import CLIENT_ROLES

# The brief has a socket for each of its two data nodes.
HALVES = 2
# Below this growth of throughput, the load hardly grew.
LEAST_RISE = 2.0
# 10 ms of CPU in a second.
TICK_PCT_S = 1.0
# NDB allocates DataMemory in pages. A fragment has its own for rows, the hash index and the ordered
# indexes of primary key and k, and the last of each may be nearly empty.
PAGE_BYTES = 32_768
PAGES_OF_FRAGMENT = 4
MOST_UNUSED = 0.2
_VARIANTS = {
    "B-sockets": ("tcp-clients", "throughput over TCP/IP is"),
    "B-redo": ("redo-small", "throughput with the small redo log is"),
    "F9-next-step": ("balanced-threads", "throughput with balanced threads is"),
}
"""Claims that compare a variant with the default: the variant, and how the sentence begins."""


@check("F4-cpu-32", "F4-cpu-64", "F4-cpu-128")
def server_cpu(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the CPU of one mysqld at the published number of clients."""
    clients = int(claim.id.rpartition("-")[2])
    label = f"percent of one logical CPU {at(1, clients)}"
    return decide(claim, "mysqld uses", [mean_of_runs(evidence.serving_cpu_pct(1, clients), label)])


@check("F4-cpu-with-load")
def cpu_with_load(claim: Claim, evidence: Evidence) -> Finding:
    """Compare CPU growth of data nodes and mysqld from 1 client to those that saturate a server."""
    clients, note = evidence.clients_per_server()
    if clients == 1:
        raise MissingData("one client saturates the server, so there is no growth to compare")
    few, many = (_by_repeat(evidence, 1, c) for c in (1, clients))
    growth = (many / few).dropna()
    if growth.empty:
        raise MissingData("no repeat with both numbers of clients")
    growths = [
        f"{name} grows by a factor of {significant(estimate.geometric(growth[role]).value)}"
        for name, role in (("the data nodes' CPU", "ndbmtd"), ("mysqld's", "mysqld"))
    ]
    label = f"times that of mysqld from 1 to {clients} clients"
    ratio = growth["ndbmtd"] / growth["mysqld"]
    test = Comparison(label, estimate.geometric(ratio))
    rise = evidence.values(1, clients, "qps").mean() / evidence.values(1, 1, "qps").mean()
    growths.append(f"throughput by {significant(rise)}")
    note = "; ".join([", ".join(growths), *([note] if note else [])])
    finding = decide(claim, "the growth factor of the data nodes' CPU is", [test], note)
    if rise < LEAST_RISE:
        why = "throughput grows too little to show which CPU use follows it"
        return replace(finding, verdict=INCONCLUSIVE, why=why)
    return finding


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
        note += f", of {significant(SERVER_SHARE * evidence.cpus)} that it may use"
    if len(evidence.servers) > 1:
        tops = {n: evidence.values(n, evidence.best(n), "qps").mean() for n in evidence.servers}
        best = count(max(tops, key=tops.__getitem__), "server")
        note += f"; measured throughput was best with {best}"
    return decide(claim, "the rule gives", [mean_of_runs(left / used, label)], note)


@check("B-less-cpu")
def less_cpu(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the CPU of all data nodes with that of all MySQL servers at the peak."""
    servers = evidence.servers[-1] if evidence.servers else 1
    best = evidence.best(servers)
    used = evidence.cpu_pct(servers, best)
    ratio = _role(used, "ndbmtd") / _role(used, "mysqld")
    label = f"times that of all mysqld {at(servers, best)}"
    test = Comparison(label, estimate.geometric(ratio))
    return decide(claim, "CPU of all ndbmtd is", [test])


@check("B-split")
def split(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the data nodes' share of the CPU of the cluster and its clients at the peak.

    sysbench counts with the MySQL servers, as it ran on their CPUs in the brief.
    """
    servers = evidence.servers[-1] if evidence.servers else 1
    best = evidence.best(servers)
    used = evidence.cpu_pct(servers, best)
    nodes = _role(used, "ndbmtd")
    sql = _role(used, "mysqld") + sum(used.get(role, 0.0) for role in CLIENT_ROLES)
    label = f"of the CPU used by them, mysqld and sysbench {at(servers, best)}"
    test = mean_of_runs(nodes / (nodes + sql), label, interval=estimate.share)
    return decide(claim, "the data nodes' share is", [test])


@check("B-mgmd-idle")
def idle_management_node(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the CPU of the management node over all good runs."""
    tables = [
        evidence.cpu_pct(n, clients) for n in evidence.servers for clients in evidence.clients(n)
    ]
    if not tables:
        raise MissingData("no good run")
    used = _role(pd.concat(tables), "ndb_mgmd")
    label = f"percent of one logical CPU, mean of {count(len(used), 'run')}"
    value, low, high = estimate.positive(used)
    # The kernel counts CPU in ticks: no run is known better than to one.
    tick = TICK_PCT_S / float(evidence.runs["duration_s"].mean()) / math.sqrt(len(used))
    ticked = Estimate(value, max(0.0, low - tick), high + tick)
    return decide(claim, "ndb_mgmd uses", [Comparison(label, ticked)])


@check(*_VARIANTS)
def variant_and_default(claim: Claim, evidence: Evidence) -> Finding:
    """Compare a variant with the default over all numbers of clients; each one is shown."""
    variant, subject = _VARIANTS[claim.id]
    logs = pairs.log_ratios(
        summary.select(evidence.good, variant=variant), summary.select(evidence.good)
    )
    clients = sorted(int(c) for c in logs["clients"].unique())
    label = f"times the default, over {count(len(logs), 'pair')} of runs"
    tests = [Comparison(label, pairs.ratio(logs, clients))]
    for c in clients if len(clients) > 1 else ():
        tests.append(Comparison(f"with {c} clients", pairs.ratio(logs, [c]), judged=False))
    return decide(claim, subject, tests)


@check("B-row-bytes")
def row_bytes(claim: Claim, evidence: Evidence) -> Finding:
    """Divide the DataMemory that the tables took by their rows, on each data node.

    Each data node holds one replica of every row. The memory is counted, not sampled: the interval
    spans the data nodes and the possibly empty part of each last page.
    """
    filled = evidence.dataset.manifest.get("filled") or {}
    rows, taken = filled.get("rows"), filled.get("data_memory_bytes")
    if not rows or not taken:
        raise MissingData("the memory of its tables was not recorded")
    each = [float(value) / rows for value in taken.values()]
    unused = _partly_filled_bytes(evidence.dataset.manifest, len(each)) / rows
    if unused > MOST_UNUSED * min(each):
        raise MissingData(f"{rows} rows are too few compared with partly filled pages")
    label = f"bytes of DataMemory per row on {count(len(each), 'data node')}, {rows} rows in all"
    found = Estimate(float(np.mean(each)), min(each) - unused, max(each))
    note = f"up to {significant(unused)} of the bytes are in partly filled pages"
    return decide(claim, "the tables take", [Comparison(label, found)], note)


def _partly_filled_bytes(manifest: Mapping[str, Any], data_nodes: int) -> float:
    """Return the most bytes that the last pages of all fragments may leave empty.

    A table has a partition for each ldm thread of each data node; with two replicas on two data
    nodes each node holds them all.
    """
    threads = manifest["plan"]["threads"]
    automatic = threads.get("automatic_cpus")
    ldm = automatic // 4 if automatic else threads["ldm"]
    return manifest["profile"]["tables"] * data_nodes * ldm * PAGES_OF_FRAGMENT * PAGE_BYTES


def _by_repeat(evidence: Evidence, servers: int, clients: int) -> pd.DataFrame:
    """Return the CPU of data nodes and mysqld at a point, one row per repeat."""
    nodes = _role(evidence.cpu_pct(servers, clients), "ndbmtd")
    serving = evidence.serving_cpu_pct(servers, clients)
    repeats = evidence.runs.set_index(evidence.runs["run_id"].astype(str))["repeat"]
    table = pd.DataFrame({"ndbmtd": nodes, "mysqld": serving}).dropna()
    return table.set_index(repeats.reindex(table.index).to_numpy())


def _role(used: pd.DataFrame, role: str) -> pd.Series:
    """Return the CPU of a role, run by run."""
    if role not in used or not (used[role] >= 0).all() or not used[role].any():
        raise MissingData(f"no CPU of {role} was recorded")
    return used[role]
