"""Clients whose every write can be checked afterwards; a program of its own, which `load` runs.

In: Unix sockets of MySQL servers, a number of clients, a seed. Out: a row for each operation: what
was asked, which server answered, how long it took and what came of it. Nothing that happens to its
servers ends it: it goes on until its standard input ends.

sysbench cannot say which of its writes were acknowledged, and 1.0.20 crashes when its server is
killed. `python -m ndblab.workloads.checked_writes.client` says when it began, by `time.monotonic`, which all processes of a
machine share; it prints its rows when it is told to stop.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pymysql

DATABASE = "ndblab_checked"
WRITES = 0.25
"""Share of writes among the operations."""
THINK_S, PAUSE_S = 0.01, 0.1
"""Between two operations of a client; before a retry on the same server, and after giving up."""
ATTEMPTS = 2
CONNECT_TIMEOUT_S, ANSWER_TIMEOUT_S = 5, 30

SERVER_LOST, DUPLICATE = 2013, 1062
TEMPORARY = (1180, 1205, 1213, 1297)
"""MySQL errors after which the same server may succeed: an error during COMMIT, a lock that was
waited for too long, a deadlock, a temporary error of NDB (mysqld_error.h)."""

_WRITE = (
    "INSERT INTO first (client, seq, value) VALUES (%(client)s, %(seq)s, %(value)s)",
    "INSERT INTO second (client, seq, value) VALUES (%(client)s, %(seq)s, %(value)s)",
    "UPDATE counters SET writes = writes + 1 WHERE client = %(client)s",
)
_READ = "SELECT value FROM first WHERE client = %(client)s AND seq = %(seq)s"


class Row(NamedTuple):
    """One operation; `t_s` is when it ended."""

    client: int
    seq: int
    kind: str
    first_server: int
    server: int
    t_s: float
    latency_ms: float
    outcome: str
    attempts: int
    error: int


def value(seed: str, client: int, seq: int) -> str:
    """Give the value that a client's write has, unlike that of any other.

    >>> value("1", 1, 0) == value("1", 1, 0) != value("1", 1, 1)
    True
    """
    return hashlib.md5(f"{seed}/{client}/{seq}".encode(), usedforsecurity=False).hexdigest()


def error_number(failure: Exception) -> int:
    """Give MySQL's number of an error; whatever else went wrong counts as a lost connection."""
    code = failure.args[0] if isinstance(failure, pymysql.MySQLError) and failure.args else 0
    return code if isinstance(code, int) and code > 0 else SERVER_LOST


@dataclass
class Write:
    """A transaction over three tables; `undecided` once a COMMIT of it ended with an error.

    Whatever the error says: when a data node died, one that NDB calls an abort was seen to be
    answered for a transaction whose rows were there afterwards.
    """

    client: int
    seq: int
    value: str
    undecided: bool = False
    kind = "write"

    def attempt(self, connection: pymysql.Connection) -> str:
        """Write once. A row that is there after an undecided COMMIT is our own: it was applied."""
        connection.begin()
        with connection.cursor() as cursor:
            try:
                for statement in _WRITE:
                    cursor.execute(statement, vars(self))
            except pymysql.IntegrityError as failure:
                if not self.undecided or error_number(failure) != DUPLICATE:
                    raise
                with contextlib.suppress(pymysql.Error):
                    connection.rollback()
                return "ok"
        try:
            connection.commit()
        except Exception:
            self.undecided = True
            raise
        return "ok"


@dataclass
class Read:
    """The row of an earlier write is read back: it must have the value that was acknowledged."""

    client: int
    seq: int
    value: str
    undecided = False
    kind = "read"

    def attempt(self, connection: pymysql.Connection) -> str:
        """Read once."""
        with connection.cursor() as cursor:
            cursor.execute(_READ, vars(self))
            return "ok" if list(cursor.fetchall()) == [(self.value,)] else "wrong"


