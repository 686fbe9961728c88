"""The load generator of TPC-C: go-tpc, on tables of the lab's own.

A transaction that NDB gave up is no error of the run: table `aborts` counts those, and go-tpc
repeats none. The rows that the load leaves are checked by the specification's conditions.

go-tpc prepares its statements when it starts, and ends once each client has ended its transaction.
So one execution covers the warm-up, the run, and a few seconds after it that do not count.
"""

from __future__ import annotations

import math
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import pandas as pd
import pymysql

from ndblab.error import LabError
from ndblab.experiments.tpc_c import INCONSISTENT, TPC_C, consistency, database, go_tpc, tables
from ndblab.experiments.tpc_c.go_tpc import Interval, Outcome
from ndblab.machine.commands import exit_reason
from ndblab.planning import workload
from ndblab.workloads import program
from ndblab.workloads.execution import connect_s
from ndblab.workloads.load_generator import OK, Command, Filled, Job, Report, spawned

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.machine import Process

WORKLOADS = (TPC_C,)
TOOL = go_tpc.TOOL
ROLE = workload.CLIENT
TAIL_S = 3
"""go-tpc prints nothing for a second in which no transaction ended. When all its clients wait for
locks until NDB gives up (1.2 s), the run's last second is such a second, and the next line comes
only one or two seconds later."""
END_TIMEOUT_S, QUIET_TIMEOUT_S = 30, 10
"""How long go-tpc may take to end after its time, and the servers to end its sessions."""


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the version of go-tpc, which is built if it is missing; LabError if it cannot be."""
    return {go_tpc.NAME: go_tpc.ensure().version}


def prepare_command(job: Job) -> Command:
    """Return the command that fills the tables of both databases."""
    options = [f"--warehouses={database.warehouses(job.profile)}"]
    options += [f"--table-options={job.table_options}"] if job.table_options else []
    return program.command(database.__name__, *options, job.servers[0].socket)


def commands(job: Job) -> list[Command]:
    """Return the one command of a run, which covers its warm-up.

    go-tpc knows only TCP/IP, and deals its clients to the servers in turn.
    """
    argv = [
        str(go_tpc.place() or go_tpc.NAME), "tpcc", "run",
        "-H", job.servers[0].endpoint, "-P", ",".join(str(node.port) for node in job.servers),
        "-U", "root", "-D", _database(job), "-T", str(job.point.clients),
        "--warehouses", str(database.warehouses(job.profile)),
        "--time", f"{_seconds(job):g}s", "--interval", "1s", "--ignore-error",
    ]  # fmt: skip
    return [Command(argv)]


def prepare(cluster: Cluster, job: Job) -> Filled:
    """Fill the tables; LabError if rows are missing."""
    rows = sum(database.counts(database.warehouses(job.profile)).values())
    return program.fill(cluster, prepare_command(job), "TPC-C", len(database.DATABASES) * rows)


@contextmanager
def running(cluster: Cluster, job: Job) -> Iterator[Load]:
    """Load for the run's seconds, for the length of a `with` block at most."""
    with ExitStack() as stack:
        cursors = _cursors(cluster, job, stack)
        before = consistency.stands(cursors[0]), tables.counted(cursors)
    began = time.monotonic()
    with spawned(cluster, commands(job)[0], stderr=subprocess.STDOUT) as child:
        yield Load(cluster, job, child, began, *before)


