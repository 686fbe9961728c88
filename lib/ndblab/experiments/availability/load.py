"""The load generator of checked writes: it starts the program `client` and stops it.

The tables of sysbench are filled as well: they are the data that a restarted node has to restore.
"""

from __future__ import annotations

import io
import json
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.cluster import node_log
from ndblab.error import LabError
from ndblab.experiments.availability import CHECKED_WRITES, GIVEN_UP, client
from ndblab.experiments.availability import OK as ANSWERED
from ndblab.experiments.availability import rows as tables
from ndblab.machine.commands import exit_reason
from ndblab.planning import workload
from ndblab.workloads import program, sysbench
from ndblab.workloads.load_generator import OK, Command, Job, Report, spawned

if TYPE_CHECKING:
    from pathlib import Path

    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Process

WORKLOADS = (CHECKED_WRITES,)
ROLE = workload.CLIENT
BESIDE_LAB = True
"""It runs on the lab's host, whose monotonic clock it shares, wherever the cluster is."""
BEGIN_TIMEOUT_S = 60
END_TIMEOUT_S = client.ATTEMPTS * (client.CONNECT_TIMEOUT_S + client.ANSWER_TIMEOUT_S) + 20
"""All attempts of an operation, each with the longest possible wait, and the time to print."""

versions, prepare_command, prepare = sysbench.versions, sysbench.prepare_command, sysbench.prepare
read_back = tables.read


def commands(job: Job) -> list[Command]:
    """Return the one command of a run; it needs no warm-up."""
    options = [f"--clients={job.point.clients}", f"--seed={job.profile.seed}", *job.option_words]
    servers = (node.socket or f"{node.endpoint}:{node.port}" for node in job.servers)
    return [program.command(client.__name__, *options, *servers)]


def warm_up(cluster: Cluster, job: Job) -> str:
    """Recreate the tables, empty."""
    tables.create(cluster, job.point.clients)
    return OK


@contextmanager
def running(cluster: Cluster, job: Job) -> Iterator[Load]:
    """Run the clients for the length of a `with` block; LabError if they do not begin."""
    log = cluster.folder / "logs" / "client.out"
    log.parent.mkdir(exist_ok=True)
    [command] = commands(job)
    account = cluster.folder / "client.json"
    if cluster.account:
        account.touch(mode=0o600)
        account.write_text(json.dumps(vars(cluster.account)))
        command = replace(command, argv=[*command.argv, f"--account={account}"])
    with (
        log.open("ab") as errors,
        spawned(cluster, command, BESIDE_LAB, stdin=subprocess.PIPE, stderr=errors) as child,
    ):
        load = Load(child, log, job)
        account.unlink(missing_ok=True)
        yield load


class Load:
    """Clients that are running."""

    def __init__(self, child: Process, log: Path, job: Job) -> None:
        self._child, self._log, self._job = child, log, job
        self.pids = (child.pid,)
        output, _, _ = select.select([child.stdout], [], [], BEGIN_TIMEOUT_S)
        word, _, when = child.stdout.readline().partition(" ") if output else ("", "", "")
        if word != "began":
            raise self._failed("The clients did not begin")
        self._began = float(when)

    def finish(self) -> Report:
        """Stop the clients, but not before the seconds of warm-up and run are over.

        LabError if they do not stop, or ended early.
        """
        profile = self._job.profile
        ends = self._began + profile.warmup_s + profile.duration_s
        time.sleep(max(0.0, ends - time.monotonic()))
        history = self._stop()
        lasted_s = round(time.monotonic() - self._began, 3)
        return Report(
            status=OK,
            began=self._began,
            lasted_s=lasted_s,
            warmup_s=0,
            metrics=totals(history, lasted_s),
            intervals=intervals(history, self._job.point.clients, lasted_s),
            tables={"history": history},
        )

    def _stop(self) -> pd.DataFrame:
        """Stop the clients and read their operations; `t_s` is seconds since they began."""
        try:
            # Closes their standard input, which stops them, and reads what they print then.
            text, _ = self._child.communicate(timeout=END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise self._failed("The clients did not end in time") from None
        if self._child.wait() != 0:
            raise self._failed("The clients ended with an error")
        return pd.read_csv(io.StringIO(text), names=list(client.Row._fields))

    def _failed(self, what: str) -> LabError:
        self._child.kill()
        output = node_log.tail(self._log.read_text(errors="replace")) or "no output"
        return LabError(
            what,
            found=f"{exit_reason(self._child.wait())}: {output}",
            expected="clients that run until they are stopped",
            next_step=f"See {self._log}.",
        )


def totals(history: pd.DataFrame, lasted_s: float) -> dict[str, float | None]:
    """Compute the metrics of a whole run.

    `queries` counts operations answered correctly, whose latencies these are; `errors` counts those
    given up; `reconnects` those that ended on another server than the client's previous one.
    """
    answered = history[history["outcome"] == ANSWERED]
    latency = answered["latency_ms"]
    return {
        "queries": len(answered),
        "errors": int(history["outcome"].isin(GIVEN_UP).sum()),
        "reconnects": int(_moved(history).sum()),
        "qps": round(len(answered) / lasted_s, 2),
        "latency_min_ms": latency.min(),
        "latency_avg_ms": round(latency.mean(), 3),
        "latency_p95_ms": latency.quantile(0.95),
        "latency_max_ms": latency.max(),
    }


def intervals(history: pd.DataFrame, clients: int, lasted_s: float) -> pd.DataFrame:
    """Compute table `intervals`, one row at the end of each whole second.

    A second without an answered operation has a throughput of 0 and no latency.
    """
    answered, given_up = history["outcome"] == ANSWERED, history["outcome"].isin(GIVEN_UP)
    counted = pd.DataFrame(
        {"qps": answered, "errors_per_s": given_up, "reconnects_per_s": _moved(history)},
        dtype=float,
    )
    ended = history["t_s"].astype(int) + 1.0
    seconds = pd.RangeIndex(1, int(lasted_s) + 1).astype(float)
    table = counted.groupby(ended).sum().reindex(seconds, fill_value=0.0)
    p95 = history.loc[answered, "latency_ms"].groupby(ended[answered]).quantile(0.95)
    table.insert(1, "latency_p95_ms", p95.reindex(seconds))
    table.insert(0, "clients", clients)
    return table.reset_index(names="t_s")


def _moved(history: pd.DataFrame) -> pd.Series:
    """Mark operations that ended on another server than the client's previous operation."""
    before = history.groupby("client")["server"].shift()
    return history["server"] != before.fillna(history["first_server"])
