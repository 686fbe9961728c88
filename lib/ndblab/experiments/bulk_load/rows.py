"""Write the rows that bulk loads load, as `sysbench prepare` makes them; a program.

The same seed gives the same rows. It imports next to nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

SUMS = "sums.json"
SUFFIX = ".txt"
SUM_SQL = r"SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS('\t', id, k, c, pad))), 0) FROM {0}"
"""Number of rows of a table, and the sum of their checksums; `write` returns a file's sum."""
GROUPS_C, GROUPS_PAD, DIGITS = 10, 5, 11
"""Groups of digits in the columns c and pad, and digits in a group, as in sysbench 1.0."""


def file(folder: Path, table: str) -> Path:
    """Return the file of a table's rows; its name tells ndb_import the table."""
    return folder / f"{table}{SUFFIX}"


def lines(size: int, seed: str) -> Iterator[str]:
    """Return the rows of a table, without the ends of their lines."""
    rng, groups = random.Random(seed), GROUPS_C + GROUPS_PAD
    for number in range(1, size + 1):
        digits = f"{rng.randrange(10 ** (groups * DIGITS)):0{groups * DIGITS}d}"
        parts = [digits[at : at + DIGITS] for at in range(0, groups * DIGITS, DIGITS)]
        c, pad = "-".join(parts[:GROUPS_C]), "-".join(parts[GROUPS_C:])
        yield f"{number}\t{rng.randint(1, size)}\t{c}\t{pad}"


def write(path: Path, size: int, seed: str) -> int:
    """Write the rows of a table to its file, and return the sum of their checksums."""
    total = 0
    with path.open("w") as stream:
        for line in lines(size, seed):
            total += zlib.crc32(line.encode())
            stream.write(f"{line}\n")
    return total


def main(arguments: Sequence[str]) -> None:
    """Write all files."""
    parser = argparse.ArgumentParser(prog="rows")
    parser.add_argument("--table-size", type=int, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("tables", nargs="+")
    options = parser.parse_args(arguments)
    try:
        sums = {
            table: write(file(options.folder, table), options.table_size, f"{options.seed} {table}")
            for table in options.tables
        }
        (options.folder / SUMS).write_text(json.dumps(sums))
    except OSError as error:
        sys.exit(f"{error.filename or options.folder}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
