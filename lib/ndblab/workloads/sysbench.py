"""sysbench: the load generator of every workload that is one of its scripts, or of the lab's own.

In: a `Job`. Out: its commands and, run on a cluster, the report that sysbench printed. It never
retries, and a run that sysbench itself calls a failure is a report with that status.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import pandas as pd

from ndblab import discovery
from ndblab.error import LabError
from ndblab.machine import speed
from ndblab.planning import deployment, workload
from ndblab.planning.workload import is_good
from ndblab.workloads import divided_load, sysbench_output
from ndblab.workloads.load_generator import OK, Command, Filled, Job, Report, spawned
from ndblab.workloads.sysbench_output import Outcome

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.machine import Process
    from ndblab.planning.deployment import Node

ROLE = workload.SYSBENCH
DATABASE, WEIGHED = "sbtest", "sbtest_half"
"""The lab's own scripts, which build on the common part of sysbench's."""
PREPARE_TIMEOUT_S = 6 * 3600
CONNECT_S_PER_CLIENT = 0.5
"""Generous bound on the time a client takes to connect, after which a run counts as stuck."""


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the version of sysbench."""
    return {"sysbench": binaries.sysbench_version}


def prepare_command(job: Job) -> Command:
    """Return the command that fills the tables through the first server.

    It uses one client per table, the most that the scripts can keep busy.
    """
    engine = " ".join(["ndbcluster", job.table_options]).strip()
    return _command(job, "prepare", f"--mysql-storage-engine={engine}")


def commands(job: Job) -> list[Command]:
    """Return the commands of one run: warm-up, unless it takes 0 s, and run.

    There are as many of each as the job has processes; LabError if those are more than its clients.
    """
    return [
        _command(
            part, "run",
            f"--time={seconds}", "--events=0", "--report-interval=1", "--percentile=95",
            "--rand-type=uniform", *job.option_words,
        )
        for seconds in (job.profile.warmup_s, job.profile.duration_s)
        for part in divided_load.parts(job)
        if seconds
    ]  # fmt: skip


def _command(job: Job, verb: str, *options: str) -> Command:
    runs = verb == "run"
    script, clients = (job.point.workload if runs else workload.POINT_SELECT), job.point.clients
    servers = job.servers if runs else job.servers[:1]
    tcp = (runs and job.tcp_clients) or not all(node.socket for node in servers)
    argv = [
        str(job.binaries.sysbench),
        _script(job.binaries, script),
        "--db-driver=mysql",
        *([f"--config-file={job.options_file}"] if job.options_file else []),
        *(_over_tcp(servers) if tcp else _by_sockets(servers)),
        f"--mysql-user={job.user}",
        f"--mysql-db={job.database or DATABASE}",
        f"--tables={job.profile.tables}",
        f"--table_size={job.profile.table_size}",
        f"--threads={clients if runs else job.profile.tables}",
        *options,
        verb,
    ]
    return Command(argv, job.binaries.sysbench_env, job.host)


def _by_sockets(servers: Sequence[Node]) -> list[str]:
    sockets = [node.socket for node in servers]
    if not sockets or any("," in path for path in sockets):
        raise LabError(
            "sysbench needs the sockets of its MySQL servers",
            found=sockets or "none",
            expected="at least one path, without commas",
            next_step="Choose a folder whose path has no comma.",
        )
    return [f"--mysql-socket={','.join(sockets)}"]


def _over_tcp(servers: Sequence[Node]) -> list[str]:
    """Return addresses and ports, of which sysbench uses each with each."""
    addresses = list(dict.fromkeys(node.endpoint for node in servers))
    ports = list(dict.fromkeys(str(node.port) for node in servers))
    if not deployment.is_grid(servers):
        raise LabError(
            "sysbench cannot load these MySQL servers at once",
            found=f"{len(servers)} servers on {len(addresses)} hosts and {len(ports)} ports",
            expected="the same ports on each of the hosts",
            next_step=f"Choose a number of servers that is at most {len(addresses)}, or a multiple "
            "of it, with --servers.",
        )
    return [f"--mysql-host={','.join(addresses)}", f"--mysql-port={','.join(ports)}"]


def _script(binaries: Binaries, name: str) -> str:
    """Return the path of a script in an experiment's folder, or the name of one of sysbench's.

    A path is that of a script of the user's own.
    """
    if Path(name).is_absolute():
        return name
    return str(discovery.file(f"{name}.lua") or binaries.sysbench_script(name))


