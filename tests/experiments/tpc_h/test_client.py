"""What the client reads from a plan, and from the server's answers."""

from __future__ import annotations

from ndblab.experiments.tpc_h import client

EXPLAINED = [
    ("region", "Parent of 3 pushed join@1; Using where with pushed condition"),
    ("nation", "Child of 'region' in pushed join@1; Using where"),
    ("customer", "Child of 'nation' in pushed join@1"),
    ("<derived2>", None),
    ("orders", "Parent of 2 pushed join@2"),
    ("lineitem", "Child of 'orders' in pushed join@2"),
    ("part", "Using where with pushed condition"),
    (None, "no matching row in const table"),
]


def test_pushed_joins_are_counted_with_their_tables() -> None:
    """Temporary tables are not read from NDB, and rows without a table are not read at all."""
    assert client.joins(EXPLAINED) == {"tables": 6, "joins": 2, "joined": 5}
    assert client.joins([("lineitem", "Using where")]) == {"tables": 1, "joins": 0, "joined": 0}


def test_times_are_summed_up() -> None:
    """A client that never finished the query has no times."""
    found = client._summary([0.3, 0.1, 0.2])
    assert found["executions"] == 3
    assert (found["min"], found["p95"], found["max"]) == (0.1, 0.3, 0.3)
    assert client._summary([]) == {"executions": 0}
