"""Whose a schema is, and what is removed of it: decided by what the servers answer."""

from __future__ import annotations

import contextlib
import re

import pymysql
import pytest

from ndblab.attach import own_schema
from ndblab.attach.own_schema import OWNER, SCHEMA, Session
from ndblab.error import LabError

TOKEN = "0123456789abcdef" * 2
COMMENT = f"scale-up lab, token {TOKEN}, made by node 11"


class Servers:
    """A schema as the servers of a cluster answer for it; statements are noted."""

    def __init__(self, tables: dict[str, str] | None = None, token: str = TOKEN) -> None:
        self.tables, self.token = tables, token
        self.written: list[str] = []
        self.locked = False

    def run(self, statement: str, *values: object) -> list[tuple]:
        if "SCHEMATA" in statement:
            return [] if self.tables is None else [(1,)]
        if "information_schema.TABLES" in statement:
            return list((self.tables or {}).items())
        if "GET_LOCK" in statement:
            return [(0 if self.locked else 1,)]
        if "IS_USED_LOCK" in statement:
            return [(77,)]
        if statement.startswith("SELECT node_id, token"):
            return [(11, self.token, "other-host", 42, "2026-01-01T00:00:00+00:00")]
        if not statement.startswith(("SELECT", "SET SESSION")):
            self.written.append(statement)
        if statement.startswith("CREATE DATABASE"):
            self.tables = {}
        if table := re.match(r"DROP TABLE IF EXISTS `\w+`.`(\w+)`", statement):
            self.tables.pop(table[1])
        if statement.startswith("DROP DATABASE"):
            self.tables = None
        return [(1,)] if "COUNT(*)" in statement else []


def sessions(servers: Servers, node_id: int = 11) -> list[Session]:
    return [Session("/run/1.sock", node_id, servers.run)]


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {"sbtest1": ""},
        {"sbtest1": "", OWNER: ""},
        {"sbtest1": "", OWNER: COMMENT.replace("lab", "laboratory")},
    ],
)
def test_a_schema_without_the_mark_is_never_touched(tables: dict[str, str]) -> None:
    """Its name says nothing, nor does the name of a table in it."""
    servers = Servers(tables)
    with pytest.raises(LabError, match="is not the lab's"):
        own_schema.clear(sessions(servers), {}, "here")
    assert servers.written == []


def test_a_mark_that_its_rows_contradict_is_none() -> None:
    """A copy of the table's definition does not have the token."""
    servers = Servers({OWNER: COMMENT}, token="f" * 32)
    with pytest.raises(LabError, match="is not the lab's"):
        own_schema.clear(sessions(servers), {}, "here")
    assert servers.written == []


def test_what_a_dead_lab_left_is_removed_and_named() -> None:
    """We hold the lock of the server that it used, so it is dead."""
    servers = Servers({"sbtest1": "", "sbtest2": "", OWNER: COMMENT})
    said = own_schema.clear(sessions(servers), {}, "here")
    assert said.startswith("the schema ndblab with 2 tables, of process 42 on other-host")
    assert servers.tables is None


def test_a_lab_on_other_servers_may_be_alive() -> None:
    """Nothing is removed; the message names the server that would tell."""
    servers = Servers({"sbtest1": "", OWNER: COMMENT})
    with pytest.raises(LabError, match="may be alive") as caught:
        own_schema.clear(sessions(servers, node_id=12), {}, "here")
    assert "nodes 11" in str(caught.value)
    assert servers.written == []


def test_an_empty_schema_is_removed_only_if_this_lab_was_killed_making_it() -> None:
    """That stands in the record of its folder, for this cluster."""
    for record in ({}, {"attached": "elsewhere"}):
        with pytest.raises(LabError, match="empty schema"):
            own_schema.clear(sessions(Servers({})), record, "here")
    servers = Servers({})
    own_schema.clear(sessions(servers), {"attached": "here"}, "here")
    assert servers.written == [f"DROP DATABASE `{SCHEMA}`"]


def test_what_somebody_else_put_into_the_schema_stays() -> None:
    """The lab's own tables are removed, the schema is not."""
    servers = Servers({"sbtest1": "", "theirs": "", OWNER: COMMENT})
    with pytest.raises(LabError, match="did not make") as caught:
        own_schema.clear(sessions(servers), {}, "here")
    assert "theirs" in str(caught.value)
    assert servers.tables == {"theirs": ""}


def test_a_second_lab_is_refused_before_it_looks() -> None:
    """A living lab holds a lock on its servers."""
    servers = Servers()
    servers.locked = True
    with (
        pytest.raises(LabError, match="Another lab") as caught,
        own_schema.held(sessions(servers), None, {}, print, "here"),
    ):
        pass
    assert "connection 77" in str(caught.value)
    assert servers.written == []


def test_a_schema_that_somebody_makes_meanwhile_is_not_removed() -> None:
    """Between our look and our CREATE DATABASE."""
    servers, notes = Servers(), []
    answer = servers.run

    def run(statement: str, *values: object) -> list[tuple]:
        if statement.startswith("CREATE DATABASE"):
            servers.tables = {}
            raise pymysql.ProgrammingError(1007, "database exists")
        return answer(statement, *values)

    with (
        pytest.raises(LabError, match="is not the lab's"),
        own_schema.held([Session("/x", 11, run)], None, {}, notes.append, "here"),
    ):
        pass
    assert servers.tables == {}
    assert notes[-1] == {}


def test_the_schema_is_removed_however_the_block_ends() -> None:
    """What must be known after a kill is on record before the schema exists."""
    servers, notes = Servers(), []

    @contextlib.contextmanager
    def fresh():
        servers.tables |= {OWNER: COMMENT.replace(TOKEN, notes[0]["token"])}
        servers.token = notes[0]["token"]
        yield servers.run

    def remember(known) -> None:
        notes.append(dict(known))
        assert notes[0] == known or servers.tables is None

    with (
        pytest.raises(KeyboardInterrupt),
        own_schema.held(sessions(servers), fresh, {}, remember, "here"),
    ):
        raise KeyboardInterrupt
    assert servers.tables is None
    assert [note.get("attached") for note in notes] == ["here", None]


def test_the_line_that_gives_rights_names_the_account() -> None:
    line = own_schema.grants("bench@10.%")
    assert line.startswith("GRANT ALL ON `ndblab`.* TO 'bench'@'10.%'; GRANT SELECT ON `ndbinfo`.*")
