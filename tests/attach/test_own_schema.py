"""Whose a schema is, and what is removed of it: decided by what the servers answer."""

from __future__ import annotations

import contextlib
import re

import pytest

from ndblab.attach import own_schema
from ndblab.attach.target import grants
from ndblab.error import LabError

NAME = "ndblab_11_0123456789abcdef"


class Servers:
    """The schemas of a cluster as a server of it answers for them; what it is sent is noted."""

    endpoint = "/run/1.sock"

    def __init__(self, **schemas: list[str]) -> None:
        self.schemas, self.sent = schemas, []
        self.locked: set[str] = set()

    def run(self, statement: str, *values: object) -> list[tuple]:
        if statement.startswith("SHOW DATABASES LIKE"):
            wanted = re.search(r"'(.*)'", statement)
            known = [name for name in self.schemas if not wanted or name == wanted[1]]
            return [(name,) for name in known if name.startswith("ndblab")]
        if "information_schema" in statement:
            return [(table,) for table in self.schemas[values[0]]]
        if "IS_USED_LOCK" in statement:
            return [(77 if values[0] in self.locked else None,)]
        self.sent.append(statement)
        if made := re.match(r"CREATE DATABASE `(\w+)`", statement):
            self.schemas[made[1]] = []
        if table := re.match(r"DROP TABLE `(\w+)`.`(\w+)`", statement):
            self.schemas[table[1]].remove(table[2])
        if dropped := re.match(r"DROP DATABASE `(\w+)`", statement):
            assert self.schemas.pop(dropped[1]) == []
        return []


@pytest.mark.parametrize(
    "name", ["ndblab", "ndblab_11", "ndblab_11_mine", f"{NAME}0", NAME.upper(), "ndblabs"]
)
def test_a_schema_of_another_name_is_never_touched(name: str) -> None:
    """Whatever it holds."""
    servers = Servers(**{name: ["sbtest1"]})
    assert own_schema.remove_left({11: servers}) == ""
    assert servers.sent == []


def test_every_lab_has_a_name_of_its_own() -> None:
    """Two that measure through the same server do not meet."""
    one, two = own_schema.new_name(11), own_schema.new_name(11)
    assert one != two
    servers = Servers(**{one: [], two: []})
    assert own_schema.remove_left({11: servers}).count("the schema ndblab_11_") == 2


def test_what_a_dead_lab_left_is_removed_and_named() -> None:
    """Nobody holds its lock on the server that it was made through."""
    servers = Servers(**{NAME: ["sbtest1", "sbtest2"], "theirs": ["sbtest1"]})
    assert own_schema.remove_left({11: servers}) == f"the schema {NAME} with 2 tables"
    assert servers.schemas == {"theirs": ["sbtest1"]}


def test_a_lab_that_is_alive_keeps_its_schema() -> None:
    """The message names who holds its lock."""
    servers = Servers(**{NAME: ["sbtest1"]})
    servers.locked = {NAME}
    with pytest.raises(LabError, match="Another lab") as caught:
        own_schema.remove_left({11: servers})
    assert "connection 77 of /run/1.sock" in str(caught.value)
    assert servers.sent == []


def test_a_lab_on_other_servers_may_be_alive() -> None:
    """Nothing is removed; the message names the server that would tell."""
    servers = Servers(**{NAME: ["sbtest1"]})
    with pytest.raises(LabError, match="may be alive") as caught:
        own_schema.remove_left({12: servers})
    assert "node 11" in str(caught.value)
    assert servers.sent == []


def test_what_somebody_else_put_into_the_schema_stays() -> None:
    """The lab's own tables are removed, the schema is not."""
    servers = Servers(**{NAME: ["sbtest1", "theirs"]})
    with pytest.raises(LabError, match="did not make") as caught:
        own_schema.remove_left({11: servers})
    assert "theirs" in str(caught.value)
    assert servers.schemas == {NAME: ["theirs"]}


def test_the_schema_is_removed_however_the_block_ends() -> None:
    """Its lock is held before it exists."""
    servers = Servers()
    with (
        contextlib.suppress(KeyboardInterrupt),
        own_schema.held(NAME, {11: servers}, lambda: contextlib.nullcontext(servers)),
    ):
        assert servers.schemas == {NAME: []}
        servers.schemas[NAME] = ["sbtest1"]
        raise KeyboardInterrupt
    assert servers.schemas == {}
    lock = next(n for n, sent in enumerate(servers.sent) if "GET_LOCK" in sent)
    assert lock < servers.sent.index(f"CREATE DATABASE `{NAME}`")


def test_an_endpoint_of_another_cluster_is_found_out() -> None:
    """It does not see the schema, which is removed again."""
    servers, others = Servers(), Servers()
    with (
        pytest.raises(LabError, match="does not see"),
        own_schema.held(NAME, {11: servers, 12: others}, lambda: contextlib.nullcontext(servers)),
    ):
        pass
    assert servers.schemas == others.schemas == {}


def test_the_line_that_gives_rights_names_the_account() -> None:
    line = grants("bench@10.%")
    assert line.startswith(r"GRANT ALL ON `ndblab\_%`.* TO 'bench'@'10.%'; GRANT SELECT ON `ndbi")
