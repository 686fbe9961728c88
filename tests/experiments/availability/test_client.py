"""Clients whose servers fail: what they record of each operation, and what they do next.

Servers are doubles that answer or fail as scripted, and hold real rows.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable

import pymysql
import pytest

from ndblab.experiments.availability import client, written_value
from ndblab.experiments.availability.client import Client, Read, Write

LOST = pymysql.OperationalError(2013, "Lost connection to MySQL server during query")
REFUSED = pymysql.OperationalError(2003, "Can't connect to MySQL server")
LOCKED = pymysql.OperationalError(1205, "Lock wait timeout exceeded")
NODE_FAILED = pymysql.OperationalError(
    1297, "Got temporary error 4010 'Node failure caused abort of transaction' from NDBCLUSTER"
)
TIMED_OUT = pymysql.InternalError(
    1297, "Got temporary error 4013 'Request timed out in waiting for node failure' from NDBCLUSTER"
)


class Database:
    """Rows that all servers share, and the scripted errors of the next statements."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, int], str] = {}
        self.script: dict[str, list[Exception]] = {}
        self.connections: list[int] = []
        self.applies_lost_commits = False

    def server(self, number: int) -> Callable[[], Connection]:
        """Give a function that connects to a server of this database."""

        def connect() -> Connection:
            self.fail("connect")
            self.connections.append(number)
            return Connection(self)

        return connect

    def fail(self, step: str) -> None:
        """Raise the next scripted error of a step."""
        if self.script.get(step):
            raise self.script[step].pop(0)


