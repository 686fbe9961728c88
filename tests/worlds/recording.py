"""Datasets of planted worlds, written as measured ones are: by the real designs and writer.

What is measured and in which order comes from the experiment; what comes out, from the model of the
cluster, with the noise, the drift and the faults of the world's host.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from ndblab import dataset
from ndblab.dataset.schema import SCHEMAS
from ndblab.design import catalogue
from ndblab.design.contrast import DUET, STARTS, Contrast, Side, Slice
from ndblab.design.experiment import Experiment
from ndblab.experiments.capacity.demands import CLIENT, KINDS, OTHER, SERVER
from ndblab.machine.host import Host
from ndblab.measuring import manifest
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.statistics import summary
from worlds.cluster_model import Cluster, Load, Performance, threads_of

BINARIES = SimpleNamespace(
    ndb_version="9.7.4",
    mysqld_version="9.7.4",
    sysbench_version="1.0.20",
    fingerprint=lambda: dict.fromkeys(("ndbmtd", "mysqld", "sysbench"), "0" * 12),
)
BEGAN = pd.Timestamp("2021-09-30T12:00:00Z")
BLOCKS, BLOCKS_PER_START = 9, 3
RATES = ("qps", "latency_avg_ms", "latency_p95_ms")
USER = 0.7
"""Part of a thread's CPU time that is its own rather than the system's."""


@dataclass(frozen=True)
class Weather:
    """What the host adds to the truth.

    Parameters
    ----------
    noise : standard deviation of the logarithm of throughput, from slice to slice.
    second : the same from second to second of a long run.
    drift : factor on throughput, by seconds since the beginning.
    steal_pct : CPU time that the hypervisor takes, in percent of the host's.
    late : part of the seconds that sysbench reports late: the next report has the queries of both.
    unlucky : factor on throughput by contrast, cluster start and side.
    """

    noise: float = 0.01
    second: float = 0.008
    drift: Callable[[float], float] = lambda t_s: 1.0
    steal_pct: float = 0.0
    late: float = 0.0
    unlucky: Mapping[tuple[str, int, str], float] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """A cluster, the host that it runs on, and how the lab divides that host."""

    cluster: Cluster
    host: Host
    budget: str
    clients: Sequence[int]
    weather: Weather = Weather()


class Recording:
    """One experiment in a world, while it is written."""

    def __init__(self, world: World, experiment: str, seed: int = 1) -> None:
        self.world, self.experiment = world, catalogue.find(experiment)
        self.size = size_of(self.experiment, world)
        self.rng, self.clock_s, self.start = np.random.default_rng(seed), 0.0, 1
        self.described, self.identity = manifest.describe(
            self.experiment, self.size, world.budget, world.host, BINARIES
        )
        self.plan: Mapping[str, Any] = self.described["plan"]
        self._known: dict[object, list[Performance]] = {}

    def write(self, root: Path, claims: Collection[str]) -> dataset.Dataset:
        """Write the dataset: the whole sweep, and the contrasts that these claims wait for."""
        opened = dataset.Writer.open(root, self.experiment.name, self.identity, self.described)
        with opened as writer:
            for repeat in range(1, self.size.repeats + 1):
                for point in self.experiment.sweep(self.size).points:
                    writer.append(*self._run(point, repeat))
            contrasts = self._contrasts(writer.snapshot().runs)
            writer.note(contrasts=[each.to_dict() for each in contrasts], starts=self.start)
            for contrast in contrasts:
                for block in range(1, BLOCKS + 1) if set(contrast.claims) & set(claims) else ():
                    for row, tables in self._block(contrast, block):
                        writer.append(row, tables)
            return writer.finish()

    def _contrasts(self, runs: pd.DataFrame) -> tuple[Contrast, ...]:
        if self.experiment.contrasts is None:
            return ()
        return self.experiment.contrasts(self.experiment, self.size, summary.points(runs))

    def _run(self, point: Point, repeat: int) -> tuple[str, dict[str, pd.DataFrame]]:
        mark = "" if point.variant == "default" else f"-{point.variant}"
        kind = f"{point.transporter}-{point.workload.replace('_', '-')}{mark}"
        run_id = f"{kind}_s{point.servers:02}_c{point.clients:04}_r{repeat}"
        [true] = self._true((self._load(Side(point)),))
        seconds = self._seconds(run_id, point, true)
        factor = self._weather("", 1, "") if seconds.empty else seconds["qps"].mean() / true.qps
        row = self._row(run_id, point, true, factor, self.size.warmup_s, self.size.duration_s)
        row |= {"repeat": repeat, "latency_min_ms": 0.1, "host_load_1min": 1.0}
        row |= {"latency_max_ms": 10 * row["latency_p95_ms"]}
        self.clock_s += self.size.warmup_s + self.size.duration_s
        tables = {"runs": _table("runs", [row]), **self._used(run_id, point, true)}
        return run_id, tables if seconds.empty else {**tables, "intervals": seconds}

    def _block(
        self, contrast: Contrast, block: int
    ) -> list[tuple[str, dict[str, pd.DataFrame]]]:
        length = contrast.length(self.experiment.slice_length(self.size))
        slots = contrast.block(block, self.size.seed)
        per_start = contrast.blocks_per_start or BLOCKS_PER_START
        first, before = 1 + (block - 1) // per_start, None
        written = []
        for number, slot in enumerate(slots):
            if contrast.design == STARTS:
                first = 2 * block - 1 + (number >= len(slots) // 2)
            loads = tuple(self._load(contrast.side(each.side)) for each in slot)
            host = self._drift() * np.exp(self.world.weather.noise * self.rng.standard_normal())
            for each, load, true in zip(slot, loads, self._true(loads), strict=True):
                own = self._weather(contrast.name, first, each.side)
                # Both sides of a duet have the same host at the same time.
                factor = own if contrast.design != DUET else own * host / self._drift()
                written.append(self._slice(contrast, each, first, load, true, factor, length))
            self.clock_s += sum(length) + 0.4
            before = first
        self.start = max(self.start, before or 1)
        if contrast.design == DUET:
            return [self._with_both(written, each) for each in written]
        return written

    def _slice(
        self, contrast: Contrast, each: Slice, start: int, load: Load, true: Performance,
        factor: float, length: Sequence[float],
    ) -> tuple[str, dict[str, pd.DataFrame]]:  # fmt: skip
        row = self._row(each.run_id, load.point, true, factor, *length)
        row |= each.columns() | {"start": start}
        row["latency_avg_ms"] = row["latency_avg_ms"] if contrast.design != DUET else np.nan
        tables = self._used(each.run_id, load.point, true)
        return each.run_id, {"slices": _table("slices", [row]), **tables}

    @staticmethod
    def _with_both(
        written: Sequence[tuple[str, dict[str, pd.DataFrame]]],
        each: tuple[str, dict[str, pd.DataFrame]],
    ) -> tuple[str, dict[str, pd.DataFrame]]:
        """Let a slice of a duet see what the whole cluster used, as a monitor does."""
        name, tables = each
        [other] = [t for n, t in written if n[:-1] == name[:-1] and n != name]
        both = {}
        for table, value in (("processes", "cpu_pct"), ("ndb_threads", "os_user_pct")):
            mine, its = tables[table], other[table]
            used = mine[value] + its[value].to_numpy()
            if table == "processes":
                server = (mine["role"] == "mysqld").to_numpy()
                swapped = its.assign(node_id=its["node_id"] + 1)[server]
                both[table] = pd.concat([mine.assign(cpu_pct=used.where(~server, mine[value])),
                                         swapped])  # fmt: skip
            else:
                system = mine["os_system_pct"] + its["os_system_pct"].to_numpy()
                both[table] = mine.assign(
                    os_user_pct=used, os_system_pct=system, os_idle_pct=100 - used - system
                )
        return name, {**tables, **both}

    def _load(self, side: Side) -> Load:
        rate = float(side.options.get("rate", np.inf))
        return Load(side.point, self.experiment.variant(side.point.variant), rate)

    def _true(self, loads: tuple[Load, ...]) -> list[Performance]:
        key = tuple((load.point, load.variant.name, load.rate) for load in loads)
        if key not in self._known:
            cpus = self.world.host.usable_cpus
            self._known[key] = self.world.cluster.at(loads, self.plan, cpus)
        return self._known[key]

    def _drift(self) -> float:
        return self.world.weather.drift(self.clock_s)

    def _weather(self, contrast: str, start: int, side: str) -> float:
        weather = self.world.weather
        noise = np.exp(weather.noise * self.rng.standard_normal())
        return self._drift() * noise * weather.unlucky.get((contrast, start, side), 1.0)

    def _row(
        self, run_id: str, point: Point, true: Performance, factor: float,
        warmup_s: float, duration_s: float,
    ) -> dict[str, Any]:  # fmt: skip
        qps = true.qps * factor
        began = (BEGAN + pd.Timedelta(seconds=self.clock_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
        steal_pct = self.world.weather.steal_pct
        busy_pct = 100 * sum(true.cpus.values()) / self.world.host.usable_cpus
        return {
            "run_id": run_id, "status": "ok", "servers": point.servers, "clients": point.clients,
            "transporter": point.transporter, "workload": point.workload,
            "variant": point.variant, "started_utc": began, "warmup_s": float(warmup_s),
            "duration_s": float(duration_s), "queries": round(qps * duration_s), "errors": 0,
            "reconnects": 0, "qps": qps, "latency_avg_ms": true.avg_ms / factor,
            "latency_p95_ms": true.p95_ms / factor, "client_cpu_pct": 100 * true.cpus[CLIENT],
            "host_busy_pct": min(100.0 - steal_pct, busy_pct), "host_steal_pct": steal_pct,
            "company_pct": 0.2, "company": "test",
        }  # fmt: skip

    def _used(self, run_id: str, point: Point, true: Performance) -> dict[str, pd.DataFrame]:
        """Return the CPU of processes and NDB threads; a server's signals reach one recv thread."""
        nodes, active = self.plan["data_nodes"], min(point.servers, point.clients)
        ndb = sum(true.cpus[part] for part in (*KINDS, OTHER)) / len(nodes)
        used = [("ndb_mgmd", 1, 0.1), (CLIENT, 0, 100 * true.cpus[CLIENT])]
        used += [("ndbmtd", node["node_id"], 100 * ndb) for node in nodes]
        each = 100 * true.cpus[SERVER] / active
        used += [("mysqld", 11 + i, each if i < active else 0.1) for i in range(point.servers)]
        processes = [(run_id, 1.0, role, node, pct, 1 << 20) for role, node, pct in used]
        rows, threads = [], threads_of(self.plan)
        for node in nodes:
            number = 0
            for kind, count in threads.items():
                busy = min(active, count) if kind == "recv" else count
                part = true.cpus[OTHER if kind == "main" else kind] / len(nodes) / busy
                for i in range(count):
                    pct = 100 * part if i < busy else 0.0
                    ticks = (USER * pct, (1 - USER) * pct, 100 - pct)
                    rows.append(
                        (run_id, 1.0, node["node_id"], number, kind, *ticks, pct, 0.0, ticks[2], 0)
                    )
                    number += 1
        return {
            "processes": pd.DataFrame(processes, columns=list(SCHEMAS["processes"].columns)),
            "ndb_threads": pd.DataFrame(rows, columns=list(SCHEMAS["ndb_threads"].columns)),
        }

    def _seconds(self, run_id: str, point: Point, true: Performance) -> pd.DataFrame:
        """Return what sysbench reports of a long run, second by second; nothing of a short one."""
        weather, seconds = self.world.weather, self.size.duration_s
        if seconds < 60:
            return _table("intervals", [])
        t_s = np.arange(1.0, seconds + 1)
        factor = np.exp(weather.second * self.rng.standard_normal(seconds))
        factor *= [weather.drift(self.clock_s + t) for t in t_s]
        qps, p95 = true.qps * factor, true.p95_ms / factor
        late = self.rng.random(seconds) < weather.late
        late[-1] = False
        late[1:] &= ~late[:-1]
        # All of a second's queries, or a part of them, are counted in the next report.
        moved = qps * late * np.where(self.rng.random(seconds) < 0.5, 1.0, 0.4)
        qps = qps - moved + np.roll(moved, 1)
        table = pd.DataFrame(
            {"run_id": run_id, "t_s": t_s, "clients": point.clients, "qps": qps,
             "latency_p95_ms": p95, "errors_per_s": 0.0, "reconnects_per_s": 0.0}
        )  # fmt: skip
        return table[table["qps"] > 1].reset_index(drop=True)


def size_of(experiment: Experiment, world: World) -> Profile:
    """Return how much of an experiment is measured: enough to decide, few runs."""
    if experiment.name == "stability":
        long = {"warmup_s": 120, "duration_s": 3600, "repeats": 1}
        return experiment.size("quick", {"clients": f"{world.clients[-1]}", **long})
    clients = ",".join(map(str, world.clients))
    return experiment.size("quick", {"clients": clients, "repeats": 3, "duration_s": 4})


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(SCHEMAS[name].columns))
