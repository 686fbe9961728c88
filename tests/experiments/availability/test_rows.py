"""What each data node holds, read from a double that counts who answered."""

from __future__ import annotations

from types import SimpleNamespace

import pymysql
import pytest

from ndblab.error import LabError
from ndblab.experiments.availability import rows as tables


class Replicas:
    """A cluster that answers; `asked` is the data node that really gave out the rows of another.

    Its servers count `afar` rows too few as those of their coordinator's own node.
    """

    def __init__(self, asked: dict[int, int], afar: int = 0) -> None:
        self.asked, self.afar, self.read = asked, afar, {2: 5, 3: 9}
        data_nodes = [SimpleNamespace(node_id=2), SimpleNamespace(node_id=3)]
        self.plan = SimpleNamespace(data_nodes=data_nodes)
        self.nearest, self.near, self.rows = 0, 0, []

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        if "operations_per_fragment" in sql:
            return list(self.read.items())
        self.nearest = int(sql.split()[-1])
        return []

    def connect(self, server: int = 1) -> Replicas:
        self.near = 4 - self.afar  # some rows the server reads for itself
        return self

    def cursor(self) -> Replicas:
        return self

    def close(self) -> None:
        pass

    def execute(self, sql: str) -> None:
        if "read_row_count" in sql:
            self.rows = [("own", str(self.near)), ("all", str(self.near + self.afar))]
            return
        self.rows = {
            "first": [(1, 0, "a"), (1, 4, "b")],
            "second": [(1, 4, "b")] if self.nearest == 3 else [(1, 4, "b"), (1, 0, "a")],
            "counters": [(1, 2)],
        }[sql.rpartition(".")[2]]
        self.near += len(self.rows)
        self.read[self.asked[self.nearest]] += 1  # NDB counts some of the rows only

    def fetchall(self) -> list[tuple]:
        return self.rows


def test_each_row_of_each_data_node_is_read():
    """A row that one table of one replica lacks is there with an empty value."""
    copies, counters = tables.read(Replicas({2: 2, 3: 3})).values()
    assert [(r, s) for r, s in zip(copies.replica, copies.seq, strict=True)] == [
        (2, 0), (3, 0), (2, 4), (3, 4),
    ]  # fmt: skip
    assert list(copies["first_value"]) == ["a", "a", "b", "b"]
    assert list(copies["second_value"].isna()) == [False, True, False, False]
    assert list(counters["replica"]) == [2, 3]


def test_rows_that_another_data_node_gave_out_are_refused():
    """Equal replicas prove nothing if one of them was read twice."""
    with pytest.raises(LabError, match="meant for data node 3"):
        tables.read(Replicas({2: 2, 3: 2}))
    with pytest.raises(LabError, match="meant for data node 2"):
        tables.read(Replicas({2: 2, 3: 3}, afar=1))


def test_a_server_that_does_not_answer_is_an_error_of_the_lab():
    """It is a result of a run with a fault, and no traceback."""

    class Dead(Replicas):
        def query(self, sql: str, server: int = 1, answer_s: float = 30) -> list[tuple]:
            raise pymysql.OperationalError(2013, f"Lost connection after {answer_s} s")

    with pytest.raises(LabError, match="could not be read back"):
        tables.read(Dead({2: 2, 3: 3}))
    with pytest.raises(LabError, match="could not be created") as caught:
        tables.create(Dead({2: 2, 3: 3}), 8)
    assert "DROP DATABASE: " in caught.value.found
    assert "after 150 s" in caught.value.found
