"""Checks on what clients feel when a part of the cluster fails or is restarted under load.

In: a claim and the evidence of one dataset. Out: a finding. They never read a claim's budgets.
All runs of a fault are judged, and the worst decides: a service is no better on average. A fault
that the sources do not speak of is shown beside and never decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ndblab.analysis import outage
from ndblab.analysis.formatting import count, significant
from ndblab.claims.checks.registry import check
from ndblab.claims.evidence import Evidence
from ndblab.claims.publication import Claim
from ndblab.claims.verdict import INCONCLUSIVE, REPRODUCED, Comparison, Finding, decide
from ndblab.error import MissingData

KILL_DATA_NODE, FREEZE_DATA_NODE = "kill-data-node", "freeze-data-node"
KILL_SERVER, LOSE_ARBITRATOR = "kill-server", "lose-arbitrator"
RESTART_DATA_NODE, ROLLING_RESTART = "restart-data-node", "rolling-restart"
# One run may have been lucky.
LEAST_RUNS = 2
# NDB keeps every row on both data nodes of a node group.
REPLICAS = 2


@check("A-node-loss")
def node_loss(claim: Claim, evidence: Evidence) -> Finding:
    """Count the clients that give up when a data node is killed."""
    beside = (FREEZE_DATA_NODE, LOSE_ARBITRATOR)
    return _unfelt(claim, evidence, KILL_DATA_NODE, "a data node was killed", beside)


@check("A-online")
def online(claim: Claim, evidence: Evidence) -> Finding:
    """Count the clients that give up while all nodes are restarted one after the other."""
    subject = "all nodes were restarted one after the other"
    return _unfelt(claim, evidence, ROLLING_RESTART, subject, (RESTART_DATA_NODE,))


@check("A-separate")
def separate(claim: Claim, evidence: Evidence) -> Finding:
    """Count the queries that fail on the other servers when one of them is killed."""
    runs = _runs(evidence, KILL_SERVER)
    history, events = evidence.dataset.history, evidence.dataset.events
    failed, ended = [], []
    for run in runs.itertuples():
        own = events[events["run_id"].astype(str) == run.run_id]
        killed = outage.struck(own, "mysqld")
        if killed is None:
            raise MissingData(f"which mysqld was killed in {run.run_id}")
        operations = history[history["run_id"].astype(str) == run.run_id]
        failed.append(outage.failed_elsewhere(operations, killed, run.fault_s))
        # What the lab does after the load is no matter of the clients.
        ended.append(_data_nodes_ended(own[own["t_s"] <= operations["t_s"].max()]))
    told = f"when a mysqld was killed, {_queries(max(failed))} failed on the other and "
    told += f"{count(max(ended), 'data node')} ended"
    return _finding(claim, evidence, runs, max(failed), told, (), max(ended))


def _unfelt(
    claim: Claim, evidence: Evidence, fault: str, subject: str, beside: Sequence[str]
) -> Finding:
    runs = _runs(evidence, fault)
    gave_up = int(runs["gave_up_clients"].max())
    told = f"when {subject}, {gave_up} of {count(int(runs['clients'].max()), 'client')} had to "
    told += "give up after one retry"
    return _finding(claim, evidence, runs, gave_up, told, beside)


def _finding(
    claim: Claim,
    evidence: Evidence,
    runs: pd.DataFrame,
    value: int,
    told: str,
    beside: Sequence[str],
    others: int = 0,
) -> Finding:
    """Decide by a count, by what the checker of writes found, and by what else went wrong."""
    wrong = int(runs["wrong"].max()) + others
    # Every operation was seen, so that a count has no spread of its own.
    tests = [Comparison("", number, number, number) for number in (value, wrong)]
    missing = "" if len(runs) >= LEAST_RUNS else "a second run was"
    if runs["replicas"].min() < REPLICAS:
        missing = "what every replica holds was"
    finding = decide(claim, "", tests, missing=missing)
    shown = [_shown(evidence, fault) for fault in beside]
    parts = [
        f"{told}, the most of {count(len(runs), 'run')}",
        f"nothing succeeded for {_gap(runs)} at most "
        f"({significant(runs['gap_before_s'].max())} s before the fault)",
        f"the worst of the writes: {runs.loc[runs['wrong'].idxmax(), 'writes']}",
        *(part for part in shown if part),
    ]
    finding = replace(
        finding, told="; ".join(parts), measured=float(value), low=float(value), high=float(value)
    )
    unfinished = _unfinished(evidence, str(runs["fault"].iloc[0]))
    if unfinished and finding.verdict == REPRODUCED:
        return replace(finding, verdict=INCONCLUSIVE, why=unfinished)
    return finding


def _outages(evidence: Evidence, fault: str) -> pd.DataFrame:
    found = outage.of_dataset(evidence.dataset)
    return found[found["fault"] == fault]


def _measured(evidence: Evidence, fault: str) -> pd.DataFrame:
    """Give the runs of a fault, ended well or not; older datasets know no faults."""
    runs = evidence.dataset.runs
    return runs[runs["variant"].astype(str) == fault] if "variant" in runs else runs.iloc[:0]


def _runs(evidence: Evidence, fault: str) -> pd.DataFrame:
    found = _outages(evidence, fault)
    if found.empty:
        raise MissingData(f"no run of {fault}")
    return found


def _unfinished(evidence: Evidence, fault: str) -> str:
    """Say which runs of a fault did not end as they should; empty if all did."""
    statuses = _measured(evidence, fault)["status"].astype(str)
    failed = statuses[statuses != "ok"]
    if failed.empty:
        return ""
    return f"{len(failed)} of {count(len(statuses), 'run')} did not end well: {failed.iloc[0]}"


def _shown(evidence: Evidence, fault: str) -> str:
    """Tell of a fault that is not judged; empty if it was not measured."""
    runs = _outages(evidence, fault)
    if runs.empty:
        return ""
    told = f"not judged: {fault.replace('-', ' ')}, {int(runs['gave_up_clients'].max())} gave up, "
    told += f"nothing succeeded for {_gap(runs)} at most"
    lost = int(runs["lost"].max())
    return told + (f", {count(lost, 'acknowledged write')} lost" if lost else "")


def _gap(runs: pd.DataFrame) -> str:
    return f"{significant(runs['longest_gap_s'].max())} s"


def _data_nodes_ended(events: pd.DataFrame) -> int:
    """Count the data nodes that ended by the cluster log; a mysqld's end has other words."""
    texts = events.loc[events["event"].astype(str) == "node_failed", ["node_id", "text"]]
    ended = texts["text"].astype(str).str.contains("shutdown", case=False)
    return int(texts.loc[ended, "node_id"].nunique())


def _queries(number: int) -> str:
    return f"{number} {'query' if number == 1 else 'queries'}"
