"""Datasets of planted worlds, written as measured ones are: by the real designs and writer.

What is measured and in which order comes from the experiment; what comes out, from the model of the
cluster, with the noise, the drift and the faults of the world's host.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from ndblab import dataset
from ndblab.dataset.schema import ROW_PER_RUN, SCHEMAS
from ndblab.design import catalogue
from ndblab.design.contrast import DUET, STARTS, TWINS, A, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.experiments.capacity.demands import CLIENT, KINDS, OTHER, SERVER
from ndblab.machine.host import Host
from ndblab.measuring import manifest
from ndblab.planning.node import FIRST_SERVER_NODE_ID
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.statistics import summary
from worlds.cluster_model import PARTS, Cluster, Load, Performance, threads_of

BINARIES = SimpleNamespace(
    ndb_version="9.7.4",
    mysqld_version="9.7.4",
    sysbench_version="1.0.20",
    fingerprint=lambda: dict.fromkeys(("ndbmtd", "mysqld", "sysbench"), "0" * 12),
)
BEGAN = pd.Timestamp("2021-09-30T12:00:00Z")
BLOCKS, BLOCKS_PER_START = 9, 3
USER = 0.7
"""Share of a thread's CPU time that is user time rather than system time."""
CPU_NOISE, BETWEEN_SLICES_S, LOST_BY_STEAL = 0.01, 0.4, 2.0
MANAGEMENT_PCT = IDLE_SERVER_PCT = 0.1
WRITTEN = ("runs", "slices", "intervals", "processes", "ndb_threads", "control")
CONTROL_STEPS, CONTROL_S = 500_000, 0.01
"""What the control beside an hour does in a second on a host of full speed."""


@dataclass(frozen=True)
class Weather:
    """What the host adds to the truth.

    Parameters
    ----------
    noise : standard deviation of the logarithm of throughput, from slice to slice.
    second : the same from second to second of a long run.
    drift : factor on throughput, by seconds since the beginning.
    steal_pct : CPU time that the hypervisor takes, in percent of the host's, by seconds since the
        beginning. Throughput loses twice as much, since others wait for whoever is stopped.
    late : share of seconds that sysbench reports late: the next report has the queries of both.
    unlucky : factor on throughput by contrast, cluster start and side.
    """

    noise: float = 0.01
    second: float = 0.008
    drift: Callable[[float], float] = lambda t_s: 1.0
    steal_pct: Callable[[float], float] = lambda t_s: 0.0
    late: float = 0.0
    unlucky: Mapping[tuple[str, int, str], float] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """A cluster, the host that it runs on, and how the lab divides that host.

    Experiments that never divide it do not here either.
    """

    cluster: Cluster
    host: Host
    budget: str
    clients: Sequence[int]
    weather: Weather = Weather()


