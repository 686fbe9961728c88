"""Where reads are answered: counters of MySQL servers and data nodes, before a load and after it.

It only reads.

NDB counts a row as local if it comes from the data node that coordinates the transaction, wherever
that is (`Ndb_api_trans_local_read_row_count`; NDB API's Ndbif.cpp compares the sender of the row
with the transaction's node). How near the data are to the server is another question: rows go
straight from the data node that reads them to the server, so the bytes that each data node sends to
it answer that (ndbinfo.transporters). They include whatever else a data node sends, a few messages
a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import pymysql

from ndblab.error import LabError
from ndblab.workloads.load_generator import OK

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.workloads.load_generator import Job

ROWS, LOCAL_ROWS = "Ndb_api_read_row_count", "Ndb_api_trans_local_read_row_count"
_STATUS = f"SHOW GLOBAL STATUS WHERE Variable_name IN ('{ROWS}', '{LOCAL_ROWS}')"
_SENT = "SELECT node_id, remote_node_id, bytes_sent FROM ndbinfo.transporters"


@dataclass(frozen=True)
class Counters:
    """Counters at one moment: rows by number of the server, bytes by data node and receiver."""

    rows: Mapping[int, tuple[int, int]]
    sent_bytes: Mapping[tuple[int, int], int]


def read(cluster: Cluster, job: Job) -> Counters:
    """Read the counters of a job's servers; LabError if a node has ended or does not answer."""
    rows: dict[int, tuple[int, int]] = {}
    sent_bytes: dict[tuple[int, int], int] = {}
    try:
        for node in job.servers:
            known = {name: int(value) for name, value in cluster.query(_STATUS, node.number)}
            rows[node.number] = known[ROWS], known[LOCAL_ROWS]
        for sender, receiver, number in cluster.query(_SENT, server=len(cluster.plan.servers)):
            pair = int(sender), int(receiver)
            sent_bytes[pair] = sent_bytes.get(pair, 0) + int(number)
    except pymysql.Error as error:
        cluster.check_alive()
        raise LabError(
            "The counters of reads could not be read",
            found=str(error),
            next_step="Look at the error logs in the cluster's folder.",
        ) from error
    return Counters(rows, sent_bytes)


def tables(before: Counters, cluster: Cluster, job: Job) -> dict[str, pd.DataFrame]:
    """Return the table `reads` since the counters `before`, by name."""
    after = read(cluster, job)
    reads = []
    for node in job.servers:
        rows, local = (
            last - first
            for last, first in zip(after.rows[node.number], before.rows[node.number], strict=True)
        )
        received = {
            data_node.node_id: sum(
                after.sent_bytes.get(pair, 0) - before.sent_bytes.get(pair, 0)
                for pair in ((data_node.node_id, number) for number in node.node_ids)
            )
            for data_node in cluster.plan.data_nodes
        }
        near = sum(received[data_node.node_id] for data_node in cluster.plan.near(node))
        reads.append((node.node_id, rows, local, sum(received.values()), near))
    columns = ["node_id", "rows", "local_rows", "received_bytes", "near_bytes"]
    return {"reads": pd.DataFrame(reads, columns=columns)}


def status(counted: Mapping[str, pd.DataFrame], queries: float | None) -> str:
    """Return "ok", or why the counters contradict the queries that the load reports."""
    if "reads" not in counted or not queries:
        return OK
    table = counted["reads"]
    if (table.drop(columns="node_id") < 0).any(axis=None):
        return "a counter of reads ran backwards: a node was restarted during the run"
    if not (table["rows"].sum() and table["received_bytes"].sum()):
        return f"the counters tell of no row that was read, the load of {queries:.0f} queries"
    return OK