class Load:
    """A go-tpc that is running, its output read as it comes.

    Parameters
    ----------
    began : when it was started, by `time.monotonic`.
    stands, counted : of the orders and of the servers' counters, before the start.
    """

    def __init__(
        self,
        cluster: Cluster,
        job: Job,
        child: Process,
        began: float,
        stands: Mapping[consistency.District, consistency.Stand],
        counted: Mapping[str, int],
    ) -> None:
        self._cluster, self._job, self._child, self._began = cluster, job, child, began
        self._stands, self._counted = stands, counted
        self.pids = (child.pid,)
        self._lines: list[tuple[float, str]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def wait_began(self, timeout_s: float) -> list[float | None]:
        """Return when go-tpc was started, the moment from which it counts its own time."""
        return [self._began]

    def finish(self) -> Report:
        """Wait until go-tpc ends, check the rows it has left, and return its report."""
        seconds = _seconds(self._job)
        timeout_s = seconds + END_TIMEOUT_S + connect_s(self._job)
        try:
            code = self._child.wait(timeout_s)
            ended = f"go-tpc ended with {exit_reason(code)}" if code else ""
        except subprocess.TimeoutExpired:
            self._child.kill()
            ended = f"go-tpc did not end within {timeout_s:g} s"
        self._reader.join()
        outcome = go_tpc.outcome(self._lines, seconds, ended)
        local: dict[str, int] = {}
        status = outcome.status
        if status == OK:
            try:
                local, status = self._examine()
            except (pymysql.Error, OSError) as error:
                status = f"the rows could not be checked: {error}"
        text = "".join(line for _, line in self._lines)
        return report(self._job, outcome, status, self._began, local, text)

    def _examine(self) -> tuple[dict[str, int], str]:
        """Return how local the reads were, and the status of the rows."""
        with ExitStack() as stack:
            cursors = _cursors(self._cluster, self._job, stack)
            _wait_quiet(cursors, _database(self._job))
            local = {n: now - self._counted[n] for n, now in tables.counted(cursors).items()}
            wrong = consistency.violations(cursors[0], self._stands)
            local |= tables.probed(cursors[0])
        if not wrong:
            return local, OK
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return local, f"{INCONSISTENT} {wrong[0]}{more}"

    def _read(self) -> None:
        for line in self._child.stdout:
            self._lines.append((time.monotonic() - self._began, line))


def report(
    job: Job, outcome: Outcome, status: str, began: float, local: Mapping[str, int], text: str
) -> Report:
    """Return the report of a load, without its warm-up and its end.

    `status` is that of the load and of the rows that it has left, `local` has the columns of table
    `locality`, and `text` is all that go-tpc printed.
    """
    before, during = _divided(outcome.intervals, job)
    if status == OK and not during:
        status = "go-tpc printed nothing after the warm-up"
    good = status == OK
    since_s = before[-1].ended_s if before else 0.0
    lasted_s = during[-1].ended_s - since_s if good else float(job.profile.duration_s)
    committed = sum(interval.committed for interval in during)
    metrics = {
        "queries": committed,
        "errors": 0,
        "reconnects": 0,
        "qps": committed / lasted_s,
        "latency_avg_ms": outcome.mean_ms,
    }
    return Report(
        status=status,
        began=began + since_s,
        lasted_s=round(lasted_s, 4),
        warmup_s=job.profile.warmup_s,
        metrics=metrics if good else {},
        intervals=_intervals(during, since_s, job) if good else pd.DataFrame(),
        ended_s=[interval.ended_s - since_s for interval in during] if good else (),
        logs={"go-tpc.txt": text},
        tables=tables.of(outcome, local) if good else {},
    )


def _divided(
    intervals: tuple[Interval, ...], job: Job
) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
    """Return the intervals of the warm-up, and those of the run.

    Each part extends to the first interval that ends no sooner than the part, since an idle second
    has no interval. An interval that ends with the load is left out, since clients end one after
    another.
    """
    whole = [interval for interval in intervals if interval.ended_s < _seconds(job)]

    def up_to(end_s: float) -> int:
        return sum(interval.ended_s < end_s for interval in whole) + 1 if end_s else 0

    warm, last = up_to(job.profile.warmup_s), up_to(_seconds(job) - TAIL_S)
    return tuple(whole[:warm]), tuple(whole[warm:last])


def _intervals(during: tuple[Interval, ...], since_s: float, job: Job) -> pd.DataFrame:
    rows, last_s, duration_s = [], since_s, job.profile.duration_s
    for interval in during:
        took_s = max(interval.ended_s - last_s, 1e-3)
        rows.append(
            {
                "t_s": float(min(int(interval.ended_s) - job.profile.warmup_s, duration_s)),
                "clients": job.point.clients,
                "qps": interval.committed / took_s,
                "latency_p95_ms": math.nan,
                "errors_per_s": interval.failed / took_s,
                "reconnects_per_s": 0.0,
            }
        )
        last_s = interval.ended_s
    return pd.DataFrame(rows)


def _cursors(cluster: Cluster, job: Job, stack: ExitStack) -> list[Cursor]:
    """Open a connection to the job's database on each of its servers, closed with the stack."""
    cursors = []
    for node in job.servers:
        connection = stack.enter_context(closing(cluster.connect(node.number)))
        cursors.append(connection.cursor())
        cursors[-1].execute(f"USE {_database(job)}")
    return cursors


def _wait_quiet(cursors: list[Cursor], name: str) -> None:
    """Wait until the servers have ended the transactions that go-tpc left when its time was over.

    OSError if they do not.
    """
    until_s = time.monotonic() + QUIET_TIMEOUT_S
    while sum(_sessions(cursor, name) for cursor in cursors) > len(cursors):
        if time.monotonic() > until_s:
            raise OSError(f"sessions of go-tpc were still there after {QUIET_TIMEOUT_S} s")
        time.sleep(0.02)


def _sessions(cursor: Cursor, name: str) -> int:
    """Count the sessions in the database of this name."""
    cursor.execute("SHOW PROCESSLIST")
    return sum(row[3] == name for row in cursor.fetchall())


def _seconds(job: Job) -> float:
    """Return how long go-tpc runs."""
    return job.profile.warmup_s + job.profile.duration_s + TAIL_S


def _database(job: Job) -> str:
    """Return the database that a job loads; LabError if it does not exist."""
    name = str(job.options.get("database", database.TPCC))
    if name not in database.DATABASES:
        raise LabError(
            "TPC-C has no such database",
            found=name,
            expected=", ".join(database.DATABASES),
            next_step="Change the variant in the catalogue.",
        )
    return name
