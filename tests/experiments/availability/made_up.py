"""Runs with a fault under load, made up for tests: clients that keep time, never a measurement."""

from __future__ import annotations

import numpy as np
import pandas as pd

import small_runs
from made_up import EVENTS, Double
from ndblab.dataset import SCHEMAS
from ndblab.experiments.availability import (
    FAILED,
    OK,
    READ,
    UNKNOWN,
    WRITE,
    WRONG,
    history,
    written_value,
)

CLIENTS, SERVERS, REPLICAS = 8, 2, (2, 3)
EVERY_S = 0.2
"""Each client ends an operation this often, the clients evenly apart."""
HISTORY = [
    "run_id", "client", "seq", "kind", "server", "first_server", "t_s", "latency_ms", "outcome",
    "attempts", "error",
]  # fmt: skip
COPIES, COUNTERS = (list(SCHEMAS[name].columns) for name in ("copies", "counters"))
DECLARED = "Node {} declared dead due to missed heartbeat"
"""How the cluster log says that a node was declared dead."""
KILLED = {
    "kill-data-node": "SIGKILL ndbmtd.2",
    "freeze-data-node": "SIGSTOP ndbmtd.2",
    "freeze-with-short-heartbeats": "SIGSTOP ndbmtd.2",
    "kill-server": "SIGKILL mysqld.2",
    "lose-arbitrator": "SIGKILL ndb_mgmd.1",
    "lose-one-of-three-arbitrators": "SIGKILL ndb_mgmd.1",
    "restart-data-node": "STOP ndbmtd.2",
    "rolling-restart": "STOP ndb_mgmd.1",
    "lose-host": "power off the host of ndbmtd.2",
}


def run(
    fault: str = "kill-data-node",
    repeat: int = 1,
    *,
    fault_s: float = 10.0,
    gap_s: float = 0.0,
    served_s: float | None = 15.0,
    ends_s: float = 20.0,
    gave_up: int = 0,
    elsewhere: int = 0,
    lost: int = 0,
    wrong_reads: int = 0,
    status: str = "ok",
    text: str | None = None,
) -> dict[str, pd.DataFrame]:
    """Make the tables of one run.

    Parameters
    ----------
    gap_s : no operation ends from the fault on for this long.
    gave_up : clients whose first operation after the gap is given up.
    elsewhere : clients of server 1 whose first operation after the gap needs its retry.
    lost : the last acknowledged writes before the fault that no replica holds.
    """
    name = f"s02_c0008_r{repeat}_checked_writes_{fault}"
    rows = []
    for client in range(CLIENTS):
        server = client % SERVERS + 1
        times = np.arange(EVERY_S, ends_s, EVERY_S) + client * EVERY_S / CLIENTS
        times = times[(times < fault_s) | (times >= fault_s + gap_s)]
        for seq, t_s in enumerate(times):
            kind = READ if seq % 4 else WRITE
            rows.append((name, client, seq, kind, server, server, t_s, 4.0, OK, 1, 0))
    table = pd.DataFrame(rows, columns=HISTORY).sort_values("t_s", ignore_index=True)
    after = table[table["t_s"] >= fault_s].drop_duplicates("client").sort_values("client")
    table.loc[after.index[:gave_up], ["outcome", "attempts", "error"]] = ["failed", 2, 1297]
    others = after.index[after["first_server"] == 1]
    table.loc[others[:elsewhere], "attempts"] = 2
    reads = table.index[(table["kind"] == READ) & (table["outcome"] == OK)]
    table.loc[reads[:wrong_reads], "outcome"] = WRONG
    copies, counters = held(table, lost=lost, fault_s=fault_s)
    marks = [(name, fault_s, 2, "fault", text or KILLED[fault])]
    if served_s is not None:
        marks.append((name, (fault_s + served_s) / 2, 2, "restart", "start ndbmtd.2"))
        marks.append((name, served_s, 2, "served", "ndbmtd.2 serves"))
    ok = table[table["outcome"] == OK]
    one = small_runs.tables(
        name, status=status, servers=SERVERS, clients=CLIENTS, repeat=repeat, variant=fault,
        workload="checked_writes", duration_s=ends_s, queries=len(ok), qps=len(ok) / ends_s,
        errors=int(table["outcome"].isin([FAILED, UNKNOWN]).sum()),
    )  # fmt: skip
    one["intervals"] = _intervals(name, ok["t_s"], ends_s)
    events = pd.DataFrame(marks, columns=EVENTS)
    return one | {"history": table, "copies": copies, "counters": counters, "events": events}


