"""Small datasets made by hand, for the tests of datasets and sweeps."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from ndblab import dataset
from ndblab.dataset.journal import JOURNAL
from ndblab.dataset.sealed import sha256
from ndblab.design.experiment import Experiment
from ndblab.planning.point import Point

SLICES = ("servers-1-2_b001_1a", "servers-1-2_b001_2b")
LATER = "2021-09-30T13:00:00Z"
RUNS = ("s01_c0001_r1", "s01_c0002_r1", "s01_c0004_r1")

IDENTITY: dict[str, Any] = {
    "host": {"cpu_model": "Test CPU", "logical_cpus": 2},
    "versions": {"ndb": "9.7.4", "mysqld": "9.7.4", "sysbench": "1.0.20"},
    "plan": "a1b2",
    "profile": {"name": "smoke", "duration_s": 3},
    "sweep": [[1, 1]],
    "seed": 1,
}
BASE: dict[str, Any] = {
    "host": {"cpu_model": "Test CPU", "cpus": [0, 1]},
    "versions": IDENTITY["versions"],
    "plan": {"budget": {"kind": "scaled", "reason": "2 logical CPUs"}},
    "profile": IDENTITY["profile"],
    "overrides": {},
    "git_commit": "0" * 40,
}


RUN = {
    "run_id": "", "status": "", "servers": 1, "clients": 1, "repeat": 1, "transporter": "shm",
    "workload": "oltp_point_select", "variant": "default", "started_utc": "", "warmup_s": 1.0,
    "duration_s": 2.0034, "queries": 2473, "errors": 0, "reconnects": 0, "qps": 0.0,
    "latency_min_ms": 0.07, "latency_avg_ms": 0.8, "latency_p95_ms": 1.5, "latency_max_ms": 38.52,
    "client_cpu_pct": 12.5, "host_busy_pct": 80.0, "host_steal_pct": 0.1, "host_load_1min": 1.5,
    "company_pct": 0.4, "company": "cron",
}  # fmt: skip
"""A good run's row, but for what `tables` is told."""


def tables(
    run_id: str = "s01_c0001_r1",
    *,
    status: str = "ok",
    qps: float = 1234.5,
    started_utc: str = "2021-09-30T12:00:00Z",
    **columns: Any,
) -> dict[str, pd.DataFrame]:
    """Return the tables of one run of two seconds."""
    run = {"run_id": run_id, "status": status, "started_utc": started_utc, "qps": qps}
    rows = {
        "intervals": {
            "clients": 1, "qps": [1200.25, 1268.75], "latency_p95_ms": 1.5, "errors_per_s": 0.0,
            "reconnects_per_s": 0.0,
        },
        "processes": {
            "role": "mysqld", "node_id": 11, "cpu_pct": [23.4, 23.1], "rss_bytes": 300_000_000,
        },
        "ndb_threads": {
            "node_id": 2, "thr_no": 0, "thread": "main", "os_user_pct": 3, "os_system_pct": 1,
            "os_idle_pct": 96, "exec_pct": 2, "send_pct": 1, "sleep_pct": 97, "spin_pct": 0,
        },
    }  # fmt: skip
    each = {"run_id": run_id, "t_s": [1.0, 2.0]}
    seconds = {name: pd.DataFrame({**each, **values}) for name, values in rows.items()}
    return {"runs": pd.DataFrame([RUN | run | columns]), **seconds}


def together(*parts: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Put the tables of several runs below each other."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        n: pd.concat([part[n] for part in parts if n in part], ignore_index=True) for n in names
    }


def cpu(run_id: str, *used: tuple[str, int, float]) -> pd.DataFrame:
    """Make the CPU use of a run: role, node id and percent of a CPU of each process."""
    columns = ["run_id", "t_s", "role", "node_id", "cpu_pct", "rss_bytes"]
    return pd.DataFrame([(run_id, 1.0, *one, 1) for one in used], columns=columns)


