"""The tables of checked writes: made anew before a load, and read from each data node after it.

In: a cluster at rest. Out: the tables `copies` and `counters`: what each replica holds.
It judges nothing, and gives nothing that another data node had a part in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.error import LabError
from ndblab.workloads.checked_writes import client

if TYPE_CHECKING:
    from ndblab.cluster.lifecycle import Cluster
    from ndblab.planning.deployment import Node

_ROWS = """CREATE TABLE {0}.{1} ({2} INT, {3} INT, value CHAR(32) CHARACTER SET latin1 NOT NULL,
 PRIMARY KEY ({2}, {3})) ENGINE=NDB COMMENT='NDB_TABLE=READ_BACKUP=1'"""
_COUNTERS = """CREATE TABLE {0}.counters (client INT PRIMARY KEY, writes INT NOT NULL)
 ENGINE=NDB COMMENT='NDB_TABLE=READ_BACKUP=1'"""
_ROWS_READ = "SHOW SESSION STATUS LIKE 'Ndb_api%read_row_count_session'"
_READ_ROWS = """SELECT node_id, SUM(tot_key_reads + tot_scan_rows_returned)
 FROM ndbinfo.operations_per_fragment WHERE fq_name LIKE '{0}/def/%' GROUP BY node_id"""


def prepare(cluster: Cluster, clients: int) -> None:
    """Make the tables anew, empty, with a counter at 0 for each client.

    The key of the second has its columns the other way round: NDB hashes them in their order, so
    that the two rows of a write lie apart.
    """
    name = client.DATABASE
    counters = ", ".join(f"({number}, 0)" for number in range(1, clients + 1))
    for statement in (
        f"DROP DATABASE IF EXISTS {name}",
        f"CREATE DATABASE {name}",
        _ROWS.format(name, "first", "client", "seq"),
        _ROWS.format(name, "second", "seq", "client"),
        _COUNTERS.format(name),
        f"INSERT INTO {name}.counters VALUES {counters}",
    ):
        cluster.query(statement)


def take(cluster: Cluster) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read every row from every data node: the tables `copies` and `counters`.

    Raises
    ------
    LabError
        If a data node did not answer for itself.
    """
    taken = [_of(cluster, node) for node in cluster.plan.data_nodes]
    copies, counters = (pd.concat(tables, ignore_index=True) for tables in zip(*taken, strict=True))
    # A row beside its other replica: equal values next to one another compress to nothing.
    copies = copies.sort_values(["client", "seq", "replica"], ignore_index=True)
    return copies, counters


def _of(cluster: Cluster, node: Node) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read what one data node holds.

    A MySQL server gives its transactions to its nearest data node, and one that holds a replica
    answers a committed read from it (manual, "ndb_data_node_neighbour" and "READ_BACKUP"). That it
    did is looked up: the server counts the rows that came from the coordinator's own node (manual,
    "NDB API Statistics Counters and Variables"), and of the rows that each data node counts, which
    are those not read by query threads, none may be another's.
    """
    before = _rows_read(cluster)
    with _nearest(cluster, node):
        tables, afar = _read(cluster)
    others = {n: rows - before.get(n, 0) for n, rows in _rows_read(cluster).items()}
    others.pop(node.node_id, None)
    if afar or any(others.values()):
        raise LabError(
            f"Data node {node.node_id} did not answer for itself",
            found=f"{afar} rows not of the coordinator's node, {sum(others.values())} of others",
            expected="0 rows and 0",
            next_step="Use a version of NDB Cluster that reads from the nearest replica (8.0).",
        )
    first, second, counters = tables
    copies = first.merge(second, on=["client", "seq"], how="outer")
    copies.insert(0, "replica", node.node_id)
    counters.insert(0, "replica", node.node_id)
    return copies, counters


def _read(cluster: Cluster) -> tuple[list[pd.DataFrame], int]:
    """Read all rows, and tell how many came from another node than where their coordinator is.

    The server counts the rows that it read for its own ends (statistics) as well.
    """
    tables = []
    with contextlib.closing(cluster.connect()) as connection:
        cursor = connection.cursor()
        for table, column in (("first", "value"), ("second", "value"), ("counters", "writes")):
            keys = ["client"] if table == "counters" else ["client", "seq"]
            cursor.execute(f"SELECT {', '.join([*keys, column])} FROM {client.DATABASE}.{table}")
            name = column if table == "counters" else f"{table}_value"
            tables.append(pd.DataFrame(list(cursor.fetchall()), columns=[*keys, name]))
        cursor.execute(_ROWS_READ)
        near, read = sorted(int(count) for _, count in cursor.fetchall())
    rows = sum(len(table) for table in tables)
    return tables, max(rows, read) - near


@contextlib.contextmanager
def _nearest(cluster: Cluster, node: Node) -> Iterator[None]:
    """Make a data node the first server's nearest for the length of a `with` block."""
    cluster.query(f"SET GLOBAL ndb_data_node_neighbour = {node.node_id}")
    try:
        yield
    finally:
        cluster.query("SET GLOBAL ndb_data_node_neighbour = 0")


def _rows_read(cluster: Cluster) -> dict[int, int]:
    """Rows of the tables that each data node has given out so far, by node id."""
    rows = cluster.query(_READ_ROWS.format(client.DATABASE))
    return {int(node): int(count) for node, count in rows}
