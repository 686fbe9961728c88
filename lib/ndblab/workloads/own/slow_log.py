"""MySQL's slow query log: the statements of each connection in order.

Only parts of a large file are read, evenly spread.

The lines "# Time:", "# User@Host:" and "# Query_time:" head an entry (MySQL 8.0 and later); Percona
Server and MariaDB write further ones. The connection is the number after "Id:" or "Thread_id:".
A statement ends with a semicolon at the end of a line, before the next head or the end of the file.
MySQL writes "use NAME;" where the database differs from that of the statement before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ndblab.error import LabError

MOST_BYTES, PARTS = 64 << 20, 16
"""How much of a log is read at most, and in how many parts."""
LONGEST_BYTES = 4 << 20
"""A longer statement is left out: in a file of another kind, one that begins in a part may never
end, and there may not even be lines."""

_USER = re.compile(r"# User@Host: .*?(?:\bId:\s*(\d+))?\s*$")
_THREAD = re.compile(r"# Thread_id:\s*(\d+)")
_USE = re.compile(r"use (.+);\s*$", re.IGNORECASE)
_SCHEMA = re.compile(r"# (?:Thread_id:.* )?Schema: (\S*)")
_TIME = re.compile(r"# Time: +\d")
_BANNER = re.compile(r"\S*, Version: .* started with:|Tcp port: |Time +Id Command +Argument")
_SKIPPED = re.compile(r"(?:use [^;]*|SET timestamp=\d+|SET (?:last_)?insert_id=\d+[^;]*);\s*$",
                      re.IGNORECASE)  # fmt: skip
_FIRST = re.compile(r"[\s(]*([A-Za-z]+)")
_LOCKS = re.compile(r"\b(FOR\s+(UPDATE|SHARE)|LOCK\s+IN\s+SHARE\s+MODE)\b", re.IGNORECASE)
_ACTS = re.compile(
    r"\bINTO\s+(OUTFILE|DUMPFILE|@)|\b(GET_LOCK|RELEASE_LOCK|SLEEP|BENCHMARK)\s*\(", re.IGNORECASE
)
_READS, _WRITES = {"SELECT", "WITH", "TABLE", "VALUES"}, {"INSERT", "UPDATE", "DELETE", "REPLACE"}
_ENDS = {"BEGIN", "START", "COMMIT", "ROLLBACK"}
_BOUND = re.compile(r"\s*(BEGIN|COMMIT|ROLLBACK|START\s+TRANSACTION)\b", re.IGNORECASE)
_CHANGES = re.compile(r"\b(UPDATE|DELETE)\b", re.IGNORECASE)
_LITERAL = re.compile(
    r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"|\b\d+(?:\.\d+)?\b", re.DOTALL
)
_NO_WORDS = re.compile(
    rf"{_LITERAL.pattern}|`[^`]*`|/\*(?![+!]).*?\*/|--(?=\s|$)[^\n]*|#[^\n]*", re.DOTALL
)
"""Literals, quoted names and comments, whichever begins first: they may hold each other's marks."""


class Entry(NamedTuple):
    """A statement of a log, without its semicolon; `at` is the byte of the log where it begins.

    `database` is the one that it was sent in, empty if the log has not named one.
    """

    connection: int
    statement: str
    at: int
    database: str = ""


@dataclass(frozen=True)
class Sample:
    """Statements by connection, in order, and how many others were left out."""

    connections: dict[int, list[Entry]]
    left_out: int

    @property
    def statements(self) -> int:
        """How many statements there are."""
        return sum(map(len, self.connections.values()))

    @property
    def databases(self) -> tuple[str, ...]:
        """The databases that its statements were sent in, as far as the log says so."""
        every = (entry.database for entries in self.connections.values() for entry in entries)
        return tuple(filter(None, dict.fromkeys(every)))

    def kinds(self) -> dict[tuple[str, str], Entry]:
        """Return the first statement of each kind, by its database and text without literals."""
        first: dict[tuple[str, str], Entry] = {}
        for entries in self.connections.values():
            for entry in entries:
                first.setdefault((entry.database, kind(entry.statement)), entry)
        return first


