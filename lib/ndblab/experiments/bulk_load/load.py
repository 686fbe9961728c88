"""The load generator of bulk loads: it loads all rows once, and proves that they are there.

Only the load is timed, from the start of its program to its end; the tables are emptied before.
A rejected, missing or changed row, or any error, fails the run.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pymysql

from ndblab.error import LabError
from ndblab.experiments.bulk_load import BULK_LOAD, BY_SYSBENCH, rows, ways
from ndblab.install import ndb_tools
from ndblab.planning import workload
from ndblab.workloads import action, sysbench
from ndblab.workloads.action import Action, Ended
from ndblab.workloads.load_generator import OK, Command, Filled, Job

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries

WORKLOADS = (BULK_LOAD,)
ENDS_BY_ITSELF = True
ROLE = workload.CLIENT
TOOL = ndb_tools.tool(ways.PROGRAM, "bulk-load")
LEAST_ROWS_PER_S, GRACE_S = 500, 120
PREPARE_TIMEOUT_S = 6 * 3600

prepare_command = ways.prepare_command


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the versions of the programs that load; LabError if one is missing."""
    own = {"pymysql": pymysql.__version__}
    own[ways.PROGRAM] = ndb_tools.version(binaries, ways.PROGRAM)
    return sysbench.versions(binaries) | own


def commands(job: Job) -> list[Command]:
    """Return the one command of a run; it needs no warm-up."""
    return [ways.command(job)]


def prepare(cluster: Cluster, job: Job) -> Filled:
    """Write the files of rows; LabError if that fails. The tables remain to be loaded."""
    began = time.monotonic()
    cluster.machine.make_folder(ways.folder(job))
    write = ways.prepare_command(job)
    with action.running(cluster, write, PREPARE_TIMEOUT_S, lambda ended: ended) as writing:
        ended = writing.end()
    if ended.status != OK:
        raise LabError(
            "The rows for bulk loads could not be written",
            found=ended.status,
            expected=f"{job.profile.rows} rows in {ways.folder(job)}",
            next_step="Free some disk space, or use a smaller --table-size.",
        )
    return Filled(round(time.monotonic() - began, 2), job.profile.rows, {})


@contextmanager
def running(cluster: Cluster, job: Job) -> Iterator[Action]:
    """Load all rows into empty tables, for the length of a `with` block at most.

    LabError if the tables cannot be made.
    """
    try:
        for statement in ways.statements(job):
            cluster.query(statement)
    except pymysql.Error as error:
        cluster.check_alive()
        raise LabError(
            "The empty tables for a bulk load could not be made",
            found=str(error),
            expected=f"{job.profile.tables} tables in the database {ways.DATABASE}",
            next_step="See the servers' error logs in the cluster's folder.",
        ) from error
    timeout_s = GRACE_S + job.profile.rows / LEAST_ROWS_PER_S
    command, checked = ways.command(job), functools.partial(_checked, cluster, job)
    with action.running(cluster, command, timeout_s, checked, watched=True) as loading:
        yield loading


def _checked(cluster: Cluster, job: Job, ended: Ended) -> Ended:
    """Compare the tables with the files, and give the rate if all rows are there."""
    wanted = json.loads(cluster.machine.get(ways.folder(job) / rows.SUMS))
    for table in ways.tables(job):
        try:
            [(there, total)] = cluster.query(rows.SUM_SQL.format(f"{ways.DATABASE}.{table}"))
        except pymysql.Error as error:
            return ended.failed(f"{table} cannot be read back: {error}")
        if there != job.profile.table_size:
            return ended.failed(f"{table} holds {there} rows, not {job.profile.table_size}")
        # sysbench draws rows of its own.
        if ways.of(job) != BY_SYSBENCH and int(total) != wanted[table]:
            return ended.failed(f"{table} holds other rows than its file")
    loaded = job.profile.rows
    return replace(ended, metrics={"queries": loaded, "qps": round(loaded / ended.lasted_s, 2)})
