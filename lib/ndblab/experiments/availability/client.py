"""Clients whose every write can be verified afterwards; a program, which `load` starts.

No failure of a server ends it: it runs until its standard input ends.

sysbench does not report which of its writes were acknowledged, and 1.0.20 crashes when its server
is killed. This program prints when it began, by `time.monotonic`, which all processes of a machine
share, and prints its rows when it stops.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pymysql

from ndblab.cluster.account import Account
from ndblab.experiments.availability import FAILED, OK, READ, UNKNOWN, WRITE, WRONG, written_value

DATABASE = "ndblab_checked"
WRITES = 0.25
"""Share of writes among the operations."""
THINK_S, PAUSE_S = 0.01, 0.1
"""Pause between two operations; pause before a retry on the same server and after giving up."""
ATTEMPTS = 2
CONNECT_TIMEOUT_S, ANSWER_TIMEOUT_S = 5, 30

SERVER_LOST, DUPLICATE = 2013, 1062
TEMPORARY = (1180, 1205, 1213, 1297)
"""MySQL errors after which the same server may succeed: an error during COMMIT, a lock wait
timeout, a deadlock, a temporary error of NDB (mysqld_error.h)."""

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


def error_number(failure: Exception) -> int:
    """Return MySQL's number of an error; any other exception counts as a lost connection."""
    code = failure.args[0] if isinstance(failure, pymysql.MySQLError) and failure.args else 0
    return code if isinstance(code, int) and code > 0 else SERVER_LOST


@dataclass
class Write:
    """A transaction over three tables; `undecided` once its COMMIT ended with an error.

    The kind of error does not matter: after the death of a data node, NDB has reported an abort for
    a transaction whose rows were there afterwards.
    """

    client: int
    seq: int
    value: str
    undecided: bool = False
    kind = WRITE

    def attempt(self, connection: pymysql.Connection) -> str:
        """Write once. A duplicate after an undecided COMMIT is our own row: it was applied."""
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
                return OK
        try:
            connection.commit()
        except Exception:
            self.undecided = True
            raise
        return OK


@dataclass
class Read:
    """Read an earlier write back: its row must have the value that was acknowledged."""

    client: int
    seq: int
    value: str
    undecided = False
    kind = READ

    def attempt(self, connection: pymysql.Connection) -> str:
        """Read once."""
        with connection.cursor() as cursor:
            cursor.execute(_READ, vars(self))
            return OK if list(cursor.fetchall()) == [(self.value,)] else WRONG


@dataclass
class Client:
    """One client in a closed loop. `servers` are functions that connect, the first to server 1."""

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
        """Do one operation after another until `stop` is set."""
        for seq in itertools.count():
            self.operate(seq)
            if stop.wait(THINK_S):
                break
        self._leave()

    def operate(self, seq: int) -> None:
        """Do one operation, retry it once if it fails, and record the outcome."""
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
            outcome = UNKNOWN if work.undecided else FAILED
        elif work.kind == WRITE:
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
        """Choose the next operation; always a write until there is something to read back."""
        writes = self._random.random() < WRITES
        if writes or not self._acknowledged:
            return Write(self.number, seq, written_value(self.seed, self.number, seq))
        earlier = self._random.choice(self._acknowledged)
        return Read(self.number, earlier, written_value(self.seed, self.number, earlier))

    def _connected(self) -> pymysql.Connection:
        if self._connection is None:
            self._connection = self.servers[self._server]()
        return self._connection

    def _rolled_back(self) -> bool:
        """Roll back an attempt, which the next BEGIN would commit; say whether that worked."""
        try:
            self._connected().rollback()
        except Exception:
            return False
        return True

    def _leave(self) -> None:
        """Disconnect from this server; the next operation or attempt goes to the next one."""
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
        self._connection = None
        self._server = (self._server + 1) % len(self.servers)


def main(arguments: Sequence[str]) -> None:
    """Run the clients: print when they began, work until standard input ends, print the rows."""
    parser = argparse.ArgumentParser(prog="client")
    parser.add_argument("--clients", type=int, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--account", help="a file with the fields of cluster.account.Account")
    parser.add_argument("sockets", nargs="+", help="of servers, or HOST:PORT")
    options = parser.parse_args(arguments)
    known = Account(**json.loads(Path(options.account).read_text())) if options.account else None
    servers = [_connector(socket, known) for socket in options.sockets]
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


def _connector(socket: str, account: Account | None) -> Callable[[], pymysql.Connection]:
    """Return a function that connects by a Unix socket, or with an account by TCP/IP and TLS."""
    if account:
        address, _, port = socket.rpartition(":")
        where = account.connection(SimpleNamespace(endpoint=address, port=int(port)))
    else:
        # The TLS handshake costs more than all the rest.
        where = {"unix_socket": socket, "user": "root", "ssl_disabled": True}

    def connect() -> pymysql.Connection:
        return pymysql.connect(
            **where,
            database=DATABASE,
            autocommit=True,
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=ANSWER_TIMEOUT_S,
            write_timeout=ANSWER_TIMEOUT_S,
        )

    return connect


if __name__ == "__main__":
    main(sys.argv[1:])
