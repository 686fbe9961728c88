"""The locks that statements take on the InnoDB table they read; a program, started by `load`.

A second connection reads the locks twice: while the statement is at its last row, and after its
end, before its transaction ends. The statement waits at its last row for a user-level lock
(GET_LOCK), which is none of InnoDB's, so that no moment is missed and no time is guessed.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import product
from typing import NamedTuple

import pymysql

from ndblab.experiments.locking_reads import (
    CREATE_SELECT,
    HELD,
    ISOLATIONS,
    PLAIN_SELECT,
    RUNNING,
    SELECT_INTO,
    SET_VARIABLE,
)

DATABASE, TABLE, GATE = "ndblab_locks", "source", "ndblab_gate"
ANSWER_TIMEOUT_S, POLL_S = 30, 0.005

_SLOW = "WHERE IF(id = {rows}, GET_LOCK('" + GATE + "', {timeout_s}), 1) = 1"
_COUNT = f"SELECT COUNT(*) FROM {TABLE} {_SLOW}"
STATEMENTS = {
    PLAIN_SELECT: (_COUNT, None),
    SELECT_INTO: (f"SELECT COUNT(*) INTO @v FROM {TABLE} {_SLOW}", "SELECT @v"),
    SET_VARIABLE: (f"SET @v = ({_COUNT})", "SELECT @v"),
    "INSERT ... SELECT": (
        f"INSERT INTO target SELECT * FROM {TABLE} {_SLOW}",
        "SELECT COUNT(*) FROM target",
    ),
    CREATE_SELECT: (
        f"CREATE TABLE copy ENGINE=InnoDB SELECT * FROM {TABLE} {_SLOW}",
        "SELECT COUNT(*) FROM copy",
    ),
    "SELECT ... FOR SHARE": (f"{_COUNT} FOR SHARE", None),
    "SELECT ... FOR UPDATE": (f"{_COUNT} FOR UPDATE", None),
}
"""By name: the statement, and the query for how many rows it read (None: its own result)."""

_LOCKS = """SELECT index_name, lock_type, lock_mode, lock_status, COUNT(*)
 FROM performance_schema.data_locks
 WHERE thread_id = %s AND object_schema = %s AND object_name = %s
 GROUP BY index_name, lock_type, lock_mode, lock_status ORDER BY lock_type DESC, index_name"""
_STATE = "SELECT processlist_state FROM performance_schema.threads WHERE thread_id = %s"
_AT_GATE = "User lock"
"""State of a thread that waits for a user-level lock."""


class Unreadable(Exception):
    """The locks could not be read as they should."""


class Row(NamedTuple):
    """Locks of one kind; without any, one row with 0 of them."""

    statement: str
    isolation: str
    moment: str
    index: str
    lock_type: str
    lock_mode: str
    lock_status: str
    locks: int


class Session:
    """A connection to the server."""

    def __init__(self, socket: str) -> None:
        self._connection = pymysql.connect(
            unix_socket=socket,
            user="root",
            autocommit=True,
            ssl_disabled=True,
            connect_timeout=ANSWER_TIMEOUT_S,
            read_timeout=2 * ANSWER_TIMEOUT_S,
        )

    def run(self, sql: str, *values: object) -> list[tuple]:
        """Run a statement and return its rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return list(cursor.fetchall())

    def value(self, sql: str, *values: object) -> object:
        """Run a query and return its one value; None without any row."""
        rows = self.run(sql, *values)
        return rows[0][0] if rows else None

    def close(self) -> None:
        self._connection.close()