class Recording:
    """One experiment in a world, as it is measured."""

    def __init__(self, world: World, experiment: str, seed: int = 1) -> None:
        self.world, self.experiment = world, catalogue.find(experiment)
        self.size = size_of(self.experiment, world)
        self.rng, self.clock_s, self.starts = np.random.default_rng(seed), 0.0, 1
        own = self.experiment.budget
        budget = own if own == "shared" else world.budget
        self.described, self.identity = manifest.describe(
            self.experiment, self.size, budget, world.host, BINARIES
        )
        self.plan: Mapping[str, Any] = self.described["plan"]
        self.contrasts: tuple[Contrast, ...] = ()
        self._known: dict[object, list[Performance]] = {}
        self._rows: dict[str, list[Any]] = {name: [] for name in WRITTEN}
        self._seconds: list[pd.DataFrame] = []

    def write(self, root: Path, claims: Collection[str]) -> dataset.Dataset:
        """Write the dataset: the whole sweep, and the contrasts that these claims wait for.

        All tables are sealed at once; else the writer would check thousands of slices one by one.
        """
        points = self.experiment.sweep(self.size).points
        loads = [self._load(Side(point)) for point in points]
        found = self.world.cluster.alone(loads, self.plan, self.world.host.usable_cpus)
        self._known |= {_key((load,)): [true] for load, true in zip(loads, found, strict=True)}
        for repeat in range(1, self.size.repeats + 1):
            for point in points:
                self._run(point, repeat)
        self.contrasts = self._contrasts()
        for contrast in self.contrasts:
            for block in range(1, BLOCKS + 1) if set(contrast.claims) & set(claims) else ():
                self._block(contrast, block)
        opened = dataset.Writer.open(root, self.experiment.name, self.identity, self.described)
        with opened as writer:
            writer.note(contrasts=[each.to_dict() for each in self.contrasts], starts=self.starts)
            for name in writer._tables.keys() & set(WRITTEN):
                writer._tables[name] = self._table(name)
            for name in ROW_PER_RUN:
                writer.done |= writer._tables[name].set_index("run_id")["status"].to_dict()
            return writer.finish()

    def planted_qps(self, servers: int, clients: int) -> float:
        """Return the throughput of a point without noise."""
        return self._true((self._load(Side(Point(servers, clients))),))[0].qps

    def planted_ratio(self, contrast: str) -> float:
        """Return the throughput of side A over that of B, without noise."""
        [named] = [each for each in self.contrasts if each.name == contrast]
        loads = tuple(self._load(named.side(side)) for side in "ab")
        together = (loads,) if named.design == DUET else tuple((load,) for load in loads)
        a, b = (each.qps for loads in together for each in self._true(loads))
        return a / b

    def _contrasts(self) -> tuple[Contrast, ...]:
        if self.experiment.contrasts is None:
            return ()
        return self.experiment.contrasts(
            self.experiment, self.size, summary.points(self._table("runs"))
        )

    def _run(self, point: Point, repeat: int) -> None:
        words = (point.transporter, point.workload.replace("_", "-"), point.variant)
        run_id = f"{'-'.join(words)}_s{point.servers:02}_c{point.clients:04}_r{repeat}"
        load = self._load(Side(point))
        [true] = self._true((load,))
        factor = self._factor("", 1, "")
        if self.size.duration_s > 60:
            factor = self._long(run_id, point, true)
        times = self.size.warmup_s, self.size.duration_s
        row = self._row(run_id, point, true, factor, *times) | {"repeat": repeat}
        row |= {"latency_min_ms": 0.1, "latency_max_ms": 10 * row["latency_p95_ms"]}
        self._rows["runs"].append(row | {"host_load_1min": 1.0})
        self._used(run_id, [(load, true)])
        self.clock_s += sum(times)

    def _block(self, contrast: Contrast, block: int) -> None:
        length = contrast.length(self.experiment.slice_length(self.size))
        slots = contrast.block(block, self.size.seed)
        start = 1 + (block - 1) // (contrast.blocks_per_start or BLOCKS_PER_START)
        for number, slot in enumerate(slots):
            if contrast.design == STARTS:
                start = 2 * block - 1 + (number >= len(slots) // 2)
            if contrast.design == TWINS:
                # A cluster for each side, of which one is loaded at a time.
                start = 2 * block - (slot[0].side == A)
            loads = tuple(self._load(contrast.side(each.side)) for each in slot)
            true = self._true(loads)
            for i, (each, load) in enumerate(zip(slot, loads, strict=True)):
                factor = self._factor(contrast.name, start, each.side)
                row = self._row(each.run_id, load.point, true[i], factor, *length)
                row |= each.columns() | {"start": start}
                if contrast.design == DUET:
                    row["latency_avg_ms"] = np.nan
                self._rows["slices"].append(row)
                every = list(zip(loads, true, strict=True))
                self._used(each.run_id, [every[i], *every[:i], *every[i + 1 :]])
            self.clock_s += sum(length) + BETWEEN_SLICES_S
        self.starts = max(self.starts, start, 2 * block * (contrast.design == TWINS))

    def _load(self, side: Side) -> Load:
        rate = float(side.options.get("rate", np.inf))
        return Load(side.point, self.experiment.variant(side.point.variant), rate)

    def _true(self, loads: tuple[Load, ...]) -> list[Performance]:
        key = _key(loads)
        if key not in self._known:
            cpus = self.world.host.usable_cpus
            self._known[key] = self.world.cluster.at(loads, self.plan, cpus)
        return self._known[key]

    def _factor(self, contrast: str, start: int, side: str) -> float:
        """Return the factor on throughput at this time, in this start, on this side."""
        weather = self.world.weather
        noise = np.exp(weather.noise * self.rng.standard_normal())
        unlucky = weather.unlucky.get((contrast, start, side), 1.0)
        return float(self._host(self.clock_s) * noise * unlucky)

    def _host(self, t_s: float) -> float:
        weather = self.world.weather
        return weather.drift(t_s) * (1 - LOST_BY_STEAL * weather.steal_pct(t_s) / 100)

    def _row(
        self, run_id: str, point: Point, true: Performance, factor: float,
        warmup_s: float, duration_s: float,
    ) -> dict[str, Any]:  # fmt: skip
        qps = true.qps * factor
        began = (BEGAN + pd.Timedelta(seconds=self.clock_s)).strftime("%Y-%m-%dT%H:%M:%SZ")
        seconds = np.arange(self.clock_s, self.clock_s + duration_s)
        steal_pct = float(np.mean([self.world.weather.steal_pct(t) for t in seconds]))
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

    def _used(self, run_id: str, loads: Sequence[tuple[Load, Performance]]) -> None:
        """Record the CPU of processes and threads under simultaneous loads, the run's own first.

        A server's signals reach one recv thread of each data node.
        """
        nodes = self.plan["data_nodes"]
        noisy = np.exp(CPU_NOISE * self.rng.standard_normal(len(PARTS)))
        noise = dict(zip(PARTS, noisy, strict=True))
        cpus = {part: noise[part] * sum(true.cpus[part] for _, true in loads) for part in PARTS}
        ndb = sum(cpus[part] for part in (*KINDS, OTHER)) / len(nodes)
        used = [("ndb_mgmd", 1, MANAGEMENT_PCT), (CLIENT, 0, 100 * cpus[CLIENT])]
        used += [("ndbmtd", node["node_id"], 100 * ndb) for node in nodes]
        active, node_id = 0, itertools.count(FIRST_SERVER_NODE_ID)
        for load, true in loads:
            serving = min(load.point.servers, load.point.clients)
            active += serving
            pct = 100 * noise[SERVER] * true.cpus[SERVER] / serving
            each = [pct] * serving + [IDLE_SERVER_PCT] * (load.point.servers - serving)
            used += [("mysqld", next(node_id), pct) for pct in each]
        self._rows["processes"] += [
            (run_id, 1.0, role, i, round(pct, 2), 1 << 20) for role, i, pct in used
        ]
        for node in nodes:
            number = itertools.count()
            for kind, count in threads_of(self.plan, loads[0][0].variant).items():
                busy = min(active, count) if kind == "recv" else count
                part = 100 * cpus[OTHER if kind == "main" else kind] / len(nodes) / busy
                for pct in [part] * busy + [0.0] * (count - busy):
                    idle = max(0.0, 100 - pct)
                    ticks = (USER * pct, (1 - USER) * pct, idle, pct, 0.0, idle, 0.0)
                    self._rows["ndb_threads"].append(
                        (run_id, 1.0, node["node_id"], next(number), kind, *ticks)
                    )

    def _long(self, run_id: str, point: Point, true: Performance) -> float:
        """Note what sysbench reports of a long run, second by second; return its mean factor."""
        weather, seconds = self.world.weather, self.size.duration_s
        t_s = np.arange(1.0, seconds + 1)
        factor = np.exp(weather.second * self.rng.standard_normal(seconds))
        factor *= [self._host(self.clock_s + t) for t in t_s]
        qps = true.qps * factor
        late = self.rng.random(seconds) < weather.late
        late[-1] = False
        late[1:] &= ~late[:-1]
        # All of a second's queries, or a part of them, are counted in the next report.
        moved = qps * late * np.where(self.rng.random(seconds) < 0.5, 1.0, 0.4)
        reports = pd.DataFrame(
            {"run_id": run_id, "t_s": t_s, "clients": point.clients,
             "qps": qps - moved + np.roll(moved, 1), "latency_p95_ms": true.p95_ms / factor,
             "errors_per_s": 0.0, "reconnects_per_s": 0.0}
        )  # fmt: skip
        self._seconds.append(reports[reports["qps"] > 1])
        noisy = np.exp(CPU_NOISE * self.rng.standard_normal(seconds))
        spent_s = [CONTROL_S / weather.drift(self.clock_s + t) for t in t_s] * noisy
        self._rows["control"] += [
            (run_id, t, CONTROL_STEPS, cpu_s) for t, cpu_s in zip(t_s, spent_s, strict=True)
        ]
        return float(factor.mean())

    def _table(self, name: str) -> pd.DataFrame:
        if name == "intervals" and self._seconds:
            return pd.concat(self._seconds, ignore_index=True)
        return pd.DataFrame(self._rows[name], columns=list(SCHEMAS[name].columns))


def _key(loads: Sequence[Load]) -> object:
    return tuple((load.point, load.variant.name, load.rate) for load in loads)


def size_of(experiment: Experiment, world: World) -> Profile:
    """Return a profile for an experiment: enough to decide, with few runs."""
    if experiment.name == "stability":
        long = {"warmup_s": 120, "duration_s": 3600, "repeats": 1}
        return experiment.size("quick", {"clients": f"{world.clients[-1]}", **long})
    clients = ",".join(map(str, world.clients))
    return experiment.size("quick", {"clients": clients, "repeats": 2, "duration_s": 4})