def prepare(cluster: Cluster, job: Job) -> Filled:
    """Fill the tables, and count their rows.

    Raises
    ------
    LabError
        If a table lacks rows: sysbench may exit with 0 though one of its threads gave up.
    """
    began, database = time.monotonic(), job.database or DATABASE
    cluster.query(f"CREATE DATABASE IF NOT EXISTS {database}")
    before = data_memory_bytes(cluster)
    with executing(cluster, prepare_command(job), PREPARE_TIMEOUT_S) as execution:
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
    filled = prepare(cluster, replace(job, profile=half, database=WEIGHED))
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


def warm_up(cluster: Cluster, job: Job, own: Sequence[Command] = ()) -> str:
    """Run for the warm-up's seconds: "ok", or the reason why that failed.

    Parameters
    ----------
    own : commands in place of `commands`.
    """
    if not job.profile.warmup_s:
        return OK
    warm_ups = (own or commands(job))[: job.processes]
    with _executing_all(cluster, warm_ups, job, job.profile.warmup_s) as executions:
        statuses = [execution.wait().status for execution in executions]
    return next((status for status in statuses if not is_good(status)), OK)


@contextmanager
def running(cluster: Cluster, job: Job, own: Sequence[Command] = ()) -> Iterator[Load]:
    """Run sysbench for the run's seconds, for the length of a `with` block at most.

    Parameters
    ----------
    own : as for `warm_up`.
    """
    runs = (own or commands(job))[-job.processes :]
    with _executing_all(cluster, runs, job, job.profile.duration_s) as executions:
        yield Load(executions, job)


def read_back(cluster: Cluster) -> dict[str, pd.DataFrame]:
    """Read nothing: what sysbench writes cannot be checked."""
    return {}


def _timeout_s(job: Job, seconds: float) -> float:
    return speed.timeout_s(2 * seconds + 30 + connect_s(job))


def connect_s(job: Job) -> float:
    """Return a generous bound on the time that the clients of a job take to connect."""
    return CONNECT_S_PER_CLIENT * job.point.clients


class Load:
    """A measured execution of sysbench, or several at the same time."""

    def __init__(self, executions: Sequence[Execution], job: Job) -> None:
        self._executions, self._profile = executions, job.profile
        self.pids = [execution.pid for execution in executions]

    def wait_began(self, timeout_s: float) -> list[float | None]:
        """Wait until all clients are connected: when they were, process by process.

        The times are those of `time.monotonic`; None where sysbench ended before that, or the time
        ran out.
        """
        until_s = time.monotonic() + timeout_s
        for execution in self._executions:
            execution.begun.wait(max(0.0, until_s - time.monotonic()))
        return [execution.began for execution in self._executions]

    def finish(self) -> Report:
        """Wait until sysbench ends, and return its report."""
        reports = [self._report(execution) for execution in self._executions]
        asked_s = self._profile.duration_s
        return divided_load.joined(reports, asked_s) if len(reports) > 1 else reports[0]

    def _report(self, execution: Execution) -> Report:
        done = execution.wait()
        ended, result = time.monotonic(), done.result
        lasted_s = result.duration_s if result else self._profile.duration_s
        return Report(
            status=done.status,
            began=execution.began or ended - lasted_s,
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

    def __init__(
        self,
        child: Process,
        timeout_s: float | None,
        asked_s: float | None = None,
        tolerated_errors: float = 0.0,
    ) -> None:
        self._child, self._timeout_s, self._asked_s = child, timeout_s, asked_s
        self._tolerated_errors = tolerated_errors
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
        return sysbench_output.outcome(
            exit_status, out, err, self._timeout_s, arrived_s, self._asked_s,
            self._tolerated_errors,
        )  # fmt: skip

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
    cluster: Cluster,
    command: Command,
    timeout_s: float | None = None,
    asked_s: float | None = None,
    tolerated_errors: float = 0.0,
) -> Iterator[Execution]:
    """Execute sysbench against a cluster; nothing of it outlives the `with` block."""
    streams = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with spawned(cluster, command, **streams) as child:
        yield Execution(child, timeout_s, asked_s, tolerated_errors)


@contextmanager
def _executing_all(
    cluster: Cluster, several: Sequence[Command], job: Job, asked_s: float
) -> Iterator[list[Execution]]:
    """Execute these at the same time, as `executing` does one."""
    timeout_s = _timeout_s(job, asked_s)
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                executing(cluster, command, timeout_s, asked_s, job.tolerated_errors)
            )
            for command in several
        ]
