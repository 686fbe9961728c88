"""How long it takes to read and summarise a dataset of one hour, and datasets to measure that on.

These datasets are synthetic, or a recorded one made longer; they are deleted afterwards and never
shown.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.benchmarks.row import Row, seconds, shown
from ndblab.planning.point import Point

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset

SAMPLED = ("intervals", "processes", "ndb_threads")
"""The tables of a dataset that grow with its duration."""
READS = 5
RUNS, RUN_S = 60, 60


def read() -> list[Row]:
    """Read and summarise a dataset of one hour."""
    from ndblab import dataset
    from ndblab.statistics import cpu_use, summary

    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        path = _synthetic_hour(Path(scratch)).path

        def read_and_summarise() -> None:
            data = dataset.read(path)
            summary.points(data.runs)
            used = cpu_use.Usage(data.processes, data.ndb_threads)
            used.of_roles(data.runs["run_id"])
            used.of_threads(data.runs["run_id"])

        read_and_summarise()
        taken = [seconds(read_and_summarise) for _ in shown(range(READS), "read")]
    note = "synthetic; 19 processes and 60 NDB threads, each second; imports not counted"
    return [Row("read and summarise one hour", tuple(taken), "s", at_most=2, note=note)]


def tiled(source: Path, into: Path, rows: int) -> Path:
    """Write a dataset of at least so many rows, by repeating each run of a complete one in time.

    Returns
    -------
    Its folder in `into`. A run of k tiles lasts k times as long, with k times the queries.
    """
    from ndblab import dataset
    from ndblab.dataset import manifest, schema, sealed

    data = dataset.read(source)
    copies = -(-rows // sum(len(data.tables[name]) for name in SAMPLED))
    known = {name: data.tables[name].copy() for name in data.tables}
    for name in schema.ROW_PER_RUN:
        for column in ("duration_s", "queries", "errors", "reconnects"):
            known[name][column] *= copies
    spans_s = {
        run_id: span_s / copies
        for name in schema.ROW_PER_RUN
        for run_id, span_s in zip(known[name]["run_id"], known[name]["duration_s"], strict=True)
    }
    for name in shown(SAMPLED, "tiling"):
        known[name] = _repeated(known[name], spans_s, copies)
    folder = into / source.name
    folder.mkdir(parents=True)
    sums = sealed.write(folder, known, data.configs(), {})
    profile = data.manifest["profile"]
    longer = {**profile, "duration_s": profile["duration_s"] * copies}
    described = {**data.manifest, "files": sums, "profile": longer}
    (folder / sealed.MANIFEST).write_bytes(manifest.to_json(described))
    return folder


def _repeated(table: pd.DataFrame, spans_s: Mapping[str, float], copies: int) -> pd.DataFrame:
    """Repeat the samples of each run, one copy after the other."""
    import numpy as np

    rows = np.repeat(np.arange(len(table)), copies)
    tile = np.tile(np.arange(copies), len(table))
    longer = table.iloc[rows].reset_index(drop=True)
    longer["t_s"] += tile * longer["run_id"].map(spans_s).to_numpy(dtype=float)
    return longer.sort_values(["run_id", "t_s"], kind="stable", ignore_index=True)


def _synthetic_hour(folder: Path) -> Dataset:
    """Write a synthetic dataset of one hour: 2 data nodes and 16 servers."""
    from ndblab import dataset

    base = {
        "host": {"cpus": [0, 1]},
        "versions": {"ndb": "synthetic"},
        "plan": {"budget": {"kind": "shared", "reason": "synthetic"}},
        "profile": {"name": "synthetic"},
        "git_commit": None,
    }
    with dataset.Writer.open(folder, "synthetic", base, base) as writer:
        for number in shown(range(1, RUNS + 1), "writing an hour"):
            run_id = Point(16, 64).run_id(number)
            writer.append(run_id, _synthetic_run(run_id, number))
        return writer.finish()


def _synthetic_run(run_id: str, number: int) -> dict[str, pd.DataFrame]:
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(number)
    second = np.arange(1.0, RUN_S + 1)

    def every_second(keys: list[tuple], names: list[str]) -> pd.DataFrame:
        keyed = pd.DataFrame(keys, columns=names)
        times = pd.DataFrame({"run_id": run_id, "t_s": second})
        return times.merge(keyed, how="cross")

    servers = [("mysqld", 11 + number) for number in range(16)]
    nodes = [("ndbmtd", 1), ("ndbmtd", 2), *servers, ("sysbench", 0)]
    processes = every_second(nodes, ["role", "node_id"])
    processes["cpu_pct"] = random.uniform(0, 100, len(processes)).round(1)
    processes["rss_bytes"] = random.integers(10**8, 10**9, len(processes))
    kinds = ["main", "rep", *["ldm"] * 8, *["query"] * 8, *["tc"] * 6, *["recv"] * 3, *["send"] * 3]
    threads = every_second(
        [(node, thr_no, kind) for node in (1, 2) for thr_no, kind in enumerate(kinds)],
        ["node_id", "thr_no", "thread"],
    )
    for column in ("os_user", "os_system", "os_idle", "exec", "send", "sleep", "spin"):
        threads[f"{column}_pct"] = random.uniform(0, 100, len(threads)).round(2)
    intervals = pd.DataFrame({"run_id": run_id, "t_s": second, "clients": 64})
    intervals["qps"] = random.uniform(9e3, 11e3, RUN_S).round(2)
    intervals["latency_p95_ms"] = random.uniform(5, 10, RUN_S).round(2)
    intervals = intervals.assign(errors_per_s=0.0, reconnects_per_s=0.0)
    row = {
        "run_id": run_id, "status": "ok", "servers": 16, "clients": 64, "repeat": number,
        "transporter": "shm", "workload": "oltp_point_select", "variant": "default",
        "started_utc": f"2021-09-30T12:{number - 1:02d}:00Z", "warmup_s": 0.0,
        "duration_s": float(RUN_S), "queries": 600_000, "errors": 0, "reconnects": 0,
        "qps": 1e4, "latency_min_ms": 1.0, "latency_avg_ms": 4.0, "latency_p95_ms": 8.0,
        "latency_max_ms": 50.0, "client_cpu_pct": 20.0, "host_busy_pct": 90.0,
        "host_steal_pct": 0.0, "host_load_1min": 9.0, "company_pct": 0.5,
        "company": "cron",
    }  # fmt: skip
    return {
        "runs": pd.DataFrame([row]),
        "intervals": intervals,
        "processes": processes,
        "ndb_threads": threads,
    }