def sample(
    path: Path, writes: bool = False, most_bytes: int = MOST_BYTES, in_place: bool = False
) -> Sample:
    """Read the SELECTs of a log that take no lock; with `writes`, also what locks or changes data.

    With `in_place`, statements keep the databases that they were sent in. LabError if it has no
    such statement.
    """
    size = path.stat().st_size
    parts = 1 if size <= most_bytes else PARTS
    length = min(size, most_bytes) // parts
    connections: dict[int, list[Entry]] = {}
    total = 0
    with path.open("rb") as stream:
        for part in range(parts):
            begin = part * (size // parts)
            for entry in _part(stream, begin, begin + length if parts > 1 else size):
                total += 1
                if _wanted(entry.statement, writes):
                    kept = entry if in_place else entry._replace(database="")
                    connections.setdefault(entry.connection, []).append(kept)
    sample = _in_databases(Sample(connections, 0))
    if not sample.statements:
        raise LabError(
            f"{path.name} has no statement to run",
            found=f"{total} statements, none of which is a plain SELECT" if total
            else "no entry of a slow query log",
            expected="MySQL's slow query log (slow_query_log=ON, log_output=FILE)"
            + ("" if writes else ", with SELECTs that take no lock"),
            next_step="Capture one with long_query_time=0"
            + ("." if writes or not total else ", or run what writes too, on a copy."),
        )  # fmt: skip
    return replace(sample, left_out=total - sample.statements)


def _in_databases(sample: Sample) -> Sample:
    """Return the statements whose database is known: all, if the log names at most one.

    A part of a large log names the database only when it changes.
    """
    names = sample.databases
    kept = {
        number: [
            entry._replace(database=entry.database or "".join(names))
            for entry in entries
            if entry.database or len(names) < 2
        ]
        for number, entries in sample.connections.items()
    }
    return replace(sample, connections={n: entries for n, entries in kept.items() if entries})


def _part(stream: BinaryIO, begin: int, end: int) -> Iterator[Entry]:
    """Read whole entries that begin in a part of the file."""
    stream.seek(begin)
    if begin:
        stream.readline(LONGEST_BYTES)
    yield from entries(_lines(stream), end, partial=begin > 0)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    while True:
        at = stream.tell()
        line = stream.readline(LONGEST_BYTES)
        if not line:
            return
        yield at, line.decode("utf-8", "surrogateescape")


def entries(
    lines: Iterable[tuple[int, str]], end: int | None = None, partial: bool = False
) -> Iterator[Entry]:
    """Yield the statements in lines, each line given with its place in the file.

    Parameters
    ----------
    end : stop at the first head from this place on.
    partial : the lines begin within an entry, which is skipped.
    """
    connection: int | None = None
    database = ""
    text: list[str] = []
    begin = 0
    for at, line in lines:
        if end is not None and at >= end + LONGEST_BYTES:
            return
        if line.startswith("#"):
            head = _USER.match(line) or _TIME.match(line)
            if head and text:
                yield from _ended(connection, text, begin, database)
            if head:
                text = []
                if end is not None and at >= end:
                    return
            if match := _USER.match(line):
                connection, partial = int(match[1]) if match[1] else 0, False
            if match := _THREAD.match(line):
                connection = int(match[1])
            if (match := _SCHEMA.match(line)) and not text:
                database = match[1]
            if not head and text:
                text.append(line)
        elif (match := _USE.match(line)) and not text:
            database = match[1]
        elif connection is not None and not partial and (text or _says_something(line)):
            begin = begin if text else at
            text.append(line)
    if text and text[-1].rstrip().endswith(";"):
        yield from _ended(connection, text, begin, database)


def _says_something(line: str) -> bool:
    """Return whether a line begins a client's statement, rather than one of the log's own."""
    return bool(line.strip()) and not (_SKIPPED.match(line) or _BANNER.match(line))


def _ended(connection: int | None, text: list[str], begin: int, database: str) -> Iterator[Entry]:
    whole = "".join(text).strip().removesuffix(";").strip()
    if whole and connection is not None:
        yield Entry(connection, whole, begin, database)


def kind(statement: str) -> str:
    """Return a statement without its literals.

    >>> kind("SELECT c FROM t WHERE id = 12 AND d = 'it''s'")
    'SELECT c FROM t WHERE id = ? AND d = ?'
    """
    return _LITERAL.sub("?", statement)


def reads(statement: str) -> bool:
    """Return whether a statement only reads and takes no lock, or bounds a transaction.

    >>> reads("SELECT c FROM t WHERE id = 1"), reads("SELECT c FROM t FOR UPDATE")
    (True, False)
    >>> reads("BEGIN"), reads("START REPLICA")
    (True, False)
    """
    return _wanted(statement, writes=False) or bool(_BOUND.match(statement))


def _wanted(statement: str, writes: bool) -> bool:
    plain = _NO_WORDS.sub(lambda found: " " if found[0][0] in "/-#" else "?", statement)
    first = _FIRST.match(plain)
    word = first[1].upper() if first else ""
    if _ACTS.search(plain):
        return False
    changes = _LOCKS.search(plain) or (word == "WITH" and _CHANGES.search(plain))
    if word in _READS:
        return writes or not changes
    return writes and word in (_WRITES | _ENDS)
