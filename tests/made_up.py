"""Datasets made up for tests: a few rows each, never a measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from ndblab.dataset import SCHEMAS
from ndblab.judging import judge, publication

CLAIMS = publication.claims()
BY_ID = {claim.id: claim for claim in CLAIMS}
BRIEF_MODEL = "AMD EPYC 7742 64-Core Processor"
Curve = Callable[[int, int], float]
PROCESSES, EVENTS, SLICES, CONTROL = (
    list(SCHEMAS[name].columns) for name in ("processes", "events", "slices", "control")
)
THREADS = ["run_id", "t_s", "node_id", "thr_no", "thread", "os_user_pct", "os_system_pct"]
INTERVALS = ["run_id", "t_s", "clients", "qps", "latency_p95_ms"]


def _empty(name: str) -> Callable[[], pd.DataFrame]:
    columns = SCHEMAS[name].columns
    return lambda: pd.DataFrame({column: pd.Series(dtype=float) for column in columns})


@dataclass(eq=False)
class Double:
    """A made-up dataset."""

    runs: pd.DataFrame
    processes: pd.DataFrame = field(default_factory=_empty("processes"))
    ndb_threads: pd.DataFrame = field(default_factory=_empty("ndb_threads"))
    intervals: pd.DataFrame = field(default_factory=_empty("intervals"))
    events: pd.DataFrame = field(default_factory=_empty("events"))
    slices: pd.DataFrame = field(default_factory=_empty("slices"))
    history: pd.DataFrame = field(default_factory=_empty("history"))
    copies: pd.DataFrame = field(default_factory=_empty("copies"))
    counters: pd.DataFrame = field(default_factory=_empty("counters"))
    dumps: pd.DataFrame = field(default_factory=_empty("dumps"))
    locks: pd.DataFrame = field(default_factory=_empty("locks"))
    pushed: pd.DataFrame = field(default_factory=_empty("pushed"))
    reads: pd.DataFrame = field(default_factory=_empty("reads"))
    transactions: pd.DataFrame = field(default_factory=_empty("transactions"))
    aborts: pd.DataFrame = field(default_factory=_empty("aborts"))
    locality: pd.DataFrame = field(default_factory=_empty("locality"))
    control: pd.DataFrame = field(default_factory=_empty("control"))
    manifest: Mapping[str, Any] = field(default_factory=dict)
    budget: str = "scaled"
    id: str = "double"
    host: dict[str, Any] = field(default_factory=lambda: {"logical_cpus": 2, "cpu_model": "x"})
    earlier: tuple[Double, ...] = ()

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables by name."""
        return {name: getattr(self, name) for name in SCHEMAS}


def scaled_qps(servers: int, clients: int) -> float:
    """A ceiling for each server, one for all of them, and a little loss past it."""
    top = min(1000.0 * servers, 4600.0)
    return min(250.0 * clients, top * (1 - 0.02 * max(0, clients / (4 * servers) - 2)))


def double(
    qps: Curve = scaled_qps,
    *,
    p95: Curve | None = None,
    spread: float = 0.003,
    repeats: int = 4,
    servers: tuple[int, ...] = (1, 2, 4, 8, 16),
    clients: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
    mysqld_cpus: Curve = lambda servers, clients: 0.1,
    budget: str = "scaled",
    cpus: int = 2,
    model: str = "x",
) -> Double:
    """Make a dataset of a curve; its runs differ by `spread` up and down, other points by turns."""
    p95 = p95 or (lambda n, c: 2000 * c / qps(n, c))
    rows, processes = [], []
    for n in servers:
        for c in clients:
            turn = len(rows) // repeats
            for repeat in range(repeats):
                factor = 1 + spread * (-1) ** (repeat + turn)
                name = f"s{n:02}_c{c:04}_r{repeat}"
                rows.append(
                    {
                        "run_id": name,
                        "status": "ok",
                        "servers": n,
                        "clients": c,
                        "repeat": repeat + 1,
                        "transporter": "shm",
                        "workload": "oltp_point_select",
                        "variant": "default",
                        "qps": qps(n, c) * factor,
                        "errors": 0,
                        "warmup_s": 2.0,
                        "duration_s": 8.0,
                        "latency_p95_ms": p95(n, c) / factor,
                        "latency_avg_ms": p95(n, c) / 2,
                        "client_cpu_pct": 10.0,
                        "host_busy_pct": 50.0,
                        "host_steal_pct": 0.0,
                    }
                )
                processes.append((name, 1, "mysqld", 11, 100 * mysqld_cpus(n, c), 1))
    host = {"logical_cpus": cpus, "cpu_model": model}
    table = pd.DataFrame(processes, columns=PROCESSES).astype({"role": "category"})
    return Double(pd.DataFrame(rows), table, budget=budget, host=host)


def verdict(dataset: Double, name: str) -> pd.Series:
    """Judge one claim."""
    table = judge.judge(dataset, [name], CLAIMS)
    assert list(table.columns) == judge.COLUMNS
    return table.iloc[0]


