"""Checks on what clients experience when a node, a host or the network fails under load.

All runs of a fault are judged, and the worst decides, since an average hides outages. Faults that
the sources do not mention are shown and never decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ndblab.dataset.schema import FAULT, HEALED, OK, RESTART
from ndblab.error import MissingData
from ndblab.experiments.availability import analysis as outage
from ndblab.experiments.availability.words import (
    FROZEN,
    LOST_ARBITRATOR,
    LOST_HOST,
    OTHERS_ARBITRATE,
    PARTITIONS,
    SILENT,
)
from ndblab.formatting import count, significant
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import (
    CONTRADICTED,
    INCONCLUSIVE,
    REPRODUCED,
    Comparison,
    Finding,
    decide,
)
from ndblab.statistics.estimate import Estimate

KILL_SERVER = "kill-server"
_NOTICED = {
    "A-node-loss": (
        "kill-data-node", "a data node was killed", (FROZEN, LOST_ARBITRATOR, OTHERS_ARBITRATE),
    ),
    "A-online": (
        "rolling-restart", "all nodes were restarted one after the other", ("restart-data-node",),
    ),
}  # fmt: skip
"""By claim: the fault that decides, in words, and the faults that are only shown."""
# A single run may have been lucky.
LEAST_RUNS = 2
# NDB keeps every row on both data nodes of a node group.
REPLICAS = 2
# HeartbeatIntervalDbDb, unless CPU quotas make a data node slow.
HEARTBEAT_S = 5.0
LONGEST_GAP_S = 10.0
"""Clients notice a longer wait, whether or not they give up; A-host-loss has the same bound."""
DATED = 0.05
"""Uncertainty of the time of a declaration, in intervals: a link is cut up to 0.14 s after its
mark, and the cluster log has intervals of 5.01 s."""


@check(*_NOTICED)
def gave_up(claim: Claim, evidence: Evidence) -> Finding:
    """Count the clients that gave up or waited too long; further faults are only shown.

    During a gap without a success, all clients wait.
    """
    fault, subject, also = _NOTICED[claim.id]
    runs = _runs(evidence, fault)
    waited = runs["clients"].where(runs["longest_gap_s"] > LONGEST_GAP_S, 0)
    noticed = int(runs["gave_up_clients"].combine(waited, max).max())
    some = f"at most {noticed}" if noticed else "none"
    text = f"when {subject}, {some} of {count(int(runs['clients'].max()), 'client')} "
    text += f"gave up after one retry, or waited through a gap of more than {LONGEST_GAP_S:g} s"
    return _finding(claim, evidence, runs, noticed, text, also)


@check("A-host-loss")
def host_loss(claim: Claim, evidence: Evidence) -> Finding:
    """Measure how long no query succeeds after the host of a data node lost its power.

    A client that gives up notices, however short the gap.
    """
    runs = _runs(evidence, LOST_HOST)
    gave_up, clients = int(runs["gave_up_clients"].max()), int(runs["clients"].max())
    some = f"at most {gave_up}" if gave_up else "none"
    text = f"when a data node's host lost its power, service stopped for {_gap(runs)} at most, and "
    text += f"{some} of {count(clients, 'client')} gave up after one retry"
    return _finding(claim, evidence, runs, float(runs["longest_gap_s"].max()), text, (), gave_up)


@check("A-heartbeat")
def heartbeat(claim: Claim, evidence: Evidence) -> Finding:
    """Measure how long it takes to declare a silent data node dead.

    Every declaration counts, even the later of two, since the first is quicker by chance. Its time
    is counted from the last cut, with an uncertainty of `DATED` either way.
    """
    runs = _outages(evidence, *SILENT)
    if runs.empty:
        raise MissingData("no run in which a data node is not heard of")
    took = []
    for run in runs.itertuples():
        own = _events(evidence, run.run_id)
        kind = own["event"].astype(str)
        cut_s = own.loc[kind == FAULT, "t_s"].max()
        until_s = own.loc[kind.isin([HEALED, RESTART]), "t_s"].min()
        there = own[(own["t_s"] >= cut_s) & ~(own["t_s"] > until_s)]
        dead = outage.declared_dead(there, outage.data_nodes(evidence.dataset))
        if dead.empty:
            raise MissingData(f"no data node was declared dead in {run.run_id}")
        took += [(t_s - cut_s, run.fault) for t_s in dead["t_s"]]
    longest_s, fault = max(took)
    missing = "" if len(runs) >= LEAST_RUNS else "a second run"
    intervals = longest_s / HEARTBEAT_S
    dated = Estimate(intervals, intervals - DATED, intervals + DATED)
    finding = decide(claim, "", [Comparison("", dated)], missing=missing)
    text = f"declared dead {significant(min(took)[0])} to {significant(longest_s)} s after the lab "
    text += f"began to cut it off (latest: {fault.replace('-', ' ')}); "
    text += f"{count(len(took), 'declaration')} in {count(len(runs), 'run')}; "
    text += f"intervals of {HEARTBEAT_S:g} s, dated to {DATED * HEARTBEAT_S:g} s"
    if finding.verdict == INCONCLUSIVE and not missing:
        text += "; more runs cannot decide what is this close to five intervals"
    return replace(finding, numbers=text, measured=dated, trials=len(runs))


@check("A-arbitration")
def arbitration(claim: Claim, evidence: Evidence) -> Finding:
    """Count the partitions that did not leave exactly the winner of the arbitration running.

    Kinds of partitions differ in which nodes reach the arbitrator, so each kind needs enough runs.
    """
    runs = _outages(evidence, *PARTITIONS)
    if runs.empty:
        raise MissingData("no run in which the data nodes were partitioned")
    undecided = sum(not _one_went_on(evidence, run_id) for run_id in runs["run_id"])
    kinds = runs.groupby("fault").size()
    text = f"exactly the data node that won the arbitration went on in {len(runs) - undecided} of "
    text += f"{count(len(runs), 'partition')} of {count(len(kinds), 'kind')}"
    finding = _finding(claim, evidence, runs, undecided, text, ())
    return replace(finding, trials=int(kinds.min()))


@check("A-separate")
def separate(claim: Claim, evidence: Evidence) -> Finding:
    """Count the queries that fail on the other servers when one of them is killed."""
    runs = _runs(evidence, KILL_SERVER)
    history = evidence.dataset.history
    failed, ended = [], []
    for run in runs.itertuples():
        own = _events(evidence, run.run_id)
        killed = outage.struck(own, "mysqld")
        if killed is None:
            raise MissingData(f"which mysqld was killed in {run.run_id} is not recorded")
        operations = history[history["run_id"].astype(str) == run.run_id]
        failed.append(outage.failed_elsewhere(operations, killed, run.fault_s))
        # What the lab does after the load does not concern the clients.
        ended.append(_data_nodes_ended(own[own["t_s"] <= operations["t_s"].max()]))
    text = f"when a mysqld was killed, {_most(max(failed), 'query', 'queries')} failed on the "
    text += f"other and {_most(max(ended), 'data node', 'data nodes')} stopped"
    return _finding(claim, evidence, runs, max(failed), text, (), max(ended))


def _finding(
    claim: Claim,
    evidence: Evidence,
    runs: pd.DataFrame,
    value: float,
    text: str,
    also: Sequence[str],
    others: int = 0,
) -> Finding:
    """Decide by a count, by the faults that the checker of writes found, and by `others`."""
    wrong = math.inf if runs["wrong"].max() + others else 0.0
    # Every operation was recorded, so a count is exact; wrong data exceed any bound.
    exact = [Estimate(*[float(number)] * 3) for number in (value, wrong)]
    missing = "" if len(runs) >= LEAST_RUNS else "a second run"
    if runs["replicas"].min() < REPLICAS:
        missing = "the content of every replica"
    finding = decide(claim, "", [Comparison("", number) for number in exact], missing=missing)
    shown = [_shown(evidence, fault) for fault in also]
    parts = [
        f"{text} ({count(len(runs), 'run')})",
        f"longest gap without a success {_gap(runs)} "
        f"(before the fault: {significant(runs['gap_before_s'].max())} s)",
        f"writes in the worst run: {runs.loc[runs['wrong'].idxmax(), 'writes']}",
        *(part for part in shown if part),
    ]
    finding = replace(finding, numbers="; ".join(parts), measured=exact[0], trials=len(runs))
    unfinished = "; ".join(filter(None, (_unfinished(evidence, f) for f in runs["fault"].unique())))
    if unfinished and finding.verdict in (REPRODUCED, CONTRADICTED):
        return replace(finding, verdict=INCONCLUSIVE, why=unfinished)
    return finding


def _outages(evidence: Evidence, *faults: str) -> pd.DataFrame:
    outages = outage.of_dataset(evidence.dataset)
    return outages[outages["fault"].isin(faults)]


def _runs(evidence: Evidence, fault: str) -> pd.DataFrame:
    outages = _outages(evidence, fault)
    if outages.empty:
        raise MissingData(f"no run of {fault}")
    return outages


def _unfinished(evidence: Evidence, fault: str) -> str:
    """Return how many runs of a fault failed, and why; empty if none did."""
    runs = evidence.dataset.runs
    statuses = runs.loc[runs["variant"].astype(str) == fault, "status"].astype(str)
    failed = statuses[statuses != OK]
    if failed.empty:
        return ""
    return f"{len(failed)} of {count(len(statuses), 'run')} failed: {failed.iloc[0]}"


def _shown(evidence: Evidence, fault: str) -> str:
    """Describe a fault that is not judged; empty if it was not measured."""
    runs = _outages(evidence, fault)
    if runs.empty:
        return ""
    text = f"not judged: {fault.replace('-', ' ')}, {int(runs['gave_up_clients'].max())} gave up, "
    text += f"longest gap {_gap(runs)}"
    lost = int(runs["lost"].max())
    return text + (f", {count(lost, 'acknowledged write')} lost" if lost else "")


def _gap(runs: pd.DataFrame) -> str:
    return f"{significant(runs['longest_gap_s'].max())} s"


def _events(evidence: Evidence, run_id: str) -> pd.DataFrame:
    events = evidence.dataset.events
    return events[events["run_id"].astype(str) == run_id]


def _one_went_on(evidence: Evidence, run_id: str) -> bool:
    """Return whether only the winner of the arbitration still ran when the network was healed."""
    own = _events(evidence, run_id)
    texts = own["text"].astype(str)
    still_ran = set(own.loc[texts.str.match(r"ndbmtd\.\d+ still runs"), "node_id"])
    won = set(own.loc[texts.str.startswith("Arbitration won"), "node_id"])
    if len(still_ran) == 1 and not won:
        raise MissingData(f"the cluster log does not say who won the arbitration in {run_id}")
    return len(still_ran) == 1 and still_ran == won


def _data_nodes_ended(events: pd.DataFrame) -> int:
    """Count the data nodes that stopped, by the cluster log; a mysqld is logged differently."""
    texts = events.loc[events["event"].astype(str) == "node_failed", ["node_id", "text"]]
    ended = texts["text"].astype(str).str.contains("shutdown", case=False)
    return int(texts.loc[ended, "node_id"].nunique())


def _most(number: int, one: str, several: str) -> str:
    return f"at most {number} {one if number == 1 else several}" if number else f"no {one}"


@condition("copy-on-each-node")
def copy_on_each_node(claim: Claim, evidence: Evidence) -> State:
    """Each data node holds all data, so that any one may be lost."""
    nodes = len(evidence.dataset.manifest.get("plan", {}).get("data_nodes", ()))
    if not nodes:
        raise MissingData("its manifest does not say how many data nodes there were")
    words = f"{count(nodes, 'data node')} with {REPLICAS} copies of the data"
    return State(nodes == REPLICAS, words)
