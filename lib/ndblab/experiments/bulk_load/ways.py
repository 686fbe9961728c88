"""The ways to load rows: their commands, and the tables that they load into.

It starts nothing.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.experiments.bulk_load import BY_SYSBENCH, LOAD_DATA, NDB_IMPORT, client, rows
from ndblab.install import ndb_tools
from ndblab.planning import config
from ndblab.workloads import program, sysbench
from ndblab.workloads.load_generator import Command

if TYPE_CHECKING:
    from ndblab.workloads.load_generator import Job

DATABASE, PROGRAM = "bulk_load", "ndb_import"
_TABLE = """CREATE TABLE {0} (
 id INTEGER NOT NULL,
 k INTEGER NOT NULL DEFAULT 0,
 c CHAR(120) NOT NULL DEFAULT '',
 pad CHAR(60) NOT NULL DEFAULT '',
 PRIMARY KEY (id)
) ENGINE = ndbcluster {1}"""
"""As `sysbench prepare` makes it, but without the secondary index, which it would make afterwards,
and without AUTO_INCREMENT: the rows have keys, and NDB would note the highest key row by row."""


def of(job: Job) -> str:
    """Return how a job loads its rows."""
    return str(job.options.get("way", LOAD_DATA))


def tables(job: Job) -> list[str]:
    """Return the names of the tables."""
    return [f"sbtest{number}" for number in range(1, job.profile.tables + 1)]


def folder(job: Job) -> Path:
    """Return where the files of rows are: in the folder of the cluster."""
    return Path(job.servers[0].data_dir).parent / "bulk_load"


def statements(job: Job) -> list[str]:
    """Return the statements that make the empty tables; `sysbench prepare` makes its own."""
    fresh = [f"DROP DATABASE IF EXISTS {DATABASE}", f"CREATE DATABASE {DATABASE}"]
    if of(job) == BY_SYSBENCH:
        return fresh
    names = (f"{DATABASE}.{table}" for table in tables(job))
    return [*fresh, *(_TABLE.format(name, job.table_options).strip() for name in names)]


def prepare_command(job: Job) -> Command:
    """Return the command that writes the files of rows."""
    size = job.profile
    options = [f"--table-size={size.table_size}", f"--seed={size.seed}", f"--folder={folder(job)}"]
    return program.command(rows.__name__, *options, *tables(job))


def command(job: Job) -> Command:
    """Return the command that loads the rows.

    LabError if ndb_import is missing, or there are more connections than tables.
    """
    way, clients = of(job), job.point.clients
    if clients > job.profile.tables:
        raise LabError(
            "Each connection of a bulk load needs a table of its own",
            found=f"{clients} connections, {job.profile.tables} tables",
            expected="as many tables as connections, or more",
            next_step="Use fewer --clients or more --tables.",
        )
    if way == NDB_IMPORT:
        return _ndb_import(job)
    if way == BY_SYSBENCH:
        return _sysbench(job)
    options = [f"--way={way}", f"--connections={clients}", f"--folder={folder(job)}"]
    options += [f"--database={DATABASE}"]
    return program.command(client.__name__, *options, str(job.servers[0].socket), *tables(job))


def _ndb_import(job: Job) -> Command:
    """Return the command of ndb_import.

    It loads the tables one after another, with threads of its own, and tolerates no error.
    """
    place = folder(job)
    options = [
        "--no-defaults",
        f"--ndb-connectstring={job.connectstring}",
        *config.tls_options(str(place.parent), job.binaries.mysqld_version),
        f"--state-dir={place}",
    ]
    files = [str(rows.file(place, table)) for table in tables(job)]
    ndb_import = ndb_tools.find(job.binaries, PROGRAM)
    return Command([str(ndb_import), *options, DATABASE, *files])


def _sysbench(job: Job) -> Command:
    usual = sysbench.prepare_command(dataclasses.replace(job, database=DATABASE))
    *words, verb = (word for word in usual.argv if not word.startswith("--threads="))
    own = [f"--threads={job.point.clients}", "--create_secondary=off"]
    return Command([*words, *own, verb], usual.env)
