"""Global variables of servers that are not the lab's: set for a while."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from attached_facts import facts, server
from ndblab.attach import put_back
from ndblab.error import LabError
from ndblab.machine import cleanup


class Servers:
    """Two servers of a cluster: what they are told, and the values that they have."""

    def __init__(self) -> None:
        self.values = [{"ndb_batch_size": "32768", "a": "x"}, {"ndb_batch_size": "65536"}]
        self.down: set[int] = set()
        self.endpoint = "/run/x.sock"

    @contextlib.contextmanager
    def session(self, number: int):
        if number in self.down:
            raise LabError("/run/x.sock refuses connections")
        self._at = self.values[number - 1]
        yield self

    def run(self, statement: str, *values: object) -> list[tuple]:
        if statement.startswith("SHOW"):
            return list(self._at.items())
        assert statement.startswith("SET GLOBAL ndb_batch_size = ")
        self._at["ndb_batch_size"] = str(values[0])
        return []


BEFORE = ["32768", "65536"]


def now(servers: Servers) -> list[str]:
    """What each server has."""
    return [values["ndb_batch_size"] for values in servers.values]


def held(servers: Servers, folder: Path):
    """May ndb_batch_size be set?"""
    return put_back.held(["ndb_batch_size"], servers, facts(), folder)


@pytest.mark.parametrize("ends", [None, KeyboardInterrupt, SystemExit, LabError])
def test_each_server_gets_its_own_value_back_however_it_ends(ends, tmp_path: Path) -> None:
    """Also after Ctrl-C and SIGTERM, which is SystemExit."""
    servers = Servers()
    with contextlib.suppress(ends or ValueError), held(servers, tmp_path):
        assert now(servers) == BEFORE
        for values in servers.values:
            values["ndb_batch_size"] = "1"
        if ends:
            raise ends("now")
    assert now(servers) == BEFORE
    assert put_back.restore(servers, facts(), tmp_path) == ""


def test_what_a_killed_lab_has_left_is_put_back_by_the_next(tmp_path: Path) -> None:
    """Its record outlives it; what cannot be put back now stays in it."""
    servers = Servers()
    left = held(servers, tmp_path)
    left.__enter__()
    record = cleanup.record(tmp_path)["variables"]
    assert record == {f"uuid-{n}": {"ndb_batch_size": value} for n, value in enumerate(BEFORE, 1)}
    for values in servers.values:
        values["ndb_batch_size"] = "1"
    servers.down = {2}
    said = put_back.restore(servers, facts(), tmp_path)
    assert said == "ndb_batch_size=32768 on /run/1.sock"
    servers.down = set()
    assert "ndb_batch_size=65536 on /run/2.sock" in put_back.restore(servers, facts(), tmp_path)
    assert now(servers) == BEFORE


def test_a_comparison_elsewhere_keeps_what_a_killed_lab_has_left(tmp_path: Path) -> None:
    """One on other servers, or on some of them, puts back its own values alone."""
    servers = Servers()
    left = held(servers, tmp_path)
    left.__enter__()
    servers.values[1]["ndb_batch_size"] = "1"
    with put_back.held(["ndb_batch_size"], servers, facts(servers=(server(1),)), tmp_path):
        pass
    put_back.restore(servers, facts(), tmp_path)
    assert now(servers) == BEFORE


def test_an_account_that_may_not_set_them_is_told_so_first(tmp_path: Path) -> None:
    """Nothing is set or recorded then."""
    servers = Servers()

    def refuse(statement: str, *values: object) -> list[tuple]:
        if statement.startswith("SHOW"):
            return [("ndb_batch_size", "32768")]
        raise LabError("refused", found="you need SYSTEM_VARIABLES_ADMIN")

    servers.run = refuse
    with pytest.raises(LabError, match="refuses SET GLOBAL ndb_batch_size") as caught:
        held(servers, tmp_path).__enter__()
    assert "GRANT SYSTEM_VARIABLES_ADMIN" in caught.value.next_step
    assert "variables" not in cleanup.record(tmp_path)
