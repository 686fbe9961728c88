"""Answers about faults: which failures clients notice, and the worst that happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.availability import GIVEN_UP
from ndblab.experiments.availability import analysis as outage
from ndblab.experiments.availability.words import (
    CUT_OFF_SERVER,
    FROZEN,
    LOST_ARBITRATOR,
    LOST_HOST,
    OTHERS_ARBITRATE,
    PARTITIONS,
    SHORT_HEARTBEATS,
    SILENT,
    silences,
    worded,
)
from ndblab.formatting import change, count, listed, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause
from ndblab.judging.verdict import INCONCLUSIVE
from ndblab.statistics.estimate import geometric

_SEEN = (
    ("A-node-loss", "kill-data-node", "after the kill of a data node"),
    ("A-online", "rolling-restart", "during a rolling restart"),
)
_LONG_GAP_S = 10.0
_FIRST = ": the others wait for four missed heartbeats"
_STOPPED = "stopped the cluster until the lab restarted it"
"""Said of LOST_ARBITRATOR: nothing else ends this stop, so that its length is the lab's."""


@answers("availability")
def failures(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say which failures clients notice, which writes were lost, and the longest gap."""
    outages = _outages(dataset)
    gaps_s = outages.groupby("fault", observed=True)["longest_gap_s"].max()
    lost = set(outages.loc[outages["lost"] > 0, "fault"])
    unread = set(outages.loc[outages["replicas"] == 0, "fault"])
    return [
        *_losses(outages),
        *_with_arbitrators(outages),
        *(
            f"{worded(fault)} {_STOPPED}"
            if fault == LOST_ARBITRATOR
            else f"{worded(fault)} stopped service for {_gaps(outages, fault)}"
            for fault in dict.fromkeys((gaps_s.idxmax(), FROZEN))
            if fault in gaps_s and fault not in lost
        ),
        *_with_short_heartbeats(dataset, outages),
        *_few_runs(outages, table),
        Clause(
            "A-node-loss",
            "a killed data node made no client give up after one retry"
            + _gap(gaps_s, "kill-data-node"),
            _noticed(outages, "kill-data-node"),
            "whether clients never notice the kill of a data node",
        ),
        Clause(
            "A-online",
            "a rolling restart, without an upgrade, made none give up"
            + _gap(gaps_s, "rolling-restart"),
            _noticed(outages, "rolling-restart"),
            "whether clients never notice a rolling restart",
        ),
        Clause(
            "A-separate",
            "a killed mysqld made no query fail on the other and stopped no data node",
            "a killed mysqld disturbed others: at most {value} queries failed on the other, or a "
            "data node stopped, or data were wrong",
            "whether a killed mysqld never disturbs others",
        ),
        *_advice(gaps_s, lost, unread),
    ]


@answers("network-faults")
def network(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how long clients wait, who survives a partition, and which writes were lost."""
    outages = _outages(dataset)
    gaps_s = outages.groupby("fault", observed=True)["longest_gap_s"].max()
    longest, gap = gaps_s.idxmax(), plain(gaps_s.max())
    silent = silences(gaps_s.index)
    least = plain(outages.loc[outages["fault"].isin(silent), "longest_gap_s"].min())
    lost_host = f"{worded(LOST_HOST)} stopped service for {_gaps(outages, LOST_HOST)}"
    return [
        f"a data node that fell silent stopped service for {least} to {gap} s{_FIRST}"
        if longest in silent
        else f"{worded(longest)} stopped service for {gap} s, the longest gap"
        + _FIRST * (longest in SILENT),
        Clause(
            "A-arbitration",
            "of two data nodes cut off from each other, exactly one went on",
            "after {value} partitions, not just the arbitration's winner went on, or data were "
            "wrong",
            "which data nodes survive a partition",
        ),
        *_partitions(outages, table),
        Clause(
            "A-host-loss",
            lost_host,
            lost_host,
            "how long the loss of a data node's host stops service",
        ),
        *_kept(outages),
        *_cut_off_server(dataset, outages),
        Clause(
            "A-heartbeat",
            "a silent data node was declared dead after {value} heartbeat intervals at the latest",
            "a silent data node was declared dead only after {value} heartbeat intervals",
            "how soon a silent data node is declared dead",
        ),
        Advice(
            f"If {gap} s are too long, lower HeartbeatIntervalDbDb, in small steps: clients wait "
            "up to five intervals for a silent data node"
        ),
        Advice(
            "Keep the arbitrator off the hosts of data nodes, as here: one loss must not take both"
        ),
        *(
            [Advice("Let clients retry on another MySQL server: it may reach what theirs cannot")]
            if outages.loc[outages["fault"] == CUT_OFF_SERVER, "gave_up_clients"].any()
            else []
        ),
    ]


def _noticed(outages: pd.DataFrame, fault: str) -> str:
    """Say what the worst runs of a fault did to clients and to data."""
    runs = outages[outages["fault"] == fault]
    gave_up, gap_s, wrong = (runs[of].max() for of in ("gave_up_clients", "longest_gap_s", "wrong"))
    did = [f"made {count(int(gave_up), 'client')} give up"] if gave_up > 0 else []
    did += [f"stopped service for {plain(gap_s)} s"] if gap_s > _LONG_GAP_S else []
    did += [f"left {count(int(wrong), 'error')} in data or reads"] if wrong > 0 else []
    return f"{worded(fault)} {listed(did) if did else 'was noticed in an earlier recording'}"


def _outages(dataset: Dataset) -> pd.DataFrame:
    """Return the outages of a dataset; MissingData if no run reached its fault."""
    outages = outage.of_dataset(dataset)
    if outages.empty:
        raise MissingData("no run with a fault under load")
    return outages


def _kept(outages: pd.DataFrame) -> Iterator[str]:
    """Say whether acknowledged writes were lost, and in how many runs none could be read back."""
    read = outages[outages["replicas"] > 0]
    runs, lost = count(len(read), "run"), int(outages["lost"].sum())
    if lost:
        yield f"{count(lost, 'acknowledged write')} lost in {runs}"
    elif len(read):
        right = ", and no read was wrong" * (not outages["wrong"].any())
        yield f"no acknowledged write was lost in {runs}{right}"
    if unread := len(outages) - len(read):
        yield f"after {count(unread, 'run')}, writes could not be read back"


def _partitions(outages: pd.DataFrame, table: pd.DataFrame) -> Iterator[str]:
    """Say what became of partitions that are too few for a verdict."""
    row = table[(table["id"] == "A-arbitration") & (table["verdict"] == INCONCLUSIVE)]
    number = int(outages["fault"].isin(PARTITIONS).sum())
    if len(row) and (row["measured"] == 0).all():
        cut = count(number, "run")
        yield f"in {cut}, only the data node that won the arbitration went on after a partition"


def _cut_off_server(dataset: Dataset, outages: pd.DataFrame) -> Iterator[str]:
    """Say how long clients waited for a MySQL server that was cut off from a data node."""
    runs = outages[outages["fault"] == CUT_OFF_SERVER]
    if not (gave_up := int(runs["gave_up_clients"].max() if len(runs) else 0)):
        return
    history = dataset.history
    mine = history[history["run_id"].astype(str).isin(runs["run_id"])]
    waited_s = mine.loc[mine["outcome"].astype(str).isin(GIVEN_UP), "latency_ms"].max() / 1000
    yield (
        f"{gave_up} of {count(int(runs['clients'].max()), 'client')} waited up to "
        f"{plain(waited_s)} s for a MySQL server cut off from one data node, and gave up; "
        f"the service never paused longer than {plain(runs['longest_gap_s'].max())} s"
    )


def _losses(outages: pd.DataFrame) -> Iterator[str]:
    """Say which faults lost acknowledged writes, in how many of their runs, and how many."""
    for fault, runs in outages.groupby("fault", observed=True):
        numbers = runs.loc[runs["lost"] > 0, "lost"].astype(int)
        if numbers.empty:
            continue
        least, most = numbers.min(), numbers.max()
        lost = f"{f'{least} to ' if least < most else ''}{count(most, 'acknowledged write')}"
        every = "each" if len(numbers) == len(runs) else str(len(numbers))
        of = f"in {every} of {count(len(runs), 'run')}" if len(runs) > 1 else "in one run"
        if fault == LOST_ARBITRATOR:
            yield f"{of}, {worded(fault)} {_STOPPED}; {lost} {'was' if most == 1 else 'were'} lost"
            continue
        stopped = f"stopped service for up to {plain(runs['longest_gap_s'].max())} s"
        yield f"{worded(fault)} {stopped} and lost {lost}, {of}"


def _with_arbitrators(outages: pd.DataFrame) -> Iterator[str]:
    """Say what the loss of the management node does if MySQL servers may arbitrate."""
    runs = outages[outages["fault"] == OTHERS_ARBITRATE]
    if len(runs) and runs["replicas"].all() and not runs["lost"].any():
        yield (
            "with MySQL servers as further arbitrators, the same fault lost no write in "
            f"{count(len(runs), 'run')} and stopped service for "
            f"{plain(runs['longest_gap_s'].max())} s at most"
        )


def _with_short_heartbeats(dataset: Dataset, outages: pd.DataFrame) -> Iterator[str]:
    """Say what a shorter heartbeat buys when a data node freezes, and what it costs."""
    runs, usual = (outages[outages["fault"] == fault] for fault in (SHORT_HEARTBEATS, FROZEN))
    if runs.empty or usual.empty:
        return
    settings = dataset.manifest["variants"][SHORT_HEARTBEATS]["config_ini"]["ndbd default"]
    yield (
        f"with HeartbeatIntervalDbDb at {settings['HeartbeatIntervalDbDb']} ms, a frozen data node "
        f"stopped service for {_gaps(outages, SHORT_HEARTBEATS)} "
        f"instead of {_gaps(outages, FROZEN)}"
    )
    before = [faulted.set_index("repeat")["qps_before"] for faulted in (runs, usual)]
    pairs = (before[0] / before[1]).dropna()
    said = "with the shorter heartbeat, "
    if len(pairs):
        said = "the shorter heartbeat changed throughput before the fault by "
        said += f"{change(*geometric(pairs))}; "
    wrong = outage.declared_wrongly(dataset, SHORT_HEARTBEATS)
    mistakes = f"{count(wrong, 'data node')} declared" if wrong else "no data node was declared"
    yield f"{said}{mistakes} dead by mistake in {count(len(runs), 'run')}"


def _advice(gaps_s: pd.Series, lost: set[str], unread: set[str]) -> Iterator[Advice]:
    """Say what helps against two faults that did harm, as measured or as documented.

    `lost` are the faults that lost acknowledged writes, `unread` those after which some run's
    writes could not be read back.
    """
    kept = OTHERS_ARBITRATE in gaps_s and OTHERS_ARBITRATE not in lost | unread
    if LOST_ARBITRATOR in lost and kept:
        yield Advice("Set ArbitrationRank=2 for MySQL servers on hosts without data nodes")
    elif LOST_ARBITRATOR in lost:
        yield Advice(
            "Documented, not measured here: let more than one process arbitrate, a second "
            "management node or MySQL servers with ArbitrationRank"
        )
    if SHORT_HEARTBEATS in gaps_s and gaps_s[SHORT_HEARTBEATS] < gaps_s.get(FROZEN, 0):
        yield Advice(
            "Lower HeartbeatIntervalDbDb in small steps, as the manual says: clients wait up to "
            "five intervals for a data node that hangs"
        )
        yield Advice("Keep four heartbeat intervals longer than any pause of a healthy host")
    elif gaps_s.get(FROZEN, 0) > _LONG_GAP_S:
        yield Advice(
            "A node that hangs is declared dead after four missed heartbeats: "
            "HeartbeatIntervalDbDb sets how long clients wait"
        )


def _few_runs(outages: pd.DataFrame, table: pd.DataFrame) -> Iterator[str]:
    """Say what clients saw in runs that are too few for a verdict."""
    for claim, fault, when in _SEEN:
        runs = outages[outages["fault"] == fault]
        undecided = (table["id"] == claim) & (table["verdict"] == INCONCLUSIVE)
        if undecided.any() and len(runs) and not runs["gave_up_clients"].any():
            gap = f" (longest gap {plain(runs['longest_gap_s'].max())} s)"
            yield f"in {count(len(runs), 'run')}, no client gave up {when}{gap}"


def _gap(gaps_s: pd.Series, fault: str) -> str:
    return f" (longest gap {plain(gaps_s[fault])} s)" if fault in gaps_s else ""


def _gaps(outages: pd.DataFrame, fault: str) -> str:
    """Write the shortest and the longest of the longest gaps of a fault's runs."""
    gaps_s = outages.loc[outages["fault"] == fault, "longest_gap_s"]
    ends = dict.fromkeys(map(plain, (gaps_s.min(), gaps_s.max())))
    return f"{' to '.join(ends)} s"
