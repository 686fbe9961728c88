"""sysbench: the load generator of every workload that is one of its scripts.

In: a `Job`. Out: its commands and, run on a cluster, the report that sysbench printed. It never
retries, and a run that sysbench itself calls a failure is a report with that status.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

import pandas as pd

from ndblab.error import LabError
from ndblab.planning import workload
from ndblab.workloads import sysbench_output
from ndblab.workloads.load_generator import OK, Command, Filled, Job, Report, spawned
from ndblab.workloads.sysbench_output import Outcome

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.machine import Process

ROLE = workload.SYSBENCH
DATABASE, WEIGHED = "sbtest", "sbtest_half"
PREPARE_TIMEOUT_S = 6 * 3600
CONNECT_S_PER_CLIENT = 0.5
"""Generous bound on the time a client takes to connect, after which a run counts as stuck."""


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the version of sysbench."""
    return {"sysbench": binaries.sysbench_version}


def prepare_command(job: Job, database: str = DATABASE) -> Command:
    """Return the command that fills the tables through the first server's socket.

    It uses one client per table, the most that the scripts can keep busy.
    """
    engine = " ".join(["ndbcluster", job.table_options]).strip()
    return _command(job, "prepare", f"--mysql-storage-engine={engine}", database=database)


def commands(job: Job) -> list[Command]:
    """Return the commands of one run: warm-up, unless it takes 0 s, and run."""
    return [
        _command(
            job, "run",
            f"--time={seconds}", "--events=0", "--report-interval=1", "--percentile=95",
            "--rand-type=uniform", *job.option_words,
        )
        for seconds in (job.profile.warmup_s, job.profile.duration_s)
        if seconds
    ]  # fmt: skip


def _command(job: Job, verb: str, *options: str, database: str = DATABASE) -> Command:
    runs = verb == "run"
    script, clients = (job.point.workload if runs else workload.POINT_SELECT), job.point.clients
    servers = job.servers if runs else job.servers[:1]
    tcp = runs and job.tcp_clients
    addresses = [str(node.port if tcp else node.socket) for node in servers]
    if not addresses or any("," in address for address in addresses):
        raise LabError(
            "sysbench needs the sockets of its MySQL servers",
            found=addresses or "none",
            expected="at least one path, without commas",
            next_step="Choose a folder whose path has no comma.",
        )
    argv = [
        str(job.binaries.sysbench),
        job.binaries.sysbench_script(script),
        "--db-driver=mysql",
        *([f"--mysql-host={servers[0].endpoint}"] if tcp else []),
        f"--mysql-{'port' if tcp else 'socket'}={','.join(addresses)}",
        "--mysql-user=root",
        f"--mysql-db={database}",
        f"--tables={job.profile.tables}",
        f"--table_size={job.profile.table_size}",
        f"--threads={clients if runs else job.profile.tables}",
        *options,
        verb,
    ]
    return Command(argv, job.binaries.sysbench_env)


def prepare(cluster: Cluster, job: Job, database: str = DATABASE) -> Filled:
    """Fill the tables, and count their rows.

    Raises
    ------
    LabError
        If a table lacks rows: sysbench may exit with 0 though one of its threads gave up.
    """
    began = time.monotonic()
    cluster.query(f"CREATE DATABASE IF NOT EXISTS {database}")
    before = data_memory_bytes(cluster)
    with executing(cluster, prepare_command(job, database), PREPARE_TIMEOUT_S) as execution:
        done = execution.wait()
    cluster.check_alive()
    short = _short_tables(cluster, job, database) if done.exit_status == 0 else "not counted"
    if short:
        why = sysbench_output.complaint(done.text) or f"sysbench exited {done.exit_status}"
        raise LabError(
            "The tables could not be filled",
            found=f"{why}; rows: {short}",
            expected=f"{job.profile.tables} tables of {job.profile.table_size} rows",
            next_step="See the logs in the cluster's folder; a smaller --table-size may fit.",
        )
    taken = {node: after - before[node] for node, after in data_memory_bytes(cluster).items()}
    return Filled(round(time.monotonic() - began, 2), job.profile.rows, taken)


