"""The control of a long run: a process that does the same work all the time, beside the cluster.

NDB has no part in it: where it takes more CPU time for the same steps, the host has become slower.
It wakes ten times a second for about a millisecond, so it takes about 1 % of one CPU, and is bound
to the last one. No CPU time counts while it waits for that CPU, which the cluster uses up.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.workloads.load_generator import OK

if TYPE_CHECKING:
    from pathlib import Path

    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Process
    from ndblab.workloads.load_generator import Job

COLUMNS = ["t_s", "steps", "cpu_s"]
CHUNKS = 10
"""Pieces of work in a second: one would sample a hundredth of it, these are spread over all."""
_FILE = "control.txt"
_PROGRAM = """
import os, time
os.sched_setaffinity(0, [{cpu}])
def work(steps):
    began = time.process_time()
    for _ in range(steps):
        pass
    return time.process_time() - began
steps = max(1, int(1_000_000 * 0.001 / work(1_000_000)))
due = time.monotonic()
while True:
    spent = 0.0
    for _ in range({chunks}):
        spent += work(steps)
        due = max(due + 1 / {chunks}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
    print(time.monotonic(), steps * {chunks}, spent, flush=True)
"""


@dataclass(frozen=True)
class Begun:
    """A control that is running: its process, the file that it writes, and since when."""

    process: Process
    file: Path
    began_s: float


def read(cluster: Cluster, job: Job) -> Begun | None:
    """Start the control of a run; None unless all data nodes are on the lab's own host.

    LabError if it cannot be started.
    """
    hosts = {host for role, *_, host in cluster.pids() if role == "ndbmtd"}
    if not hosts or any(cluster.site(host).machine is not cluster.machine for host in hosts):
        return None
    machine, file = cluster.machine, cluster.folder / _FILE
    file.unlink(missing_ok=True)
    program = _PROGRAM.format(cpu=max(machine.usable_cpus()), chunks=CHUNKS)
    argv = [str(machine.python), "-S", "-E", "-c", program]
    process = machine.spawn(argv, cluster.folder, log=file)
    return Begun(process, file, time.monotonic())


def tables(before: Begun | None, cluster: Cluster, job: Job) -> dict[str, pd.DataFrame]:
    """End the control; return the table `control` of the run, by name."""
    if before is None:
        return {}
    cluster.machine.kill(before.process)
    return {"control": parse(cluster.machine.get(before.file), before.began_s)}


def status(by_name: Mapping[str, pd.DataFrame], queries: float | None) -> str:
    """Return "ok", or that the control of a run ended by itself."""
    if "control" in by_name and by_name["control"].empty:
        return "the control beside the run reported nothing"
    return OK


def parse(text: str, began_s: float) -> pd.DataFrame:
    """Return the seconds of a control from what it wrote; `t_s` counts from `began_s`.

    A last line that was cut is left out.
    """
    rows = []
    for line in text.splitlines(keepends=True):
        at_s, steps, cpu_s = (*line.split(), "", "", "")[:3]
        if line.endswith("\n") and steps.isdigit():
            rows.append((round(float(at_s) - began_s, 2), int(steps), round(float(cpu_s), 6)))
    return pd.DataFrame(rows, columns=COLUMNS)


def of_run(control: pd.DataFrame, run: pd.Series) -> pd.Series:
    """Return the `speed` of the control in the seconds of a run; empty if none ran.

    The control begins before the clients connect, and ends with the run.
    """
    own = control[control["run_id"].astype(str) == str(run["run_id"])]
    began_s = max(0.0, own["t_s"].max() - float(run["duration_s"])) if len(own) else 0.0
    own = own[own["t_s"] > began_s]
    return speed(own.assign(t_s=own["t_s"] - began_s))


def speed(control: pd.DataFrame) -> pd.Series:
    """Return steps per second of CPU time, second by second, by `t_s`."""
    used = control[control["cpu_s"] > 0]
    return (used["steps"] / used["cpu_s"]).set_axis(used["t_s"])
