"""A small model of a cluster: closed queues whose service times, quotas and locks are known.

It gives the throughput, latency and CPU use that a contrast or a sweep would measure, noise-free.
The queues are solved by the library's mean value analysis; the judges use none of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ndblab.design.variant import Variant
from ndblab.experiments.capacity import network
from ndblab.experiments.capacity.demands import CLIENT, KINDS, OTHER, SERVER, Law
from ndblab.experiments.capacity.model import DATA_NODES, LOCK, POOLS, STATIONS, Model, Shares
from ndblab.planning.point import Point
from ndblab.planning.workload import READ_WRITE

AUTOMATIC = {"ldm": 8, "query": 8, "tc": 4, "send": 3, "recv": 3, "main": 1}
"""Threads of a data node that chose them for 32 CPUs (brief, "Going Above 1.7M QPS")."""
PARTS = (CLIENT, SERVER, *KINDS, OTHER)


@dataclass(frozen=True)
class Load:
    """What one execution of a load generator does: a point, in a variant, at most at a rate."""

    point: Point
    variant: Variant
    rate: float = float("inf")


@dataclass(frozen=True)
class Performance:
    """Throughput, latency, and the logical CPUs of each part of the cluster, idle use included."""

    qps: float
    avg_ms: float
    p95_ms: float
    cpus: Mapping[str, float]


@dataclass(frozen=True)
class Cluster:
    """The truth about a cluster.

    `laws` are CPU times per query and, for `LOCK`, the time that a query holds the one lock of its
    server. `slower` multiplies all laws of a server that has a feature: "tcp" (its transporter),
    or the name of a variant. A query of a transaction with writes costs data nodes `writes` times
    as much.
    """

    laws: Mapping[str, Law]
    delay_us: float = 0.0
    slower: Mapping[str, float] | None = None
    writes: float = 1.5

    def alone(
        self, loads: Sequence[Load], plan: Mapping[str, Any], cpus: float
    ) -> list[Performance]:
        """Return what each load gets when it runs alone: `at` of each load, solved all at once."""
        models = [self._model(load, plan, cpus) for load in loads]
        clients = [load.point.clients for load in loads]
        asked = [_network(m, load) for m, load in zip(models, loads, strict=True)]
        solved = network.solve(network.stacked(asked), clients)
        return [
            _performance(m, load, solved, True, number)
            for number, (m, load) in enumerate(zip(models, loads, strict=True))
        ]

    def at(self, loads: Sequence[Load], plan: Mapping[str, Any], cpus: float) -> list[Performance]:
        """Return what loads get when they run at the same time, each on its own servers.

        They share the data nodes. Once these are saturated, every query waits there equally long,
        whoever sent it: the wait at which the data nodes' use equals their capacity.
        """
        models = [self._model(load, plan, cpus) for load in loads]
        loads = [_carrying(m, load) for m, load in zip(models, loads, strict=True)]
        least, most = 0.0, 0.0
        solved = [_solve(m, load, 0.0) for m, load in zip(models, loads, strict=True)]
        if len(loads) > 1 and _use(models, loads, solved) > 1:
            most = 1e6
            for _ in range(40):
                wait_us = (least + most) / 2
                solved = [_solve(m, load, wait_us) for m, load in zip(models, loads, strict=True)]
                full = _use(models, loads, solved) > 1
                least, most = (wait_us, most) if full else (least, wait_us)
        # What the cluster uses without queries is used once, and counted with the first load.
        return [
            _performance(m, load, s, idle=number == 0)
            for number, (m, load, s) in enumerate(zip(models, loads, solved, strict=True))
        ]

    def _model(self, load: Load, plan: Mapping[str, Any], cpus: float) -> Model:
        slower = self.slower or {}
        factor = slower.get(load.point.transporter, 1.0) * slower.get(load.variant.name, 1.0)
        heavy = self.writes if load.point.workload == READ_WRITE else 1.0
        laws = {
            part: replace(law, one_us=law.one_us * by, each_us=law.each_us * by)
            for part, law in self.laws.items()
            for by in [heavy if part in KINDS else factor]
        }
        return Model(laws, shares(plan, cpus, load), self.delay_us)


def shares(plan: Mapping[str, Any], cpus: float, load: Load) -> Shares:
    """Return the CPUs that each part may use, as the plan and the variant's quotas say."""
    nodes, kind = plan["data_nodes"], plan["budget"]["kind"]
    of_node = threads_of(plan, load.variant)
    threads = {name: len(nodes) * number for name, number in of_node.items()}
    if kind == "pinned":
        data = sum(len(node["share"]["cpus"]) for node in nodes)
        sql = len(plan["sql_side"]["cpus"])
        # A server has the CPUs of its own half.
        return Shares(cpus, sql / 2 if load.point.servers == 1 else sql, data, None, threads)
    quotas = load.variant.quotas
    if kind == "shared" or (quotas and quotas.get("sql", 1) is None):
        return Shares(cpus, cpus, cpus, None, threads)
    numbers = range(1, load.point.servers + 1)
    usual = plan["servers"][0]["share"]["quota_cpus"]
    own = [_quota(cpus, quotas, usual, "mysqld", f"mysqld.{i}") for i in numbers]
    data = [_quota(cpus, quotas, node["share"]["quota_cpus"], "ndbmtd") for node in nodes]
    sql = _quota(cpus, quotas, plan["sql_side"]["quota_cpus"], "sql")
    return Shares(cpus, sql, sum(data), float(np.mean(own)), threads)


