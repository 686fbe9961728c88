"""The tables of checked writes: created before a load, and read from each data node after it.

It judges nothing, and accepts no row that another data node contributed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd
import pymysql

from ndblab.error import LabError
from ndblab.experiments.availability import client

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.planning.deployment import Node

_ROWS = """CREATE TABLE {0}.{1} ({2} INT, {3} INT, value CHAR(32) CHARACTER SET latin1 NOT NULL,
 PRIMARY KEY ({2}, {3})) ENGINE=NDB COMMENT='NDB_TABLE=READ_BACKUP=1'"""
_COUNTERS = """CREATE TABLE {0}.counters (client INT PRIMARY KEY, writes INT NOT NULL)
 ENGINE=NDB COMMENT='NDB_TABLE=READ_BACKUP=1'"""
SCHEMA_CHANGE_S = 150
"""A change of the schema waits up to 120 s for other MySQL servers (ndb_schema_dist_timeout), of
which one may have just been started again."""
_ROWS_READ = "SHOW SESSION STATUS LIKE 'Ndb_api%read_row_count_session'"
_READ_ROWS = """SELECT node_id, SUM(tot_key_reads + tot_scan_rows_returned)
 FROM ndbinfo.operations_per_fragment WHERE fq_name LIKE '{0}/def/%' GROUP BY node_id"""


def create(cluster: Cluster, clients: int) -> None:
    """Recreate the tables, empty, with a counter at 0 for each client.

    The key of the second table has its columns in reverse order: NDB hashes them in order, so that
    the two rows of a write are in different partitions. LabError if a MySQL server refuses,
    or does not answer in time.
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
        try:
            cluster.query(statement, answer_s=SCHEMA_CHANGE_S)
        except pymysql.Error as error:
            raise LabError(
                "The tables of the checked writes could not be created",
                found=f"{' '.join(statement.split()[:2])}: {error}",
                expected="an answer from the first MySQL server",
                next_step="Look at its error log in the cluster's folder.",
            ) from error


def read(cluster: Cluster) -> dict[str, pd.DataFrame]:
    """Read every row from every data node: the tables `copies` and `counters`.

    LabError if another node answered for a data node, or a MySQL server did not answer.
    """
    try:
        replicas = [_read_replica(cluster, node) for node in cluster.plan.data_nodes]
    except pymysql.Error as error:
        raise LabError(
            "The writes could not be read back",
            found=str(error),
            expected="rows from every data node",
            next_step="Look at the error logs in the cluster's folder.",
        ) from error
    copies, counters = (pd.concat(t, ignore_index=True) for t in zip(*replicas, strict=True))
    # Each row is next to its other replica, since equal neighbours compress best.
    copies = copies.sort_values(["client", "seq", "replica"], ignore_index=True)
    return {"copies": copies, "counters": counters}


def _read_replica(cluster: Cluster, node: Node) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read what one data node holds.

    A MySQL server sends its transactions to its nearest data node, which answers a committed read
    from its own replica (manual, "ndb_data_node_neighbour" and "READ_BACKUP"). Two counters verify
    this: the server's count of rows from the coordinator's own node (manual, "NDB API Statistics
    Counters and Variables"), and each data node's count of rows read, which covers all but those
    of query threads and must not grow on another node.
    """
    before = _rows_read(cluster)
    with _nearest(cluster, node):
        tables, afar = _select(cluster)
    others = {n: rows - before.get(n, 0) for n, rows in _rows_read(cluster).items()}
    others.pop(node.node_id, None)
    if afar or any(others.values()):
        raise LabError(
            f"Another node answered reads meant for data node {node.node_id}",
            found=f"{afar} rows from outside the coordinator's node, {sum(others.values())} read "
            "by other data nodes",
            expected="0 of either",
            next_step="Use a version of NDB Cluster that reads from the nearest replica (8.0).",
        )
    first, second, counters = tables
    copies = first.merge(second, on=["client", "seq"], how="outer")
    copies.insert(0, "replica", node.node_id)
    counters.insert(0, "replica", node.node_id)
    return copies, counters


def _select(cluster: Cluster) -> tuple[list[pd.DataFrame], int]:
    """Read all rows, and count those that came from another node than their coordinator's.

    The server also counts rows that it read for its own statistics.
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
    """Make a data node the nearest of the first server for the length of a `with` block."""
    cluster.query(f"SET GLOBAL ndb_data_node_neighbour = {node.node_id}")
    try:
        yield
    finally:
        cluster.query("SET GLOBAL ndb_data_node_neighbour = 0")


def _rows_read(cluster: Cluster) -> dict[int, int]:
    """Return how many rows of the tables each data node has read so far, by node id."""
    rows = cluster.query(_READ_ROWS.format(client.DATABASE))
    return {int(node): int(count) for node, count in rows}