def decided(dataset: Double, name: str) -> pd.Series:
    """Judge one claim by its check alone: as if it could be tested and held anywhere."""
    open_to_all = dict.fromkeys(publication.BUDGETS, "yes")
    claim = replace(BY_ID[name], budgets=open_to_all, scope=publication.ANY, condition="")
    return judge.judge(dataset, [name], [claim]).iloc[0]


def contrasted(
    dataset: Double,
    name: str,
    values: Mapping[str, tuple[int, int, Mapping[str, float]]],
    *,
    claims: tuple[str, ...] = (),
    blocks: int = 9,
    spread: float = 0.01,
    options: Mapping[str, Any] | None = None,
    variant: str = "default",
    starts: int = 2,
) -> Double:
    """Add a contrast to a dataset, with blocks of two slices of each side.

    Parameters
    ----------
    values : by side, its servers, its clients, and values of columns of `slices`; those of a block
        differ by `spread` up and down.
    starts : cluster starts that share the blocks, if there are as many.
    """
    rows = []
    for block in range(1, blocks + 1):
        for side, (servers, clients, columns) in values.items():
            factor = 1 + spread * ((block * (3 if side == "a" else 5)) % 4 - 1.5)
            for slot in (1, 2):
                rows.append(
                    {
                        "run_id": f"{name}_b{block:03}_{slot}{side}",
                        "contrast": name, "block": block, "slot": slot, "side": side,
                        "of": 2 * len(values), "start": 1 + (block - 1) * starts // blocks,
                        "status": "ok", "servers": servers,
                        "clients": clients, "warmup_s": 1.0, "duration_s": 4.0,
                        "host_busy_pct": 50.0, "host_steal_pct": 0.0,
                        **{"qps": 100_000.0 * factor},
                        **{key: value * factor for key, value in columns.items()},
                    }
                )  # fmt: skip
    point = {"transporter": "shm", "workload": "oltp_point_select", "variant": variant}
    planned: dict[str, Any] = {"name": name, "claims": claims, "a": None, "b": None}
    for side, (servers, clients, _) in values.items():
        at = {"servers": servers, "clients": clients, **point}
        planned[side] = {"point": at, "options": dict(options or {}), "condition": ""}
    slices = pd.DataFrame(rows, columns=SLICES)
    known = [*dataset.manifest.get("contrasts", ()), planned]
    joined = pd.concat([dataset.slices, slices]) if len(dataset.slices) else slices
    return replace(dataset, slices=joined, manifest={**dataset.manifest, "contrasts": known})


def slices_use(dataset: Double, cpu_pct: Callable[[pd.Series], Mapping[str, float]]) -> Double:
    """Let slices use CPU by role, from their row; a role may end with a node id."""
    rows = [
        (row["run_id"], 4.0, role.rstrip("0123456789"), number, pct, 1)
        for _, row in dataset.slices.iterrows()
        for number, (role, pct) in enumerate(cpu_pct(row).items())
    ]
    table = pd.DataFrame(rows, columns=PROCESSES).astype({"role": "category"})
    others = dataset.processes.astype({"role": str}).dropna(axis="columns", how="all")
    return replace(dataset, processes=pd.concat([others, table]) if rows else others)


def with_plan(
    dataset: Double,
    nodes: float | None = None,
    server: float | None = None,
    sql: float | None = None,
    **variants: Mapping[str, float | None],
) -> Double:
    """Add the plan of two data nodes and 16 servers with these CPU quotas; none, as it is.

    `variants` replace quotas, in shares of the host's CPUs, as a manifest has them.
    """

    def share(quota: float | None) -> dict[str, Any]:
        return {"cpus": [], "memory_nodes": [], "quota_cpus": quota}

    plan = {
        "data_nodes": [{"number": n, "share": share(nodes)} for n in (1, 2)],
        "servers": [{"number": n, "share": share(server)} for n in range(1, 17)],
        "sql_side": share(sql),
        "threads": {},
    }
    known = {name: {"quotas": quotas} for name, quotas in variants.items()}
    return replace(dataset, manifest={**dataset.manifest, "plan": plan, "variants": known})


def threads_use(dataset: Double, pct: Callable[[pd.Series, str], float], kinds: str) -> Double:
    """Let every slice show these kinds of threads on both data nodes, thread by thread."""
    rows = [
        (row["run_id"], 4.0, node, number, kind, pct(row, kind) + 0.1 * ((at + number) % 2), 0.0)
        for at, (_, row) in enumerate(dataset.slices.iterrows())
        for node in (2, 3)
        for number, kind in enumerate(kinds.split())
    ]
    table = pd.DataFrame(rows, columns=THREADS).astype({"thread": "category"})
    return replace(dataset, ndb_threads=table)


THREADS_OF_32 = " ".join(
    " ".join([kind] * many)
    for kind, many in {"ldm": 8, "query": 8, "tc": 4, "send": 3, "recv": 3, "main": 1}.items()
)
"""The 27 threads of a data node that the brief lists."""