class Connection:
    """A connection with a transaction that is applied by its COMMIT only."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.pending: dict[tuple[int, int], str] = {}
        self.fetched: list[tuple[str]] = []

    def begin(self) -> None:
        self.database.fail("begin")
        self.database.rows |= self.pending  # as MySQL does: BEGIN commits what is open
        self.pending = {}

    def commit(self) -> None:
        try:
            self.database.fail("commit")
        except Exception:
            if self.database.applies_lost_commits:
                self.database.rows |= self.pending
            raise
        self.database.rows |= self.pending
        self.pending = {}

    def rollback(self) -> None:
        self.database.fail("rollback")
        self.pending = {}

    def close(self) -> None:
        self.pending = {}

    def cursor(self) -> Connection:
        return self

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def execute(self, statement: str, values: dict) -> None:
        table = statement.split()[1 if statement.startswith("UPDATE") else 2]
        self.database.fail(table)
        key = (values["client"], values["seq"])
        if statement.startswith("SELECT"):
            self.fetched = [(self.database.rows[key],)] if key in self.database.rows else []
        elif table == "first":
            if key in self.database.rows:
                raise pymysql.IntegrityError(1062, "Duplicate entry")
            self.pending[key] = values["value"]

    def fetchall(self) -> tuple:
        return tuple(self.fetched)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    """An empty database, and clients that never pause."""
    monkeypatch.setattr(client, "PAUSE_S", 0)
    return Database()


@pytest.fixture
def worker(database: Database) -> Client:
    """A client of two servers, the first one to begin with."""
    return Client(1, [database.server(1), database.server(2)], "seed")


def noted(worker: Client) -> list[tuple]:
    return [(r.kind, r.first_server, r.server, r.outcome, r.attempts, r.error) for r in worker.rows]


def test_what_was_acknowledged_is_read_back(database, worker):
    """There are reads and writes, and each read finds the value of an earlier write."""
    for seq in range(200):
        worker.operate(seq)
    kinds = [row.kind for row in worker.rows]
    assert kinds[0] == "write"
    assert 25 < kinds.count("write") < 80
    assert {row.outcome for row in worker.rows} == {"ok"}
    written = {(1, row.seq): written_value("seed", 1, row.seq)
               for row in worker.rows if row.kind == "write"}  # fmt: skip
    assert database.rows == written


def test_clients_are_dealt_over_the_servers(database):
    """The third client of two servers begins with the first."""
    servers = [database.server(1), database.server(2)]
    for number in (1, 2, 3):
        Client(number, servers, "seed").operate(0)
    assert database.connections == [1, 2, 1]


@pytest.mark.parametrize("failure", [LOST, pymysql.InterfaceError(0, ""), OSError(111, "refused")])
def test_a_lost_connection_is_retried_on_the_next_server(database, worker, failure):
    """At once; the row has the first server and the one that answered."""
    database.script["first"] = [failure]
    worker.operate(0)
    assert noted(worker) == [("write", 1, 2, "ok", 2, 2013)]
    assert database.connections == [1, 2]


def test_a_temporary_error_is_retried_on_the_same_server(database, worker):
    """A lock timeout does not drive a client to another server."""
    database.script["second"] = [LOCKED]
    worker.operate(0)
    assert noted(worker) == [("write", 1, 1, "ok", 2, 1205)]
    assert database.connections == [1]
    assert list(database.rows) == [(1, 0)]


def test_half_a_write_is_rolled_back_before_a_retry(database, worker):
    """If that fails, the connection is abandoned, since the next BEGIN would commit."""
    database.script |= {"second": [NODE_FAILED, LOST], "rollback": [LOST]}
    worker.operate(0)
    assert noted(worker) == [("write", 1, 2, "failed", 2, 2013)]
    assert database.rows == {}


def test_after_two_attempts_a_client_gives_up_and_continues(database, worker):
    """The next operation tries the next server; no failure ends the load."""
    database.script["connect"] = [REFUSED, REFUSED, REFUSED]
    worker.operate(0)
    worker.operate(1)
    assert noted(worker) == [
        ("write", 1, 2, "failed", 2, 2003),
        ("write", 1, 2, "ok", 2, 2003),
    ]


def test_a_commit_without_an_answer_leaves_a_write_unknown(database, worker):
    """It is neither called failed nor read back later."""
    database.script |= {"commit": [LOST], "connect": []}
    database.applies_lost_commits = True
    worker.servers = [database.server(1), failing(REFUSED)]
    worker.operate(0)
    assert noted(worker) == [("write", 1, 2, "unknown", 2, 2003)]
    worker.operate(1)
    assert worker.rows[1].kind == "write"


def failing(failure: Exception) -> Callable[[], Connection]:
    """Give a server that refuses connections."""

    def connect() -> Connection:
        raise failure

    return connect


def test_a_retry_that_finds_its_row_was_applied_the_first_time(database, worker):
    """The write is acknowledged, and its row exists once."""
    database.script["commit"] = [LOST]
    database.applies_lost_commits = True
    worker.operate(0)
    assert noted(worker) == [("write", 1, 2, "ok", 2, 2013)]
    assert list(database.rows) == [(1, 0)]


def test_a_retry_that_finds_no_row_writes_it(database, worker):
    """An unanswered commit that was not applied does no harm."""
    database.script["commit"] = [LOST]
    worker.operate(0)
    assert noted(worker) == [("write", 1, 2, "ok", 2, 2013)]
    assert list(database.rows) == [(1, 0)]


def test_a_duplicate_row_of_unknown_origin_is_a_failure(database, worker):
    """A duplicate without an unanswered commit is a failure, for the checker to see."""
    database.rows[1, 0] = "a stranger's"
    worker.operate(0)
    assert noted(worker) == [("write", 1, 2, "failed", 2, 1062)]


@pytest.mark.parametrize("failure", [NODE_FAILED, LOCKED, TIMED_OUT])
def test_a_commit_that_ended_with_an_error_is_unknown_whatever_it_says(database, worker, failure):
    """NDB has called a commit aborted that was applied, when a data node died."""
    database.script["commit"] = [failure, failure]
    worker.operate(0)
    assert worker.rows[0].outcome == "unknown"


@pytest.mark.parametrize("there", [None, "another value"])
def test_a_read_without_what_was_acknowledged_is_wrong(database, there):
    """It is not retried until it fits."""
    connection = Connection(database)
    assert Write(1, 0, "a value").attempt(connection) == "ok"
    assert Read(1, 0, "a value").attempt(connection) == "ok"
    database.rows = {(1, 0): there} if there else {}
    assert Read(1, 0, "a value").attempt(connection) == "wrong"


def started(*sockets: str) -> subprocess.Popen:
    argv = [
        sys.executable,
        "-m",
        client.__name__,
        "--clients=3",
        "--seed=1",
        *sockets,
    ]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_the_program_runs_without_any_server_until_it_is_stopped(tmp_path):
    """It prints when it began, and a row for every operation that it gave up."""
    import pandas as pd

    with started(f"{tmp_path}/no.1.sock", f"{tmp_path}/no.2.sock") as child:
        assert child.stdout.readline().startswith("began ")
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.5)
        child.stdin.close()
        rows = pd.read_csv(io.StringIO(child.stdout.read()), names=list(client.Row._fields))
        assert child.wait() == 0
    assert set(rows["client"]) == {1, 2, 3}
    assert set(rows["outcome"]) == {"failed"}
    assert set(rows["error"]) == {2003}
    assert (rows["attempts"] == 2).all()
    assert rows["t_s"].between(0, 30).all()
    assert (rows.groupby("client")["seq"].diff().dropna() == 1).all()


def test_the_end_of_the_lab_ends_the_load(tmp_path):
    """The kernel closes the pipe to the clients even if the lab is killed."""
    program = (
        "import os, subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-m', '{client.__name__}', '--clients=1',"
        " '--seed=1', sys.argv[1]], stdin=subprocess.PIPE)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    lab = subprocess.run(
        [sys.executable, "-c", program, f"{tmp_path}/no.sock"],
        stdout=subprocess.PIPE, timeout=30, check=False,
    )  # fmt: skip
    # The clients share this output, which ends only once both processes have ended.
    assert lab.returncode == -9
    assert lab.stdout.startswith(b"began ")