@dataclass
class Client:
    """One client in a closed loop. `servers` are ways to connect, the first that of server 1."""

    number: int
    servers: Sequence[Callable[[], pymysql.Connection]]
    seed: str
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server = (self.number - 1) % len(self.servers)
        self._connection: pymysql.Connection | None = None
        self._random = random.Random(f"{self.seed}/{self.number}")
        self._acknowledged: list[int] = []

    def run(self, stop: threading.Event) -> None:
        """Do one operation after the other until told to stop."""
        for seq in itertools.count():
            self.operate(seq)
            if stop.wait(THINK_S):
                break
        self._leave()

    def operate(self, seq: int) -> None:
        """Do one operation, a second time if the first failed, and note what came of it."""
        work = self._next(seq)
        began, first, outcome, error = time.monotonic(), self._server, "", 0
        for attempt in range(1, ATTEMPTS + 1):
            server = self._server
            try:
                outcome = work.attempt(self._connected())
                break
            except Exception as failure:  # nothing ends the load
                error = error_number(failure)
                if attempt < ATTEMPTS and error in TEMPORARY and self._rolled_back():
                    time.sleep(PAUSE_S)
                else:
                    self._leave()
        ended = time.monotonic()
        gave_up = not outcome
        if gave_up:
            outcome = "unknown" if work.undecided else "failed"
        elif work.kind == "write":
            self._acknowledged.append(seq)
        self.rows.append(
            Row(
                self.number, seq, work.kind, first + 1, server + 1,
                ended, 1000 * (ended - began), outcome, attempt, error,
            )
        )  # fmt: skip
        if gave_up:
            time.sleep(PAUSE_S)

    def _next(self, seq: int) -> Write | Read:
        """Choose what is next; as long as there is nothing to read back, it is a write."""
        writes = self._random.random() < WRITES
        if writes or not self._acknowledged:
            return Write(self.number, seq, value(self.seed, self.number, seq))
        earlier = self._random.choice(self._acknowledged)
        return Read(self.number, earlier, value(self.seed, self.number, earlier))

    def _connected(self) -> pymysql.Connection:
        if self._connection is None:
            self._connection = self.servers[self._server]()
        return self._connection

    def _rolled_back(self) -> bool:
        """Take back what an attempt did: the next BEGIN would commit it."""
        try:
            self._connected().rollback()
        except Exception:
            return False
        return True

    def _leave(self) -> None:
        """Let go of this server; the next one is asked next."""
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
        self._connection = None
        self._server = (self._server + 1) % len(self.servers)


def main(arguments: Sequence[str]) -> None:
    """Be the load: say that it began, work until standard input ends, print the rows."""
    parser = argparse.ArgumentParser(prog="ndblab.workloads.checked_writes.client")
    parser.add_argument("--clients", type=int, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("sockets", nargs="+")
    options = parser.parse_args(arguments)
    servers = [_by(socket) for socket in options.sockets]
    clients = [Client(n, servers, options.seed) for n in range(1, options.clients + 1)]
    stop = threading.Event()
    threads = [threading.Thread(target=client.run, args=(stop,)) for client in clients]
    began = time.monotonic()
    print("began", began, flush=True)
    for thread in threads:
        thread.start()
    sys.stdin.buffer.read()
    stop.set()
    for thread in threads:
        thread.join()
    for row in (row for client in clients for row in client.rows):
        t_s, latency_ms = f"{row.t_s - began:.3f}", f"{row.latency_ms:.2f}"
        print(*row[:5], t_s, latency_ms, *row[7:], sep=",")


def _by(socket: str) -> Callable[[], pymysql.Connection]:
    """Give a way to connect by a Unix socket."""

    def connect() -> pymysql.Connection:
        return pymysql.connect(
            unix_socket=socket,
            user="root",
            database=DATABASE,
            autocommit=True,
            ssl_disabled=True,  # to get ready for it costs more than all the rest
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=ANSWER_TIMEOUT_S,
            write_timeout=ANSWER_TIMEOUT_S,
        )

    return connect


if __name__ == "__main__":
    main(sys.argv[1:])
