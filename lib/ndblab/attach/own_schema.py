"""The one schema that the lab has on a cluster that is not its own.

In: SQL sessions on the endpoints of such a cluster. Out: a schema with the lab's mark for the
length of a `with` block, and none afterwards. It never writes into a schema without that mark, and
removes none whose lab may be alive.

The mark is a table whose comment holds a random token and the MySQL server that made it, with a row
from each endpoint that repeats the token. A lab that is alive holds a user-level lock (GET_LOCK) on
each of its endpoints: whoever can take the lock of a server that a mark names knows that the lab
behind it has died.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pymysql

from ndblab.error import LabError

SCHEMA, OWNER, LOCK = "ndblab", "ndblab_owner", "ndblab"
_OURS = re.compile(r"sbtest\d+")
"""Tables that sysbench makes."""
_COMMENT = "scale-up lab, token {token}, made by node {node}"
_MARK = re.compile(r"scale-up lab, token ([0-9a-f]{32}), made by node (\d+)")
_NO_RIGHT = (1044, 1142, 1143, 1227, 1370)
_EXISTS = 1007
_LONGEST_WAIT_S = 31_536_000
"""The most that MySQL allows for wait_timeout: sessions that hold a lock are idle for hours."""

_MAKING = f"CREATE DATABASE `{SCHEMA}`"
_TABLE = (
    f"CREATE TABLE `{SCHEMA}`.`{OWNER}` (node_id INT PRIMARY KEY, token CHAR(32) NOT NULL,"
    " host VARCHAR(255) NOT NULL, pid INT NOT NULL, started_utc VARCHAR(32) NOT NULL)"
    " ENGINE = NDBCLUSTER COMMENT = "
)
_ROW = f"INSERT INTO `{SCHEMA}`.`{OWNER}` VALUES (%s, %s, %s, %s, %s)"
_REMOVING = f"DROP DATABASE `{SCHEMA}`"
Run = Callable[..., list[tuple]]
"""Run one statement and return its rows."""


@dataclass(frozen=True)
class Session:
    """A session on the server of an endpoint: its name, its node id, and what runs a statement."""

    endpoint: str
    node_id: int
    run: Run


@dataclass(frozen=True)
class State:
    """What there is of the schema. Without a `token` it has no mark, or one that does not hold."""

    exists: bool = False
    token: str = ""
    nodes: frozenset[int] = frozenset()
    maker: str = ""
    tables: tuple[str, ...] = ()

    @property
    def ours(self) -> tuple[str, ...]:
        """The tables that a lab made, but for the mark."""
        return tuple(name for name in self.tables if _OURS.fullmatch(name))

    @property
    def others(self) -> tuple[str, ...]:
        """Everything in it that a lab did not make."""
        return tuple(name for name in self.tables if name != OWNER and name not in self.ours)


def look(run: Run) -> State:
    """Look at the schema, and whose it is."""
    if not run("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = %s", SCHEMA):
        return State()
    comments = dict(
        run(
            "SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES"
            " WHERE TABLE_SCHEMA = %s ORDER BY TABLE_NAME",
            SCHEMA,
        )
    )
    for kind in ("ROUTINE", "EVENT"):
        rows = run(
            f"SELECT {kind}_NAME FROM information_schema.{kind}S WHERE {kind}_SCHEMA = %s", SCHEMA
        )
        comments |= {f"{kind.lower()} {name}": "" for (name,) in rows}
    tables = tuple(comments)
    mark = _MARK.fullmatch(comments.get(OWNER, ""))
    if mark is None:
        return State(True, tables=tables)
    rows = run(f"SELECT node_id, token, host, pid, started_utc FROM `{SCHEMA}`.`{OWNER}`")
    if any(token != mark[1] for _, token, *_ in rows):
        return State(True, tables=tables)
    maker = ""
    if rows:
        _, _, host, pid, started_utc = rows[0]
        maker = f"process {pid} on {host}, begun {started_utc}"
    nodes = frozenset({int(mark[2]), *(int(row[0]) for row in rows)})
    return State(True, mark[1], nodes, maker, tables)


@contextlib.contextmanager
def held(
    sessions: Sequence[Session],
    fresh: Callable[[], contextlib.AbstractContextManager[Run]],
    record: Mapping[str, object],
    remember: Callable[[Mapping[str, object]], None],
    cluster: str,
) -> Iterator[str]:
    """Have the schema for the length of a `with` block, and remove it however the block is left.

    Parameters
    ----------
    fresh : opens a new session, at the end: those of the beginning may be broken by then.
    record, remember : what the last lab of this folder left in writing, and what writes it anew.
    cluster : what identifies the cluster in that record.

    Yields
    ------
    What was removed before, in words; empty if nothing was.

    Raises
    ------
    LabError
        If another lab measures this cluster, the schema is somebody else's, or rights lack.
    """
    lock(sessions)
    removed = clear(sessions, record, cluster)
    token = secrets.token_hex(16)
    remember({"attached": cluster, "token": token})
    try:
        _make(sessions[0])
    except LabError:
        # Nothing was made: what may be there now is somebody else's.
        remember({})
        raise
    try:
        _mark(sessions, token)
        yield removed
    finally:
        with _undisturbed():
            try:
                with fresh() as run:
                    state = look(run)
                    if not state.exists or state.token == token or _unmarked(state):
                        _remove(run, state)
                        remember({})
            except (pymysql.Error, LabError) as error:
                print(
                    f"The schema {SCHEMA} is left on the attached cluster ({error}). The next "
                    "--attach removes it, and so does ./lab cluster.detach.",
                    file=sys.stderr,
                )


def clear(sessions: Sequence[Session], record: Mapping[str, object], cluster: str) -> str:
    """Remove what a lab that has died has left; return what that was, empty if nothing.

    The caller holds the locks of its endpoints.

    Raises
    ------
    LabError
        If the schema is somebody else's, or of a lab that may be alive.
    """
    with _rights(sessions[0]):
        return _cleared(sessions, record, cluster)


def _cleared(sessions: Sequence[Session], record: Mapping[str, object], cluster: str) -> str:
    run = sessions[0].run
    state = look(run)
    if not state.exists:
        return ""
    began_here = record.get("attached") == cluster and _unmarked(state)
    if not state.token and not began_here:
        raise _foreign(state)
    mine = {session.node_id for session in sessions}
    if state.token and not state.nodes & mine:
        nodes = ", ".join(map(str, sorted(state.nodes)))
        raise LabError(
            f"The schema {SCHEMA} is that of another lab, which may be alive",
            found=f"{state.maker or 'a lab'}, through the MySQL servers of nodes {nodes}",
            expected="a lab at a time on a cluster",
            next_step="Wait for it; or name one of these servers in --endpoints too: that shows "
            "whether it has died.",
        )
    _remove(run, state)
    return f"the schema {SCHEMA} with {len(state.ours)} tables, of {state.maker or 'a killed lab'}"


def described() -> tuple[list[str], list[str]]:
    """Return what `held` sends at the beginning and at the end, for people to read."""
    comment = _COMMENT.format(token="...", node="...")
    begin = [
        f"SELECT GET_LOCK('{LOCK}', 0)",
        _MAKING,
        f"{_TABLE}'{comment}'",
        _ROW % ("node_id", "'...'", f"'{socket.gethostname()}'", "pid", "now"),
    ]
    return begin, [f"DROP TABLE IF EXISTS `{SCHEMA}`.`sbtest1`", _REMOVING]


def lock(sessions: Sequence[Session]) -> None:
    """Hold the lab's lock on every endpoint; LabError if another lab does on one."""
    for session in sessions:
        session.run(f"SET SESSION wait_timeout = {_LONGEST_WAIT_S}")
        if session.run("SELECT GET_LOCK(%s, 0)", LOCK) != [(1,)]:
            holder = session.run("SELECT IS_USED_LOCK(%s)", LOCK)[0][0]
            raise LabError(
                "Another lab measures this cluster",
                found=f"connection {holder} of {session.endpoint} holds the lock {LOCK}",
                expected="a lab at a time on a cluster",
                next_step="Wait for it, or end it.",
            )


