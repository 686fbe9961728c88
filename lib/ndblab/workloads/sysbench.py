"""sysbench: the load generator of every workload that is one of its scripts, or of the lab's own.

It never retries, and a run that sysbench itself calls a failure is a report with that status.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import discovery
from ndblab.error import LabError
from ndblab.planning import workload
from ndblab.planning.node import is_grid
from ndblab.workloads import divided_load, sysbench_output, turns
from ndblab.workloads.execution import Load, executing, executing_all
from ndblab.workloads.load_generator import OK, Command, Filled, Job

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Node

ROLE = workload.SYSBENCH
DATABASE, WEIGHED = "sbtest", "sbtest_half"
SCRIPTS = (
    "bulk_insert", "oltp_delete", "oltp_insert", "oltp_point_select", "oltp_read_only",
    "oltp_read_write", "oltp_update_index", "oltp_update_non_index", "oltp_write_only",
    "select_random_points", "select_random_ranges",
)  # fmt: skip
"""The scripts that come with sysbench 1.0 and 1.1."""
PREPARE_TIMEOUT_S = 6 * 3600


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

    There are as many of each as the job has processes; LabError if it has fewer clients than that.
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
    command = Command(argv, job.binaries.sysbench_env, job.host)
    return turns.taken(command, job.turn) if runs and job.turn else command


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
    """Return the options for addresses and ports; sysbench combines each with each."""
    addresses = list(dict.fromkeys(node.endpoint for node in servers))
    ports = list(dict.fromkeys(str(node.port) for node in servers))
    if not is_grid(servers):
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

    An absolute path names a script of the user's own.
    """
    if Path(name).is_absolute():
        return name
    return str(discovery.file(f"{name}.lua") or binaries.sysbench_script(name))


def prepare(cluster: Cluster, job: Job) -> Filled:
    """Fill the tables, and count their rows.

    LabError if a table lacks rows: sysbench may exit with 0 though one of its threads gave up.
    """
    database = job.database or DATABASE
    cluster.query(f"CREATE DATABASE IF NOT EXISTS {database}")
    filled = filling(cluster)
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
    return filled(job.profile.rows)


def weigh(cluster: Cluster, job: Job) -> Filled:
    """Fill as many tables with half the rows, in a database of their own, and drop them again.

    Memory beyond the rows, such as that of partly filled pages, is the same for these tables as for
    those of `prepare`, so it cancels out of the difference. LabError as for `prepare`.
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


def filling(cluster: Cluster) -> Callable[[int], Filled]:
    """Begin to fill tables; call what this returns with their rows once that is done."""
    began, before = time.monotonic(), data_memory_bytes(cluster)

    def filled(rows: int) -> Filled:
        taken = {node: used - before[node] for node, used in data_memory_bytes(cluster).items()}
        return Filled(round(time.monotonic() - began, 2), rows, taken)

    return filled


def data_memory_bytes(cluster: Cluster) -> dict[int, int]:
    """Return the data memory in use, by id of the data node."""
    rows = cluster.query(
        "SELECT node_id, used FROM ndbinfo.memoryusage WHERE memory_type = 'Data memory'"
    )
    return {int(node): int(used) for node, used in rows}


def warm_up(cluster: Cluster, job: Job, own: Sequence[Command] = ()) -> str:
    """Run for the warm-up's seconds, `own` or the usual commands; return "ok", or why it failed.

    A warm-up that overran has warmed up: nothing of it is measured, and whether clients are stuck
    in the run is in that run's own report.
    """
    if not job.profile.warmup_s:
        return OK
    warm_ups = (own or commands(job))[: job.processes]
    with executing_all(cluster, warm_ups, job, job.profile.warmup_s) as executions:
        statuses = [execution.wait().status for execution in executions]
    failed = (s for s in statuses if s != OK and not s.startswith(workload.OVERRAN))
    return next(failed, OK)


@contextmanager
def running(cluster: Cluster, job: Job, own: Sequence[Command] = ()) -> Iterator[Load]:
    """Run for the run's seconds, `own` or the usual commands, for a `with` block at most."""
    runs = (own or commands(job))[-job.processes :]
    with executing_all(cluster, runs, job, job.profile.duration_s) as executions:
        yield Load(executions, job)
