"""Variables of running servers, on a cluster that only answers."""

from __future__ import annotations

from types import SimpleNamespace

import pymysql
import pytest

from ndblab.cluster import variables
from ndblab.error import LabError


class Answering:
    """Two MySQL servers that keep what they are told, but no more than 50000."""

    def __init__(self) -> None:
        self.plan = SimpleNamespace(
            servers=[SimpleNamespace(number=n, name=f"mysqld.{n}") for n in (1, 2)]
        )
        self.values = {n: {"ndb_batch_size": 32768, "sort_order": "ASC"} for n in (1, 2)}

    def connect(self, number: int) -> SimpleNamespace:
        def execute(statement: str, values: tuple) -> None:
            name = statement.split()[2]
            if name not in self.values[number]:
                raise pymysql.err.OperationalError(1193, f"Unknown system variable '{name}'")
            [value] = values
            self.values[number][name] = min(value, 50_000) if isinstance(value, int) else value

        cursor = SimpleNamespace(execute=execute)
        return SimpleNamespace(cursor=lambda: cursor, close=lambda: None)

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        assert sql == "SHOW GLOBAL VARIABLES"
        return [(name, str(value)) for name, value in self.values[server].items()]


def test_a_variable_is_set_on_every_server_and_read_back() -> None:
    """Numbers as numbers, which text would not be; what they show is returned."""
    cluster = Answering()
    seen = variables.set_global(cluster, {"ndb_batch_size": "512", "sort_order": "DESC"})
    assert seen == {"ndb_batch_size": "512", "sort_order": "DESC"}
    assert [values["ndb_batch_size"] for values in cluster.values.values()] == [512, 512]


def test_a_value_that_a_server_changes_is_no_setting() -> None:
    """It says which server, what was asked and what is shown."""
    with pytest.raises(LabError, match=r"mysqld\.1 does not show the setting") as caught:
        variables.set_global(Answering(), {"ndb_batch_size": 65536})
    assert (caught.value.found, caught.value.expected) == (
        "ndb_batch_size=50000", "ndb_batch_size=65536",
    )  # fmt: skip


def test_a_refusal_is_told_in_the_server_s_words() -> None:
    """Such as for a variable that it does not have."""
    with pytest.raises(LabError, match="refuses SET GLOBAL") as caught:
        variables.set_global(Answering(), {"no_such": 1})
    assert "Unknown system variable" in str(caught.value.found)


def test_names_are_found_as_they_are_asked_for() -> None:
    """With "-" too; one that is not there is missing."""
    assert variables.shown(Answering(), ["ndb-batch-size", "no_such"]) == {
        "ndb-batch-size": "32768"
    }
    with pytest.raises(LabError, match="does not show"):
        variables.check("mysqld.1", {"no_such": 1}, {})