def prepare(session: Session, rows: int) -> None:
    """Create the table to read, with a secondary index, and one to insert into."""
    for statement in (
        f"DROP DATABASE IF EXISTS {DATABASE}",
        f"CREATE DATABASE {DATABASE}",
        f"USE {DATABASE}",
        f"CREATE TABLE {TABLE} (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(20) NOT NULL, "
        "KEY k_1 (k)) ENGINE=InnoDB",
        f"SET SESSION cte_max_recursion_depth = {rows + 1}",
        f"INSERT INTO {TABLE} WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        f"WHERE i < {rows}) SELECT i, i, REPEAT('c', 20) FROM n",
        f"ANALYZE TABLE {TABLE}",
        f"CREATE TABLE target LIKE {TABLE}",
    ):
        session.run(statement)


def measure(worker: Session, observer: Session, rows: int) -> Iterator[Row]:
    """Run every statement under every isolation level, and read its locks.

    Unreadable if a statement reads another number of rows, or its locks cannot be read.
    """
    worker.run(f"USE {DATABASE}")
    if not observer.value("SELECT @@performance_schema"):
        raise Unreadable("performance_schema is OFF; set it ON in my.cnf")
    thread = worker.value("SELECT PS_CURRENT_THREAD_ID()")

    def locks() -> list[tuple]:
        return observer.run(_LOCKS, thread, DATABASE, TABLE)

    def at_gate() -> bool:
        return observer.value(_STATE, thread) == _AT_GATE

    with ThreadPoolExecutor(1) as background:
        for isolation, (name, (statement, count)) in product(ISOLATIONS, STATEMENTS.items()):
            _begin(worker, isolation)
            observer.run(f"SELECT GET_LOCK('{GATE}', {ANSWER_TIMEOUT_S})")
            sql = statement.format(rows=rows, timeout_s=ANSWER_TIMEOUT_S)
            running = background.submit(worker.run, sql)
            try:
                _wait(at_gate, running, f"{name} in {isolation}")
                yield from _rows(name, isolation, RUNNING, locks())
            finally:
                observer.run(f"SELECT RELEASE_LOCK('{GATE}')")
            result = running.result(ANSWER_TIMEOUT_S)
            yield from _rows(name, isolation, HELD, locks())
            read = worker.value(count) if count else result[0][0]
            if read != rows:
                raise Unreadable(f"{name} in {isolation} read {read} rows of {rows}")
            worker.run("SELECT RELEASE_ALL_LOCKS()")
            worker.run("ROLLBACK")


def _begin(worker: Session, isolation: str) -> None:
    """Begin a transaction with nothing left over from the previous statement."""
    worker.run("DROP TABLE IF EXISTS copy")
    worker.run("SET @v = NULL")
    worker.run(f"SET SESSION TRANSACTION ISOLATION LEVEL {isolation}")
    worker.run("START TRANSACTION")


def _wait(reached: Callable[[], bool], running: Future, what: str) -> None:
    """Wait until a statement is at its last row; raise its own error if it fails before."""
    ends = time.monotonic() + ANSWER_TIMEOUT_S
    while not reached():
        if running.done():
            running.result()
            raise Unreadable(f"{what} ended without waiting at its last row")
        if time.monotonic() > ends:
            raise Unreadable(f"{what} did not reach its last row in {ANSWER_TIMEOUT_S} s")
        time.sleep(POLL_S)


def _rows(name: str, isolation: str, moment: str, kinds: Iterable[tuple]) -> Iterator[Row]:
    rows = [[value or "" for value in kind] for kind in kinds]
    for *kind, locks in rows or [["", "", "", "", 0]]:
        yield Row(name, isolation, moment, *kind, locks)


def main() -> None:
    """Create the tables, or print the locks of every statement as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=("prepare", "measure"))
    parser.add_argument("socket")
    parser.add_argument("--rows", type=int, required=True)
    asked = parser.parse_args()
    try:
        with contextlib.ExitStack() as stack:
            worker, observer = (
                stack.enter_context(contextlib.closing(Session(asked.socket))) for _ in range(2)
            )
            if asked.task == "prepare":
                prepare(worker, asked.rows)
                return
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(Row._fields)
            writer.writerows(measure(worker, observer, asked.rows))
    except (pymysql.Error, Unreadable) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
