"""The user's own tables: a dump, which MySQL's client loads into the load's database.

All tables must be NDB's. Whatever is wrong with the dump is one LabError.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.install import packages
from ndblab.machine.commands import error_lines, exit_reason
from ndblab.workloads import program, sysbench
from ndblab.workloads.load_generator import Command, Filled, Job

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster

MYSQL = "mysql"
_DECOMPRESS = {
    ".gz": "gunzip -k",
    ".xz": "unxz -k",
    ".bz2": "bunzip2 -k",
    ".zst": "unzstd",
    ".zip": "unzip",
}
"""Programs, by suffix, that decompress a file and keep it."""
_ENGINE = re.compile(rb"^\s*\)[^;'\"]*?\bENGINE\s*=\s*(\w+)", re.IGNORECASE)
_TABLE = re.compile(rb"^\s*CREATE TABLE\s+(?:IF NOT EXISTS\s+)?`?([^`\s(]+)", re.IGNORECASE)
_ONE_LINE = re.compile(rb"\)[^;'\"()]*?\bENGINE\s*=\s*(\w+)[^;'\"()]*;?\s*$", re.IGNORECASE)
_DATABASE = re.compile(rb"^\s*(?:USE\s|CREATE DATABASE\b)", re.IGNORECASE)
_NDB = (b"ndb", b"ndbcluster")
_LONGEST = 1000
"""Bytes of a line that matter here; rows are far longer."""


def check(path: Path) -> None:
    """Read a dump once, and refuse what cannot be loaded, before anything starts.

    LabError if it is missing, empty or no dump; if it names a database or a table of another
    engine.
    """
    if not path.is_file():
        raise LabError(
            "The schema does not exist",
            found=path,
            expected="a file of SQL with CREATE TABLE statements",
            next_step="Make one with: mysqldump --no-tablespaces --set-gtid-purged=OFF DATABASE",
        )
    tables, table, others = 0, "", {}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            begin = line[:_LONGEST]
            if match := _TABLE.match(begin):
                tables, table = tables + 1, match[1].decode(errors="replace")
                if (own := _ONE_LINE.search(begin)) and own[1].lower() not in _NDB:
                    others[table] = own[1].decode()
            elif _DATABASE.match(begin):
                raise LabError(
                    f"{path.name} (line {number}) names a database of its own",
                    found=begin.decode(errors="replace").strip(),
                    expected="tables alone, which the lab puts into the load's database",
                    next_step="Dump one database without --databases, or remove the line.",
                )
            elif (match := _ENGINE.match(begin)) and match[1].lower() not in _NDB:
                others[table] = match[1].decode()
    if not tables:
        raise LabError(
            f"{path.name} creates no table",
            found=f"{path.stat().st_size} bytes without CREATE TABLE",
            expected="a dump of the tables that the workload uses",
            next_step=decompress(path)
            or "Make one with: mysqldump --no-tablespaces --set-gtid-purged=OFF DATABASE",
        )
    if others:
        raise _of_other_engines(path.name, others)


def decompress(path: Path) -> str:
    """Return the command that decompresses a file, by its name; empty if it needs none."""
    program = _DECOMPRESS.get(path.suffix.lower())
    return f"Decompress it: {program} {shlex.quote(str(path))}" if program else ""


def prepare_command(job: Job, path: Path) -> Command:
    """Return the command that loads a dump through the first server."""
    server = job.servers[0]
    # Use nothing that the user keeps for other servers, not even MYSQL_PWD and ~/.mylogin.cnf.
    file = job.options_file
    login = [f"--defaults-file={file}"] if file else ["--no-defaults", "--password="]
    if server.socket:
        login += [f"--socket={server.socket}", "--protocol=socket"]
    else:
        login += [f"--host={server.endpoint}", f"--port={server.port}", "--protocol=tcp"]
    argv = [*packages.client_argv(job.binaries, MYSQL), *login, f"--user={job.user}"]
    # Whatever the locale: a dump says itself if it is in another character set.
    argv += ["--default-character-set=utf8mb4", "--binary-mode"]
    argv += ["--init-command=SET default_storage_engine=ndbcluster"]
    argv += [job.database or sysbench.DATABASE]
    return Command(["sh", "-c", f"exec {shlex.join(argv)} < {shlex.quote(str(path))}"])


def load(cluster: Cluster, job: Job, path: Path) -> Filled:
    """Load a dump, and count its rows.

    LabError if the client reports an error, or a table is not NDB's.
    """
    database = job.database or sysbench.DATABASE
    if job.table_options:
        raise LabError(
            "Table options cannot be compared on tables of the user's own",
            found=job.table_options,
            expected="tables of sysbench",
            next_step="Drop --schema, or write the options into the dump.",
        )
    cluster.query(f"CREATE DATABASE IF NOT EXISTS {database}")
    filled = sysbench.filling(cluster)
    text, exit_status = program.ended(cluster, prepare_command(job, path))
    if exit_status != 0:
        raise LabError(
            f"{path.name} could not be loaded",
            found=error_lines(text, most=1) or exit_reason(exit_status),
            expected="a dump that MySQL's client loads without an error",
            next_step="Mend that line; if a table is full, a larger --table-size helps.",
        )
    return filled(check_tables(cluster, database, path.name))


def check_tables(cluster: Cluster, database: str, name: str) -> int:
    """Return the rows of all tables of a database; LabError if one is not NDB's, or none is there.

    The message has the `name` of the file that made them.
    """
    tables = cluster.query(
        "SELECT table_name, engine FROM information_schema.tables"
        f" WHERE table_schema = '{database}' AND table_type = 'BASE TABLE'"
    )
    others = {table: engine for table, engine in tables if engine.encode().lower() not in _NDB}
    if others:
        raise _of_other_engines(name, others)
    if not tables:
        raise LabError(f"{name} left no table in the database {database}", next_step="Mend it.")
    return sum(
        cluster.query(f"SELECT COUNT(*) FROM `{database}`.`{table}`")[0][0] for table, _ in tables
    )


def _of_other_engines(name: str, others: dict[str, str]) -> LabError:
    shown = ", ".join(f"{table} ({engine})" for table, engine in list(others.items())[:5])
    more = f" and {len(others) - 5} more" if len(others) > 5 else ""
    return LabError(
        f"{name} has tables that are not NDB's",
        found=shown + more,
        expected="ENGINE=NDBCLUSTER for every table",
        next_step="Change a copy: "
        f"sed '/^INSERT/!s/) ENGINE *= *[A-Za-z]*/) ENGINE=NDBCLUSTER/' {name}",
    )
