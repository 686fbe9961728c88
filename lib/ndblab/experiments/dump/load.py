"""The load generator of dumps: it dumps the tables of sysbench once, and reads the dump back.

The time is that of the dump alone. The dump is deleted afterwards, and before, if one was left
behind.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.error import LabError
from ndblab.experiments.dump import DUMP, contents, tools
from ndblab.planning import workload
from ndblab.workloads import action, sysbench
from ndblab.workloads.action import Action, Ended
from ndblab.workloads.load_generator import OK, Command, Job

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries

WORKLOADS = (DUMP,)
ENDS_BY_ITSELF = True
ROLE = workload.CLIENT
LEAST_ROWS_PER_S, GRACE_S = 1000, 120

prepare_command, prepare = sysbench.prepare_command, sysbench.prepare


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the versions of the programs that fill the tables, dump and compress them."""
    return sysbench.versions(binaries) | tools.versions(binaries)


def commands(job: Job) -> list[Command]:
    """Return the one command of a run; it needs no warm-up."""
    return [tools.command(job, _folder(job))]


def warm_up(cluster: Cluster, job: Job) -> str:
    """Make an empty folder for the dump."""
    cluster.machine.make_folder(_folder(job))
    cluster.machine.remove(_folder(job), "*")
    return OK


@contextmanager
def running(cluster: Cluster, job: Job) -> Iterator[Action]:
    """Dump once, for the length of a `with` block at most."""
    checked = functools.partial(_checked, cluster, job)
    timeout_s = GRACE_S + job.profile.rows / LEAST_ROWS_PER_S
    try:
        with action.running(cluster, commands(job)[0], timeout_s, checked) as dumping:
            yield dumping
    finally:
        cluster.machine.remove(_folder(job), "*")


def _checked(cluster: Cluster, job: Job, ended: Ended) -> Ended:
    """Read a dump back, and give its size if it holds all tables and rows."""
    folder, size = _folder(job), job.profile
    try:
        dump = contents.read(cluster, job, folder, ended.output)
    except LabError as error:
        return ended.failed(f"{error.what}: {error.found}")
    if (dump.tables, dump.rows) != (size.tables, size.rows):
        held = f"{dump.tables} tables and {dump.rows} rows"
        return ended.failed(f"the dump holds {held}, not {size.tables} and {size.rows}")
    row = {
        "tool": tools.tool(),
        "compression": tools.compression(job),
        "tables": dump.tables,
        "rows": dump.rows,
        "content_bytes": dump.size_bytes,
        "written_bytes": sum(file.stat().st_size for file in folder.iterdir()),
    }
    return replace(ended, tables={"dumps": pd.DataFrame([row])})


def _folder(job: Job) -> Path:
    """Return where the dump goes: beside the data of the server that is dumped."""
    return Path(job.servers[0].data_dir).parent / "dump"
