"""Fill the tables of TPC-H in NDB and in InnoDB, and ask InnoDB for all results; a program.

The rows are those of `tpchgen-cli`, a Python package of this project: its program is beside
Python's own, or one on PATH.

The last line that it prints is an error that a user can read, or the number of rows.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pymysql
from pymysql.cursors import Cursor

from ndblab.error import LabError
from ndblab.experiments.tpc_h import ANSWERS, DATABASE, REFERENCE, queries
from ndblab.experiments.tpc_h import database as tables
from ndblab.machine.local import LOCAL
from ndblab.workloads.session import connected

PROGRAM = "tpchgen-cli"
GENERATE_TIMEOUT_S = 3600
_LOAD = """LOAD DATA LOCAL INFILE %s INTO TABLE {0}
 FIELDS TERMINATED BY '|' LINES TERMINATED BY '|\\n'"""


def main(arguments: Sequence[str]) -> None:
    """Generate, load, count, and ask for the results."""
    parser = argparse.ArgumentParser(prog="loading")
    parser.add_argument("--scale", type=float, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--table-options", default="")
    parser.add_argument("socket")
    options = parser.parse_args(arguments)
    try:
        print(_fill(options.scale, options.folder, options.table_options, options.socket))
    except (LabError, pymysql.Error, OSError) as error:
        detail = f": {error.found}" if isinstance(error, LabError) and error.found else ""
        sys.exit(f"{getattr(error, 'what', error)}{detail}")


def _fill(scale: float, folder: Path, table_options: str, socket: str) -> int:
    rows = folder / "rows"
    shutil.rmtree(rows, ignore_errors=True)
    rows.mkdir(parents=True)
    generate(rows, scale)
    counts = {name: _lines(rows / f"{name}.tbl") for name in tables.ROWS_AT_1}
    if strange := [text for n, c in counts.items() if (text := tables.wrong_count(n, c, scale))]:
        raise LabError(f"{PROGRAM} generated too few or too many rows",
                       found=str(counts), expected=", ".join(strange))  # fmt: skip
    with connected(socket, local_infile=True) as cursor, _accepting_files(cursor):
        for database, engine, more in (
            (DATABASE, "ndbcluster", table_options),
            (REFERENCE, "innodb", ""),
        ):
            cursor.execute(f"CREATE DATABASE {database} CHARACTER SET latin1 COLLATE latin1_bin")
            cursor.execute(f"USE {database}")
            for statement in tables.statements(engine, more):
                cursor.execute(statement)
            for name, wanted in counts.items():
                _load(cursor, database, name, rows / f"{name}.tbl", wanted)
            # Without index statistics the plans would be guesses.
            cursor.execute(f"ANALYZE TABLE {', '.join(counts)}")
        (folder / ANSWERS).write_text(json.dumps(_ask(cursor, scale)))
    shutil.rmtree(rows)
    return sum(counts.values())


def _load(cursor: Cursor, database: str, name: str, file: Path, wanted: int) -> None:
    cursor.execute(_LOAD.format(name), (str(file),))
    # LOCAL turns errors of single rows into warnings.
    warnings = cursor.connection.show_warnings()
    cursor.execute(f"SELECT COUNT(*) FROM {name}")
    [(there,)] = cursor.fetchall()
    if warnings or there != wanted:
        first = f"; {warnings[0][2]}" if warnings else ""
        raise LabError(f"Table {database}.{name} was not loaded as it is",
                       found=f"{there} of {wanted} rows{first}")  # fmt: skip


def _ask(cursor: Cursor, scale: float) -> dict[str, object]:
    """Return the results of all queries in the current database, with the time they took."""
    answers = {}
    for number in queries.NUMBERS:
        began_s = time.monotonic()
        cursor.execute(queries.read(number, scale).sql)
        rows = queries.as_text(cursor.fetchall())
        answers[str(number)] = {"rows": rows, "ms": round(1000 * (time.monotonic() - began_s), 2)}
    return {"scale": scale, "answers": answers}


@contextlib.contextmanager
def _accepting_files(cursor: Cursor) -> Iterator[None]:
    """Let the server accept files from its clients, which it does not by default."""
    cursor.execute("SET GLOBAL local_infile = 1")
    try:
        yield
    finally:
        cursor.execute("SET GLOBAL local_infile = 0")


def _lines(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in stream)


def program() -> Path:
    """Return the path of the generator; LabError if there is none."""
    beside = Path(sys.executable).with_name(PROGRAM)
    path = beside if beside.exists() else shutil.which(PROGRAM)
    if path is None:
        raise LabError(
            f"{PROGRAM}, which generates the data of TPC-H, is not installed",
            found=f"none in {beside.parent}, none on PATH",
            expected=f"the Python package {PROGRAM}",
            next_step="Run ./lab again, which completes its environment; elsewhere install it "
            f"with pip install {PROGRAM}.",
        )
    return Path(path)


def version() -> str:
    """Return the version of the generator; LabError if there is none."""
    text = LOCAL.run([str(program()), "--version"], what=f"{PROGRAM} does not tell its version")
    return text.split()[1]


def generate(folder: Path, scale: float) -> None:
    """Write the file of each table, `lineitem.tbl` and so on; LabError if that fails.

    No two rows of a file have the same key.
    """
    argv = [str(program()), "--scale-factor", str(scale), "--output-dir", str(folder)]
    LOCAL.run(argv, what="The data of TPC-H could not be generated", timeout_s=GENERATE_TIMEOUT_S)
    _keep_once(folder / f"{tables.REPEATED}.tbl")


def _keep_once(file: Path) -> None:
    """Keep the first row of each key, which is the first two columns."""
    rows = file.read_text().splitlines(keepends=True)
    once: dict[tuple[str, ...], str] = {}
    for row in rows:
        once.setdefault(tuple(row.split("|", 2)[:2]), row)
    if len(once) < len(rows):
        file.write_text("".join(once.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
