"""The load generator of TPC-H's queries: it starts the programs `loading` and `client`.

Table `pushed` has what NDB executed as pushed joins.
"""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ndblab.experiments.tpc_h import ANSWERS, client, loading, of_query, queries, query_number
from ndblab.experiments.tpc_h import database as tables
from ndblab.machine.commands import exit_reason, last_line
from ndblab.planning import workload
from ndblab.workloads import program
from ndblab.workloads.load_generator import OK, Command, Filled, Job, Report, spawned

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.machine import Process

WORKLOADS = tuple(map(of_query, queries.NUMBERS))
ROLE = workload.CLIENT
MOST_S = 60
"""Longest time of one execution; a query that takes longer is a failed run that says so."""
BEGIN_TIMEOUT_S, END_TIMEOUT_S = 60, 30
_COLUMNS = (
    "query", "executions", "rows", "tables", "joins", "joined",
    "defined", "dropped", "executed", "reads", "innodb_ms",
)  # fmt: skip


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the version of the program that generates the rows; LabError if there is none."""
    return {loading.PROGRAM: loading.version()}


def prepare_command(job: Job) -> Command:
    """Return the command that fills the tables of both engines, and keeps InnoDB's results."""
    options = [
        f"--scale={tables.scale_factor(job.profile.rows)}",
        f"--folder={_folder(job)}",
        *([f"--table-options={job.table_options}"] if job.table_options else []),
    ]
    return program.command(loading.__name__, *options, job.servers[0].socket)


def commands(job: Job) -> list[Command]:
    """Return the one command of a run; it needs no warm-up."""
    options = [
        f"--query={query_number(job.point.workload)}",
        f"--answers={_folder(job) / ANSWERS}",
        f"--seconds={job.profile.duration_s}",
        f"--most-seconds={MOST_S}",
        *job.option_words,
    ]
    return [program.command(client.__name__, *options, job.servers[0].socket)]


def prepare(cluster: Cluster, job: Job) -> Filled:
    """Fill the tables; the data memory is that of NDB's tables.

    LabError if rows are missing, or InnoDB cannot answer a query.
    """
    return program.fill(cluster, prepare_command(job), "TPC-H", job.profile.rows)


@contextmanager
def running(cluster: Cluster, job: Job) -> Iterator[Load]:
    """Execute the query for the run's seconds, for the length of a `with` block at most."""
    with spawned(cluster, commands(job)[0], stderr=subprocess.STDOUT) as child:
        yield Load(child, job)


class Load:
    """A client that is running."""

    def __init__(self, child: Process, job: Job) -> None:
        self._child, self._job = child, job
        self.pids = (child.pid,)
        self._first_line: str | None = None

    def wait_began(self, timeout_s: float = BEGIN_TIMEOUT_S) -> list[float | None]:
        """Wait until the query is about to be executed; None if the client fails before that."""
        if self._first_line is None:
            output, _, _ = select.select([self._child.stdout], [], [], timeout_s)
            self._first_line = self._child.stdout.readline() if output else ""
        word, _, when = self._first_line.partition(" ")
        return [float(when) if word == "began" else None]

    def finish(self) -> Report:
        """Wait until the client ends, and return its report."""
        [began] = self.wait_began()
        timeout_s = self._job.profile.duration_s + MOST_S + END_TIMEOUT_S
        try:
            code = self._child.wait(timeout_s)
            ended = f"the client ended with {exit_reason(code)}" if code else ""
        except subprocess.TimeoutExpired:
            self._child.kill()
            ended = f"the client did not end within {timeout_s:g} s"
        text = f"{self._first_line}{self._child.stdout.read()}"
        return report(self._job, text, began or time.monotonic(), ended)


def report(job: Job, text: str, began: float, ended: str = "") -> Report:
    """Return what a client printed as a report; the time between two executions does not count.

    `ended` says in words why it did not end as it should.
    """
    last, printed = last_line(text), {}
    if not ended:
        with contextlib.suppress(json.JSONDecodeError):
            printed = json.loads(last)
        ended = "" if printed else "the client printed no result"
    status = f"{ended}: {last}" if ended and last else ended or str(printed["status"])
    took_s = printed.get("took_s", {})
    metrics = _metrics(took_s) if status == OK else {}
    lasted_s = took_s.get("sum", 0.0)
    nominal_s = min(lasted_s, job.profile.duration_s)
    query = query_number(job.point.workload)
    counted = {**printed, "query": query, "executions": took_s.get("executions", 0)}
    return Report(
        status=status,
        began=began,
        lasted_s=round(lasted_s, 4),
        warmup_s=0,
        metrics=metrics,
        intervals=_intervals(metrics, nominal_s),
        logs={"client.txt": text},
        tables={"pushed": pd.DataFrame([counted], columns=list(_COLUMNS))} if status == OK else {},
    )


def _metrics(took_s: Mapping[str, Any]) -> dict[str, float]:
    executions = took_s["executions"]
    return {
        "queries": executions,
        "errors": 0,
        "reconnects": 0,
        "qps": executions / took_s["sum"],
        "latency_min_ms": 1000 * took_s["min"],
        "latency_avg_ms": 1000 * took_s["sum"] / executions,
        "latency_p95_ms": 1000 * took_s["p95"],
        "latency_max_ms": 1000 * took_s["max"],
    }


def _intervals(metrics: Mapping[str, float], ended_s: float) -> pd.DataFrame:
    """Return the whole run as one interval: an execution may take longer than a second."""
    if not metrics:
        return pd.DataFrame()
    return pd.DataFrame(
        {
            "t_s": [round(ended_s, 3)], "clients": 1, "qps": metrics["qps"],
            "latency_p95_ms": metrics["latency_p95_ms"],
            "errors_per_s": 0.0, "reconnects_per_s": 0.0,
        }
    )  # fmt: skip


def _folder(job: Job) -> Path:
    """Return the folder of the generated files, in that of the cluster."""
    return Path(job.servers[0].data_dir).parent / "tpc_h"
