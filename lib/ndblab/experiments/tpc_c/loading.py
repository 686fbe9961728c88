"""Create and fill the tables of TPC-C in both databases; a program.

The last line that it prints is an error that a user can read, or the number of rows.

It computes no statistics of indexes. NDB takes them from one partition of a table, and those of few
warehouses leave some empty: both databases would have different plans for the same statements.
"""

from __future__ import annotations

import argparse
import queue
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pymysql

from ndblab.error import LabError
from ndblab.experiments.tpc_c import database as tables
from ndblab.experiments.tpc_c import rows
from ndblab.workloads.session import connected

CONNECTIONS = 3
"""A connection uses one CPU of the MySQL server at most, and waits for the data nodes as long."""


def main(arguments: Sequence[str]) -> None:
    """Create, fill, count."""
    parser = argparse.ArgumentParser(prog="loading")
    parser.add_argument("--warehouses", type=int, required=True)
    parser.add_argument("--table-options", default="")
    parser.add_argument("socket")
    options = parser.parse_args(arguments)
    try:
        for database in tables.DATABASES:
            _create(options.socket, database, options.table_options)
        _fill(options.socket, options.warehouses)
        print(sum(_checked(options.socket, name, options.warehouses) for name in tables.DATABASES))
    except (LabError, pymysql.Error, OSError) as error:
        found = f": {error.found}" if isinstance(error, LabError) and error.found else ""
        sys.exit(f"{getattr(error, 'what', error)}{found}")


def _create(socket: str, database: str, options: str) -> None:
    with connected(socket) as cursor:
        cursor.execute(f"CREATE DATABASE {database} CHARACTER SET latin1 COLLATE latin1_bin")
        cursor.execute(f"USE {database}")
        for statement in tables.statements(database, options):
            cursor.execute(statement)


def _fill(socket: str, warehouses: int) -> None:
    todo: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    for database in tables.DATABASES:
        for statement in rows.of_items():
            todo.put((database, statement))
        for warehouse in range(1, warehouses + 1):
            for statement in rows.of_warehouse(warehouse):
                todo.put((database, statement))

    def work(_: int) -> None:
        with connected(socket) as cursor:
            cursor.execute(f"SET SESSION cte_max_recursion_depth = {tables.ITEMS}")
            while True:
                try:
                    database, statement = todo.get_nowait()
                except queue.Empty:
                    return
                cursor.execute(f"USE {database}")
                cursor.execute(statement)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        # An error of any of them is raised here, and the others end with the rows they are at.
        list(pool.map(work, range(CONNECTIONS)))


def _checked(socket: str, database: str, warehouses: int) -> int:
    """Count the rows of all tables."""
    wanted = tables.counts(warehouses)
    with connected(socket, database=database) as cursor:
        for name, rows_wanted in wanted.items():
            cursor.execute(f"SELECT COUNT(*) FROM {name}")
            [(there,)] = cursor.fetchall()
            if there != rows_wanted:
                raise LabError(f"Table {database}.{name} was not filled",
                               found=f"{there} of {rows_wanted} rows")  # fmt: skip
    return sum(wanted.values())


if __name__ == "__main__":
    main(sys.argv[1:])
