"""Answers about faults: which failures clients notice, and the worst that happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.availability import analysis as outage
from ndblab.formatting import count, plain
from ndblab.judging.answer import Advice, Clause
from ndblab.judging.answers import answers
from ndblab.judging.verdict import INCONCLUSIVE

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


_WORDS = {
    "freeze-data-node": "a frozen data node",
    "lose-arbitrator": "a data node killed after the only management node",
}
_SEEN = (
    ("A-node-loss", "kill-data-node", "after the kill of a data node"),
    ("A-online", "rolling-restart", "during a rolling restart"),
)
_LONG_GAP_S = 10.0


@answers("availability")
def failures(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say which failures clients notice, which writes were lost, and the longest gap."""
    outages = outage.of_dataset(dataset)
    gaps_s = outages.groupby("fault", observed=True)["longest_gap_s"].max()
    lost = outages[outages["lost"] > 0].groupby("fault", observed=True)["lost"].max()
    runs = outages.groupby("fault", observed=True).size()
    return [
        *(
            f"{_words(fault)} lost up to {count(int(most), 'acknowledged write')} "
            f"in {count(int(runs[fault]), 'run')}"
            for fault, most in lost.items()
        ),
        *(
            [f"{_words(longest)} stopped service for {plain(gaps_s.max())} s"]
            if (longest := gaps_s.idxmax()) != "freeze-data-node"
            else []
        ),
        Clause(
            "A-node-frozen",
            "a frozen data node stopped service for {value} s at most",
            "a frozen data node stopped service for {value} s",
            "how long a frozen data node stops service",
        ),
        *_few_runs(outages, table),
        Clause(
            "A-node-loss",
            "a killed data node made no client give up after one retry"
            + _gap(gaps_s, "kill-data-node"),
            "a killed data node made {value} clients give up",
            "whether clients never notice the kill of a data node",
        ),
        Clause(
            "A-online",
            "a rolling restart, without an upgrade, made none give up"
            + _gap(gaps_s, "rolling-restart"),
            "a rolling restart made {value} clients give up",
            "whether clients never notice a rolling restart",
        ),
        Clause(
            "A-separate",
            "a killed mysqld disturbed no other node",
            "a killed mysqld made {value} queries fail on the other",
            "whether a killed mysqld never disturbs others",
        ),
        *_advice(gaps_s, lost),
    ]


@answers("network-faults")
def network(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say who survives a partition, how long clients wait, and which writes were lost."""
    outages = outage.of_dataset(dataset)
    gaps_s = outages.groupby("fault", observed=True)["longest_gap_s"].max()
    lost = int(outages["lost"].sum())
    return [
        Clause(
            "A-arbitration",
            "of two data nodes that were cut off from each other exactly one went on",
            "after {value} partitions not exactly one data node went on",
            "which data nodes survive a partition",
        ),
        Clause(
            "A-heartbeat",
            "a silent one was declared dead after {value} heartbeat intervals at the latest",
            "a silent one was declared dead only after {value} heartbeat intervals",
            "how soon a silent data node is declared dead",
        ),
        f"{count(lost, 'acknowledged write')} lost" if lost else "no acknowledged write was lost",
        f"{_words(gaps_s.idxmax())} stopped service for {plain(gaps_s.max())} s, the longest gap",
    ]


def _words(fault: str) -> str:
    return _WORDS.get(fault, fault)


def _advice(gaps_s: pd.Series, lost: pd.Series) -> Iterator[Advice]:
    """Say what is documented against the two faults that hurt, if they did."""
    if "lose-arbitrator" in lost:
        yield Advice(
            "Documented, not measured here: let more than one process arbitrate, a second "
            "management node or MySQL servers with ArbitrationRank"
        )
    if gaps_s.get("freeze-data-node", 0) > _LONG_GAP_S:
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
