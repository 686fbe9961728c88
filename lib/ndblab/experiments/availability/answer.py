"""Answers about faults: which failures clients notice, and the worst that happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.experiments.availability import analysis as outage
from ndblab.formatting import count, plain
from ndblab.judging.answer import Clause
from ndblab.judging.answers import answers

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("availability")
def failures(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say which failures clients notice, which writes were lost, and the longest gap."""
    outages = outage.of_dataset(dataset)
    gaps_s = outages.groupby("fault", observed=True)["longest_gap_s"].max()
    lost = outages[outages["lost"] > 0].groupby("fault", observed=True)["lost"].max()
    return [
        Clause(
            "A-node-loss",
            "the kill of a data node makes no client give up" + _gap(gaps_s, "kill-data-node"),
            "the kill of a data node makes {value} clients give up",
            "whether clients notice the kill of a data node",
        ),
        Clause(
            "A-online",
            "a rolling restart makes none give up" + _gap(gaps_s, "rolling-restart"),
            "a rolling restart makes {value} clients give up",
            "whether clients notice a rolling restart",
        ),
        *(
            f"{fault} lost up to {count(int(most), 'acknowledged write')}"
            for fault, most in lost.items()
        ),
        f"the longest gap was {plain(gaps_s.max())} s ({gaps_s.idxmax()})",
        Clause(
            "A-separate",
            "a killed mysqld disturbs no other node",
            "a killed mysqld makes {value} queries fail on the other",
            "whether a killed mysqld disturbs others",
        ),
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
            "of two data nodes that are cut off from each other exactly one goes on",
            "after {value} partitions not exactly one data node went on",
            "which data nodes survive a partition",
        ),
        Clause(
            "A-heartbeat",
            "a silent one is declared dead after {value} heartbeat intervals at the latest",
            "a silent one is declared dead only after {value} heartbeat intervals",
            "how soon a silent data node is declared dead",
        ),
        f"{count(lost, 'acknowledged write')} lost" if lost else "no acknowledged write was lost",
        f"the longest gap was {plain(gaps_s.max())} s ({gaps_s.idxmax()})",
    ]


def _gap(gaps_s: pd.Series, fault: str) -> str:
    return f" (longest gap {plain(gaps_s[fault])} s)" if fault in gaps_s else ""