def log(part: dict[str, pd.DataFrame], *marks: tuple[float, int, str, str]) -> None:
    """Add events to those of a run: when, on which node, of which kind, in which words."""
    name = part["runs"]["run_id"].iloc[0]
    more = pd.DataFrame([(name, *mark) for mark in marks], columns=EVENTS)
    part["events"] = pd.concat([part["events"], more], ignore_index=True)


def _intervals(name: str, ended_s: pd.Series, until_s: float) -> pd.DataFrame:
    """Count the operations that ended, second by second."""
    counted = np.histogram(ended_s, bins=np.arange(0.0, until_s + 1))[0]
    return pd.DataFrame(
        {
            "run_id": name, "t_s": np.arange(1.0, until_s + 1), "clients": CLIENTS,
            "qps": counted.astype(float), "latency_p95_ms": 4.0, "errors_per_s": 0.0,
            "reconnects_per_s": 0.0,
        }
    )  # fmt: skip


def held(
    table: pd.DataFrame, lost: int = 0, fault_s: float = float("inf")
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the copies and counters on a cluster that kept its promises."""
    writes = table[(table["kind"] == WRITE) & (table["outcome"] == OK)]
    before = writes[writes["t_s"] < fault_s]
    kept = writes.drop(index=before.sort_values("t_s").index[len(before) - lost :])
    values = [
        written_value(1, client, seq)
        for client, seq in kept[history.OPERATION].itertuples(index=False)
    ]
    copies = [
        kept[["run_id", "client", "seq"]].assign(
            replica=replica, first_value=values, second_value=values
        )
        for replica in REPLICAS
    ]
    numbers = kept.groupby("client").size().reindex(sorted(table["client"].unique()), fill_value=0)
    counters = pd.DataFrame(
        [
            (table["run_id"].iloc[0], replica, client, number)
            for replica in REPLICAS
            for client, number in numbers.items()
        ],
        columns=COUNTERS,
    )
    return pd.concat(copies, ignore_index=True)[COPIES], counters


def dataset(*parts: dict[str, pd.DataFrame]) -> Double:
    """Give a dataset of these runs, as a check and an answer get it."""
    tables = small_runs.together(*parts)
    return Double(
        **{name: tables[name] for name in ("runs", "intervals", "processes", "ndb_threads")},
        **{name: tables[name] for name in ("events", "history", "copies", "counters")},
        budget="shared",
        manifest={"plan": {"data_nodes": [{"node_id": node} for node in REPLICAS]}},
    )


def partitioned(
    fault: str,
    repeat: int,
    *dead_s: float,
    ended: tuple[int, ...] = (2,),
    won: int | None = None,
    **what: object,
) -> dict[str, pd.DataFrame]:
    """Give a run in which data nodes were declared dead and these had ended when it was healed.

    Parameters
    ----------
    dead_s : when data node 2 was declared dead, then data node 1; 30 s if nothing is given.
    won : the data node that won the arbitration; the first that had not ended.
    """
    part = run(fault, repeat, text="cut ndbmtd.1 from ndbmtd.2", ends_s=60.0, **what)
    part["events"] = part["events"][part["events"]["event"] != "restart"]
    marks = [
        (t_s, watcher, "warning", DECLARED.format(dead))
        for t_s, (watcher, dead) in zip(dead_s or (30.0,), ((2, 3), (3, 2)), strict=False)
    ]
    going = [number for number in (1, 2) if number not in ended]
    for number in [won] if won else going[:1]:
        text = "Arbitration won - positive reply from node 1"
        marks.append((31.0, 1 + number, "warning", text))
    for number in (1, 2):
        text = f"start ndbmtd.{number}" if number in ended else f"ndbmtd.{number} still runs"
        marks.append((50.0, 1 + number, "restart", text))
    log(part, *marks)
    return part