def weigh(cluster: Cluster, job: Job) -> Filled:
    """Fill as many tables with half the rows, in a database of their own, and drop them again.

    What these tables take besides their rows, such as partly filled pages, is what those of
    `prepare` take besides theirs: it cancels out of the difference.

    Raises
    ------
    LabError
        As `prepare`.
    """
    half = replace(job.profile, table_size=max(1, job.profile.table_size // 2))
    filled = prepare(cluster, replace(job, profile=half), WEIGHED)
    cluster.query(f"DROP DATABASE {WEIGHED}")
    return filled


def _short_tables(cluster: Cluster, job: Job, database: str) -> str:
    """Name the tables that lack rows."""
    there = {name for (name,) in cluster.query(f"SHOW TABLES FROM {database}")}
    counts = {
        name: cluster.query(f"SELECT COUNT(*) FROM {database}.{name}")[0][0] if name in there else 0
        for name in (f"sbtest{number}" for number in range(1, job.profile.tables + 1))
    }
    size = job.profile.table_size
    return ", ".join(f"{count} in {name}" for name, count in counts.items() if count != size)


def data_memory_bytes(cluster: Cluster) -> dict[int, int]:
    """Return the data memory in use, by id of the data node."""
    rows = cluster.query(
        "SELECT node_id, used FROM ndbinfo.memoryusage WHERE memory_type = 'Data memory'"
    )
    return {int(node): int(used) for node, used in rows}


def warm_up(cluster: Cluster, job: Job) -> str:
    """Run for the warm-up's seconds: "ok", or the reason why that failed."""
    if not job.profile.warmup_s:
        return OK
    timeout_s = _timeout_s(job, job.profile.warmup_s)
    with executing(cluster, commands(job)[0], timeout_s) as execution:
        return execution.wait().status


@contextmanager
def running(cluster: Cluster, job: Job) -> Iterator[Load]:
    """Run sysbench for the run's seconds, for the length of a `with` block at most."""
    timeout_s = _timeout_s(job, job.profile.duration_s)
    with executing(cluster, commands(job)[-1], timeout_s) as execution:
        yield Load(execution, job)


def read_back(cluster: Cluster) -> dict[str, pd.DataFrame]:
    """Read nothing: what sysbench writes cannot be checked."""
    return {}


def _timeout_s(job: Job, seconds: float) -> float:
    return 2 * seconds + 30 + connect_s(job)


def connect_s(job: Job) -> float:
    """Return a generous bound on the time that the clients of a job take to connect."""
    return CONNECT_S_PER_CLIENT * job.point.clients


class Load:
    """A measured execution of sysbench."""

    def __init__(self, execution: Execution, job: Job) -> None:
        self._execution, self._profile = execution, job.profile
        self.pid = execution.pid

    def wait_began(self, timeout_s: float) -> float | None:
        """Wait until all clients are connected, and return when that was by `time.monotonic`.

        None if sysbench ended before that, or the time ran out.
        """
        self._execution.begun.wait(timeout_s)
        return self._execution.began

    def finish(self) -> Report:
        """Wait until sysbench ends, and return its report."""
        done = self._execution.wait()
        ended, result = time.monotonic(), done.result
        lasted_s = result.duration_s if result else self._profile.duration_s
        return Report(
            status=done.status,
            began=self._execution.began or ended - lasted_s,
            lasted_s=lasted_s,
            warmup_s=self._profile.warmup_s,
            metrics=result.metrics if result else {},
            intervals=result.intervals if result else pd.DataFrame(),
            ended_s=result.ended_s if result else (),
            logs={"sysbench.txt": done.text},
        )


class Execution:
    """One execution of sysbench, its output read as it comes.

    `began` is when all clients were connected and the measuring started, by `time.monotonic`;
    `begun` is set from then on, or when there is nothing to wait for.
    """

    def __init__(self, child: Process, timeout_s: float | None) -> None:
        self._child, self._timeout_s = child, timeout_s
        self.pid = child.pid
        self.began: float | None = None
        self.begun = threading.Event()
        self._lines: dict[TextIO, list[str]] = {child.stdout: [], child.stderr: []}
        self._arrived: list[float] = []
        self._readers = [threading.Thread(target=self._read, args=(s,)) for s in self._lines]
        for reader in self._readers:
            reader.start()

    def wait(self) -> Outcome:
        """Wait until sysbench ends, at most for the time it may take, and return the outcome."""
        try:
            exit_status = self._child.wait(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            exit_status = None
            self._child.kill()
        for reader in self._readers:
            reader.join()
        out, err = ("".join(lines) for lines in self._lines.values())
        arrived_s = [at - self.began for at in self._arrived] if self.began else []
        return sysbench_output.outcome(exit_status, out, err, self._timeout_s, arrived_s)

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self._lines[stream].append(line)
            if stream is self._child.stdout:
                self._arrived.append(time.monotonic())
            if line.startswith("Threads started"):
                self.began = time.monotonic()
                self.begun.set()
        if stream is self._child.stdout:
            self.begun.set()


@contextmanager
def executing(
    cluster: Cluster, command: Command, timeout_s: float | None = None
) -> Iterator[Execution]:
    """Execute sysbench against a cluster; nothing of it outlives the `with` block."""
    streams = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with spawned(cluster, command, **streams) as child:
        yield Execution(child, timeout_s)
