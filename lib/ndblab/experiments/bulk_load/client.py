"""Load files of rows through a MySQL server, by LOAD DATA or by INSERT of many rows; a program.

Each connection takes one table after another. An INSERT that meets a temporary error of NDB, such
as a full redo log, is tried again; a LOAD DATA is not, since part of it may be done.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pymysql
from pymysql.cursors import Cursor

from ndblab.experiments.bulk_load import INSERTS, LOAD_DATA, LOAD_LOCAL, rows
from ndblab.workloads.session import connected

ROWS_PER_INSERT = 1000
"""Each INSERT is a transaction of about 200 kB, far below the server's limits."""
TEMPORARY = 1297
"""MySQL's number for all temporary errors of NDB (ER_GET_TEMPORARY_ERRMSG)."""
PAUSE_S, PATIENCE_S = 0.05, 60
"""Pause between two tries of an INSERT, and how long the client keeps trying."""


def main(arguments: Sequence[str]) -> None:
    """Load all tables."""
    parser = argparse.ArgumentParser(prog="client")
    parser.add_argument("--way", choices=(LOAD_DATA, LOAD_LOCAL, INSERTS), required=True)
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("socket")
    parser.add_argument("tables", nargs="+")
    options = parser.parse_args(arguments)
    load = {LOAD_DATA: _load_data, LOAD_LOCAL: _load_local, INSERTS: _insert}[options.way]
    database = {"database": options.database, "local_infile": True}

    def loaded(table: str) -> None:
        with connected(options.socket, **database) as cursor:
            load(cursor, table, rows.file(options.folder, table))

    try:
        with connected(options.socket, **database) as cursor:
            # By default, servers accept no files from their clients.
            cursor.execute("SET GLOBAL local_infile = 1")
        with ThreadPoolExecutor(options.connections) as pool:
            list(pool.map(loaded, options.tables))
    except (pymysql.Error, OSError, ValueError) as error:
        sys.exit(f"{options.way}: {error}")


def inserts(table: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield the INSERT statements for a file's rows, up to `ROWS_PER_INSERT` rows in each.

    The values hold neither quotes nor backslashes.
    """
    while batch := list(itertools.islice(lines, ROWS_PER_INSERT)):
        values = ",".join(
            "({},{},'{}','{}')".format(*line.rstrip("\n").split("\t")) for line in batch
        )
        yield f"INSERT INTO {table} (id, k, c, pad) VALUES {values}"


def _insert(cursor: Cursor, table: str, file: Path) -> None:
    with file.open() as stream:
        for statement in inserts(table, stream):
            patiently(cursor, statement)


def patiently(cursor: Cursor, statement: str) -> None:
    """Execute a statement, and retry while NDB answers with a temporary error."""
    until_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            cursor.execute(statement)
            return
        except pymysql.Error as error:
            if error.args[0] != TEMPORARY or time.monotonic() > until_s:
                raise
        time.sleep(PAUSE_S)


def _load_data(cursor: Cursor, table: str, file: Path) -> None:
    """Load a file that the server reads itself."""
    cursor.execute(f"LOAD DATA INFILE %s INTO TABLE {table}", (str(file),))


def _load_local(cursor: Cursor, table: str, file: Path) -> None:
    cursor.execute(f"LOAD DATA LOCAL INFILE %s INTO TABLE {table}", (str(file),))
    # LOCAL turns errors of single rows into warnings.
    if warnings := cursor.connection.show_warnings():
        raise ValueError(f"{len(warnings)} warnings on {table}, the first: {warnings[0][2]}")


if __name__ == "__main__":
    main(sys.argv[1:])