def grants(account: str) -> str:
    """Return the line that gives an account what the lab needs.

    Parameters
    ----------
    account : as CURRENT_USER() has it.
    """
    user, _, host = account.rpartition("@")
    named = f"'{user}'@'{host}'"
    return (
        f"GRANT ALL ON `{SCHEMA}`.* TO {named}; GRANT SELECT ON `ndbinfo`.* TO {named}; on each of "
        "the MySQL servers"
    )


def lacks_right(error: pymysql.Error) -> bool:
    """Whether a statement failed for lack of a right."""
    return bool(error.args) and error.args[0] in _NO_RIGHT


def without_right(endpoint: str, account: str, error: pymysql.Error) -> LabError:
    """Return the error that says which rights lack, and the line that gives them."""
    return LabError(
        f"The account {account} lacks rights on {endpoint}",
        found=error.args[-1],
        expected=f"all rights on the schema {SCHEMA}, and SELECT on ndbinfo",
        next_step=f"Let an administrator type: {grants(account)}.",
    )


def _make(session: Session) -> None:
    with _rights(session):
        try:
            session.run(_MAKING)
        except pymysql.Error as error:
            if error.args[0] != _EXISTS:
                raise
            raise _foreign(look(session.run)) from None


def _mark(sessions: Sequence[Session], token: str) -> None:
    started_utc = datetime.now(UTC).isoformat(timespec="seconds")
    row = (token, socket.gethostname(), os.getpid(), started_utc)
    first = sessions[0]
    with _rights(first):
        comment = _COMMENT.format(token=token, node=first.node_id)
        first.run(f"{_TABLE}'{comment}'")
    for session in sessions:
        with _rights(session):
            session.run(_ROW, session.node_id, *row)
    for session in sessions:
        seen = session.run(f"SELECT COUNT(*) FROM `{SCHEMA}`.`{OWNER}`")[0][0]
        if seen != len(sessions):
            raise LabError(
                f"{session.endpoint} does not see what the other endpoints write",
                found=f"{seen} rows in {SCHEMA}.{OWNER}",
                expected=f"{len(sessions)}, one from each endpoint of the same cluster",
                next_step="Correct --endpoints.",
            )


