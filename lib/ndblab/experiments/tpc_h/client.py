"""Execute one query of TPC-H again and again, and check every result; a program.

It executes the query at least once, and never cuts off an execution that is within its time limit.
A wrong result ends the program.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import pymysql
from pymysql.cursors import Cursor

from ndblab.experiments.tpc_h import DATABASE, WRONG_RESULT, queries
from ndblab.experiments.tpc_h.queries import Query
from ndblab.workloads.load_generator import OK
from ndblab.workloads.session import connected

OUT_OF_TIME = 3024
"""MySQL's error for a query that exceeded its time limit (mysqld_error.h)."""
PUSHED = {
    "defined": "Ndb_pushed_queries_defined",
    "dropped": "Ndb_pushed_queries_dropped",
    "executed": "Ndb_pushed_queries_executed",
    "reads": "Ndb_pushed_reads",
}
"""Status variables of a session that count what NDB was given as a pushed join."""
_PARENT = re.compile(r"Parent of (\d+) pushed join@\d+")


def joins(explained: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Count what a plan pushes: `tables` that it reads, pushed `joins`, and tables `joined` there.

    It reads `table` and `Extra` of each row of EXPLAIN. The first table of a pushed join says how
    many tables it joins. Names of temporary tables begin with "<".
    """
    rows = [(table or "", extra or "") for table, extra in explained]
    parents = [int(match[1]) for _, extra in rows if (match := _PARENT.search(extra))]
    read = sum(bool(table) and not table.startswith("<") for table, _ in rows)
    return {"tables": read, "joins": len(parents), "joined": sum(parents)}


def main(arguments: Sequence[str]) -> None:
    """Execute the query for the given time, and print the measurements."""
    parser = argparse.ArgumentParser(prog="client")
    parser.add_argument("--query", type=int, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--most-seconds", type=float, required=True)
    parser.add_argument("--join-pushdown", type=int, choices=(0, 1), default=1)
    parser.add_argument("socket")
    options = parser.parse_args(arguments)
    known = json.loads(options.answers.read_text())
    answer = known["answers"][str(options.query)]
    query = queries.read(options.query, known["scale"])
    rows = 0 if queries.is_empty(answer["rows"]) else len(answer["rows"])
    measured: dict[str, object] = {"rows": rows, "innodb_ms": answer["ms"]}
    with connected(options.socket, database=DATABASE) as cursor:
        cursor.execute(f"SET SESSION ndb_join_pushdown = {options.join_pushdown}")
        cursor.execute(f"SET SESSION max_execution_time = {1000 * options.most_seconds:.0f}")
        # EXPLAIN also opens the tables, so that the first execution is like the others.
        measured |= _explain(cursor, query)
        before = _counted(cursor)
        print("began", time.monotonic(), flush=True)
        took_s, status = _execute(cursor, query, options, answer["rows"])
        measured |= {name: count - before[name] for name, count in _counted(cursor).items()}
    print(json.dumps({**measured, "status": status, "took_s": _summary(took_s)}))


def _execute(
    cursor: Cursor, query: Query, options: argparse.Namespace, expected: queries.Rows
) -> tuple[list[float], str]:
    """Return the seconds of each execution with a right result, and the status of them all."""
    took_s: list[float] = []
    while not took_s or sum(took_s) < options.seconds:
        first_s = time.monotonic()
        try:
            cursor.execute(query.sql)
            rows = cursor.fetchall()
        except pymysql.Error as error:
            if error.args and error.args[0] == OUT_OF_TIME:
                return took_s, f"Q{query.number} took longer than {options.most_seconds:g} s"
            return took_s, f"Q{query.number} failed: {error}"
        last_s = time.monotonic()
        columns = [field[0] for field in cursor.description]
        wrong = queries.difference(query, columns, queries.as_text(rows), expected)
        if wrong:
            return took_s, f"Q{query.number} has {WRONG_RESULT}: {wrong}"
        took_s.append(last_s - first_s)
    return took_s, OK


def _summary(took_s: Sequence[float]) -> dict[str, float]:
    """Return the number of executions, their sum, the fastest, the slowest, the 95th percentile."""
    if not took_s:
        return {"executions": 0}
    ordered = sorted(took_s)
    return {
        "executions": len(ordered),
        "sum": sum(ordered),
        "min": ordered[0],
        "p95": ordered[max(0, -(-95 * len(ordered) // 100) - 1)],
        "max": ordered[-1],
    }


def _explain(cursor: Cursor, query: Query) -> dict[str, int]:
    cursor.execute(f"EXPLAIN FORMAT=TRADITIONAL {query.sql}")
    columns = [field[0] for field in cursor.description]
    table, extra = columns.index("table"), columns.index("Extra")
    return joins((row[table], row[extra]) for row in cursor.fetchall())


def _counted(cursor: Cursor) -> dict[str, int]:
    cursor.execute("SHOW SESSION STATUS LIKE 'Ndb\\_pushed\\_%'")
    counts = dict(cursor.fetchall())
    return {name: int(counts[variable]) for name, variable in PUSHED.items()}


if __name__ == "__main__":
    main(sys.argv[1:])
