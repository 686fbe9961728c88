"""The load generator of locking reads: it starts the program `client` and takes what it prints.

Its InnoDB table has as many rows as a table of the profile; the tables of sysbench are not filled.
"""

from __future__ import annotations

import io
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import pymysql

from ndblab.error import LabError
from ndblab.experiments.locking_reads import ISOLATIONS, LOCKING_READS, client
from ndblab.planning import workload
from ndblab.workloads import action, program
from ndblab.workloads.action import Action, Ended
from ndblab.workloads.load_generator import OK, Command, Filled, Job

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries

WORKLOADS = (LOCKING_READS,)
ENDS_BY_ITSELF = True
ROLE = workload.CLIENT
TIMEOUT_S = 300


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the version of the library that connects."""
    return {"pymysql": pymysql.__version__}


def prepare_command(job: Job) -> Command:
    """Return the command that creates and fills the tables."""
    return _command(job, "prepare")


def commands(job: Job) -> list[Command]:
    """Return the one command of a run; it needs no warm-up."""
    return [_command(job, "measure")]


def _command(job: Job, task: str) -> Command:
    options = [f"--rows={job.profile.table_size}", *job.option_words]
    return program.command(client.__name__, task, job.servers[0].socket, *options)


def prepare(cluster: Cluster, job: Job) -> Filled:
    """Create and fill the tables; LabError if that fails."""
    began = time.monotonic()
    with action.running(cluster, prepare_command(job), TIMEOUT_S, lambda ended: ended) as filling:
        ended = filling.end()
    cluster.check_alive()
    if ended.status != OK:
        raise LabError(
            "The InnoDB table of locking reads could not be filled",
            found=ended.status,
            expected=f"a table of {job.profile.table_size} rows",
            next_step="See the servers' error logs in the cluster's folder.",
        )
    return Filled(round(time.monotonic() - began, 2), job.profile.table_size, {})


def running(cluster: Cluster, job: Job) -> AbstractContextManager[Action]:
    """Run all statements once, for the length of a `with` block at most."""
    return action.running(cluster, commands(job)[0], TIMEOUT_S, _checked)


def _checked(ended: Ended) -> Ended:
    """Take the locks that the program printed."""
    table = pd.read_csv(io.StringIO(ended.output), keep_default_na=False)
    expected = len(client.STATEMENTS) * len(ISOLATIONS) * 2
    read = len(table.drop_duplicates(["statement", "isolation", "moment"]))
    if read != expected:
        return ended.failed(f"locks were read {read} times, not {expected}")
    return replace(ended, tables={"locks": table})