@contextlib.contextmanager
def _rights(session: Session) -> Iterator[None]:
    try:
        yield
    except pymysql.Error as error:
        if not lacks_right(error):
            raise LabError(
                f"{session.endpoint} refuses the lab's own schema",
                found=error.args[-1],
                expected=f"a schema {SCHEMA} with an NDB table",
                next_step="Look at the server's error log, or ask its administrator.",
            ) from None
        account = session.run("SELECT CURRENT_USER()")[0][0]
        raise without_right(session.endpoint, account, error) from None


def _remove(run: Run, state: State) -> None:
    """Remove the tables of a lab, and the schema if it has nothing else."""
    if not state.exists:
        return
    for name in state.ours:
        run(f"DROP TABLE IF EXISTS `{SCHEMA}`.`{name}`")
    if state.others:
        run(f"DROP TABLE IF EXISTS `{SCHEMA}`.`{OWNER}`")
        raise LabError(
            f"The schema {SCHEMA} has something that the lab did not make",
            found=", ".join(state.others[:5]),
            expected="the lab's own tables, which are removed",
            next_step="Move it to another schema, and drop this one.",
        )
    run(_REMOVING)


def _unmarked(state: State) -> bool:
    """Whether it is as a lab leaves it that was killed while it made or removed it."""
    return state.exists and not state.tables


def _foreign(state: State) -> LabError:
    names = ", ".join(state.tables[:5]) + (" ..." if len(state.tables) > 5 else "")
    return LabError(
        f"The schema {SCHEMA} exists on the attached cluster and is not the lab's",
        found=f"{len(state.tables)} tables ({names}), without a lab's mark"
        if state.tables
        else "an empty schema, without a lab's mark",
        expected="no schema of that name, or one that a lab has left",
        next_step="Rename or remove it if nobody needs it. The lab has not touched it.",
    )


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no Ctrl-C and no SIGTERM interrupt the removal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
