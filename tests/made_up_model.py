"""A cluster that is exactly a capacity model, made up for tests: never a measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from made_up import PROCESSES, THREADS, Double
from ndblab.experiments.capacity import model
from ndblab.experiments.capacity.demands import CLIENT, KINDS, OTHER, SERVER, Law
from ndblab.machine.host import Cpu, CpuController, Host, NumaNode

HOST = Host(
    cpu_model="Test CPU",
    cpus=(Cpu(0, 0, 0, 0), Cpu(1, 1, 0, 0)),
    numa_nodes=(NumaNode(0, 8 << 30),),
    cpu_limit=None,
    memory_bytes=8 << 30,
    memory_available_bytes=4 << 30,
    memlock_bytes=None,
    kernel="6.1.0-test",
    distribution="Test Linux",
    virtualization="",
    cpu_controller=CpuController("cgroup2", "/x", "a test"),
)
SERVER_CPUS, SQL_CPUS, DATA_NODE_CPUS = 0.234, 1.5, 0.25
THREADS_EACH = dict.fromkeys(KINDS, 1)
LAWS = {
    CLIENT: Law(11.0, 0.25),
    SERVER: Law(80.0, each_us=0.3),
    OTHER: Law(0.0, background_cpus=0.02),
    **{kind: Law(12.0, -0.2, background_cpus=0.004) for kind in KINDS},
}
SHARES = model.Shares(2.0, SQL_CPUS, 2 * DATA_NODE_CPUS, SERVER_CPUS, {kind: 2 for kind in KINDS})
TRUTH = model.Model(LAWS, SHARES, clients_per_server=(1.0, 64.0))
COUNTS = (1, 2, 4, 8, 16, 32, 64)
P95_OVER_MEAN = 2.5


@dataclass
class Named(Double):
    """A made-up dataset of an experiment."""

    experiment: str = "single-server-scaling"
    complete: bool = True


def dataset(
    servers: tuple[int, ...] = (1,),
    clients: tuple[int, ...] = COUNTS,
    repeats: int = 3,
    noise: float = 0.01,
    budget: str = "scaled",
    name: str = "made-up-1",
) -> Named:
    """Make the dataset of a sweep over the cluster that is the model `TRUTH`."""
    rng = np.random.default_rng(len(name))
    grid = [(s, c) for s in servers for c in clients if c >= s]
    points = pd.DataFrame(grid, columns=["servers", "clients"])
    runs, processes, threads = [], [], []
    for at in model.predict(TRUTH, points).itertuples():
        for repeat in range(1, repeats + 1):
            run_id = f"s{at.servers:02}_c{at.clients:04}_r{repeat}"
            qps = float(at.qps * np.exp(noise * rng.standard_normal()))
            runs.append(_run(run_id, int(at.servers), int(at.clients), repeat, qps))
            cpus = {
                part: float(law.us(at.clients / at.servers)) * qps / 1e6 + law.background_cpus
                for part, law in LAWS.items()
            }
            each = 100 * cpus[SERVER] / at.servers
            for node in range(int(at.servers)):
                processes.append((run_id, 1.0, "mysqld", 11 + node, each, 1))
            processes.append((run_id, 1.0, "sysbench", 0, 100 * cpus[CLIENT], 1))
            for number, kind in enumerate((*KINDS, OTHER)):
                thread = "main" if kind == OTHER else kind
                threads.append((run_id, 1.0, 2, number, thread, 100 * cpus[kind], 0.0))
    made = Named(
        pd.DataFrame(runs),
        pd.DataFrame(processes, columns=PROCESSES).astype({"role": "category"}),
        pd.DataFrame(threads, columns=THREADS),
        manifest={"plan": plan(budget, max(servers))},
        budget=budget,
        id=name,
        host=HOST.to_dict(),
    )
    return made


def plan(budget: str = "scaled", servers: int = 1) -> dict[str, Any]:
    """Give the part of a dataset's plan that says who may use which CPUs."""

    def quota(cpus: float) -> dict[str, Any]:
        return {"cpus": [], "memory_nodes": [], "quota_cpus": cpus}

    return {
        "budget": {"kind": budget, "reason": "a test"},
        "threads": THREADS_EACH,
        "sql_side": quota(SQL_CPUS),
        "data_nodes": [{"share": quota(DATA_NODE_CPUS)}] * 2,
        "servers": [{"share": quota(SERVER_CPUS)}] * servers,
    }


def _run(run_id: str, servers: int, clients: int, repeat: int, qps: float) -> dict[str, Any]:
    mean_ms = 1000 * clients / qps
    return {
        "run_id": run_id,
        "status": "ok",
        "servers": servers,
        "clients": clients,
        "repeat": repeat,
        "transporter": "shm",
        "workload": "oltp_point_select",
        "variant": "default",
        "errors": 0,
        "qps": qps,
        "latency_avg_ms": mean_ms,
        "latency_p95_ms": P95_OVER_MEAN * mean_ms,
        "client_cpu_pct": 5.0,
        "host_busy_pct": 50.0,
    }