def _quota(cpus: float, quotas: Mapping[str, float | None], usual: float, *names: str) -> float:
    """Return a quota in CPUs: that of the last of these names in `quotas`, else the usual one."""
    for name in names:
        if name in quotas:
            share = quotas[name]
            usual = cpus if share is None else cpus * share
    return usual


def threads_of(plan: Mapping[str, Any], variant: Variant) -> dict[str, int]:
    """Return the threads of one data node of a variant's cluster, by kind."""
    if variant.shape.get("num_cpus", plan["threads"].get("automatic_cpus")):
        return dict(AUTOMATIC)
    return {kind: int(plan["threads"][kind]) for kind in KINDS} | {"main": 1}


def _network(model: Model, load: Load) -> network.Network:
    return model.network([load.point.servers], [load.point.clients])


def _solve(model: Model, load: Load, wait_us: float) -> network.Solution:
    asked = replace(model, delay_us=model.delay_us + wait_us)
    return network.solve(_network(asked, load), [load.point.clients])


def _carrying(model: Model, load: Load) -> Load:
    """Return a load with the fewest clients that achieve its rate; the others wait for work."""
    least, most = 1, load.point.clients
    while np.isfinite(load.rate) and least < most:
        middle = (least + most) // 2
        tried = replace(load, point=replace(load.point, clients=middle))
        enough = _solve(model, tried, 0.0).qps[0] >= load.rate
        least, most = (least, middle) if enough else (middle + 1, most)
    return replace(load, point=replace(load.point, clients=most))


def _use(
    models: Sequence[Model], loads: Sequence[Load], solved: Sequence[network.Solution]
) -> float:
    """Return the share of the data nodes' busiest part that all loads together would use."""
    names = (*STATIONS, *POOLS)
    shared = [i for i, name in enumerate(names) if name in (*KINDS, DATA_NODES)]
    used = 0.0
    for model, load, found in zip(models, loads, solved, strict=True):
        used = used + found.qps[0] / _network(model, load).limits_qps[0][shared]
    return float(np.max(used))


def _performance(
    model: Model, load: Load, solved: network.Solution, idle: bool, number: int = 0
) -> Performance:
    qps = min(float(solved.qps[number]), load.rate)
    active = min(load.point.servers, load.point.clients)
    cpus = {
        part: float(law.us(load.point.clients / active)) * qps / 1e6 + idle * law.background_cpus
        for part, law in model.laws.items()
        if part != LOCK
    }
    return Performance(qps, solved.response_us[number] / 1e3, solved.p95_us[number] / 1e3, cpus)