def swept(
    experiment: Experiment,
    repeats: int,
    qps: Callable[[Point], float],
    step: float = 0.01,
    **columns: Any,
) -> pd.DataFrame:
    """Make the runs of an experiment's quick sweep; each repeat is faster by a step."""
    rows = [
        tables(
            point.run_id(repeat), repeat=repeat, qps=qps(point) * (1 + step * repeat),
            **{**asdict(point), **columns},
        )["runs"]
        for point in experiment.grid(experiment, experiment.size("quick"))
        for repeat in range(1, repeats + 1)
    ]  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def slice_tables(
    run_id: str, *, of: int = 4, start: int = 1, **columns: Any
) -> dict[str, pd.DataFrame]:
    """Return the tables of one slice; its place in its contrast is in its id."""
    contrast, block, place = run_id.rsplit("_", 2)
    given = tables(run_id, **columns)
    run = given.pop("runs").iloc[0]
    placed = {"contrast": contrast, "block": int(block[1:]), "slot": int(place[:-1])}
    row = placed | {"side": place[-1], "of": of, "start": start}
    row |= {name: run[name] for name in dataset.SCHEMAS["slices"].columns if name not in row}
    return {**given, "slices": pd.DataFrame([row])}


def opened(root: Path, **changes: Any) -> dataset.Writer:
    """Open a dataset for writing."""
    identity = IDENTITY | changes
    return dataset.Writer.open(root, "scaling", identity, BASE)


def written(root: Path, **changes: Any) -> dataset.Dataset:
    """Write and finish a dataset of the three `RUNS`."""
    with opened(root, **changes) as out:
        for minute, run_id in enumerate(RUNS):
            started_utc = f"2021-09-30T12:{9 - minute:02d}:00Z"
            out.append(
                run_id,
                tables(run_id, started_utc=started_utc),
                {f"{run_id}.sysbench.txt": "[ 1s ] ...\n"},
            )
        out.add_config("config.ini", "[ndbd default]\n")
        return out.finish(timings={"install_s": 0.0})


def gone_on(path: Path) -> dataset.Dataset:
    """Go on with a complete dataset: repeat its second run, add a slice, and finish it."""
    with dataset.Writer.reopen(path, BASE) as out:
        again = tables(RUNS[1], qps=2.0, started_utc=LATER)
        out.append(RUNS[1], again, {f"{RUNS[1]}.other.txt": "again"})
        out.append(SLICES[0], slice_tables(SLICES[0], started_utc=LATER))
        return out.finish()


def damaged(
    folder: Path, name: str, change: Callable[[bytes], bytes], *, seal: bool = False
) -> Path:
    """Change one file; with `seal`, as an editor who also corrects the sha256."""
    file = folder / name
    file.write_bytes(change(file.read_bytes()))
    if seal:
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["files"][name] = sha256(file.read_bytes())
        (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def checked(run_id: str) -> dict[str, pd.DataFrame]:
    """Return the tables of a run of checked writes, one of which a replica holds only half of."""
    return {
        **tables(run_id),
        "history": pd.DataFrame(
            {
                "run_id": run_id, "client": 1, "seq": [0, 1], "kind": ["write", "read"],
                "first_server": 1, "server": [1, 2], "t_s": [0.012, 1.5], "latency_ms": [1.25, 3.5],
                "outcome": "ok", "attempts": [1, 2], "error": [0, 2013],
            }
        ),
        "copies": pd.DataFrame(
            {
                "run_id": run_id, "replica": [2, 3], "client": 1, "seq": 0,
                "first_value": ["a", "a"], "second_value": ["a", float("nan")],
            }
        ),
        "counters": pd.DataFrame({"run_id": run_id, "replica": [2, 3], "client": 1, "writes": 1}),
    }  # fmt: skip


def saved(runs: Path) -> int:
    """Count the runs in the journals of unfinished datasets, as another process sees them."""
    number = 0
    for file in runs.glob(f"*/*/{JOURNAL}"):
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as journal,
        ):
            [(found,)] = journal.execute(
                "SELECT COUNT(DISTINCT run_id) FROM contents WHERE run_id <> ''"
            )
            number += found
    return number
