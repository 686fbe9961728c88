"""Locking reads: what the program prints becomes a table; and all of it on a real server."""

from __future__ import annotations

from itertools import product

import pytest

from ndblab.design import catalogue
from ndblab.experiments.locking_reads import HELD, ISOLATIONS, RUNNING, client
from ndblab.experiments.locking_reads import load as generator
from ndblab.workloads import registry
from ndblab.workloads.action import Ended


def printed(statements: list[str]) -> str:
    rows = [
        client.Row(*about, "k_1", "RECORD", "S", "GRANTED", 200)
        for about in product(statements, ISOLATIONS, (RUNNING, HELD))
    ]
    return "\n".join(",".join(map(str, row)) for row in [client.Row._fields, *rows])


def test_what_is_printed_becomes_the_table_of_locks():
    """One row for each kind of lock."""
    ended = generator._checked(Ended("ok", 0.0, 1.0, printed(list(client.STATEMENTS))))
    assert ended.status == "ok"
    assert set(ended.tables["locks"]["statement"]) == set(client.STATEMENTS)


def test_locks_that_were_not_read_make_a_failed_run():
    """A statement that is missing is not taken for one without locks."""
    ended = generator._checked(Ended("ok", 0.0, 1.0, printed(list(client.STATEMENTS)[1:])))
    assert ended.status == "locks were read 36 times, not 42"


def test_a_statement_without_locks_has_a_row_with_none():
    """So that none can be told from not read."""
    [row] = client._rows("SELECT ...", ISOLATIONS[0], RUNNING, [])
    assert (row.lock_type, row.locks) == ("", 0)


@pytest.mark.slow
@pytest.mark.cluster
def test_the_locks_of_a_real_server(measure):
    """A plain SELECT takes none but in SERIALIZABLE; FOR SHARE takes one a row, at least."""
    experiment = catalogue.find("locking-reads")
    assert registry.find(experiment.workload) is generator
    data = measure(experiment)
    assert list(data.runs["status"]) == ["ok"]
    rows = experiment.size("smoke").table_size
    records = data.locks[data.locks["lock_type"] == "RECORD"]
    counts = records.groupby(["statement", "isolation", "moment"])["locks"].sum()
    assert ("SELECT ...", "REPEATABLE READ", RUNNING) not in counts
    assert counts["SELECT ...", "SERIALIZABLE", HELD] >= rows
    assert counts["SELECT ... FOR SHARE", "READ COMMITTED", RUNNING] == rows
