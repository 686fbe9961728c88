"""The answer about what was published: whether it adds up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.formatting import count
from ndblab.judging import publication
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice

CONSISTENT = "consistent"
"""Prefix of the consequence of a place that was checked and adds up."""
RULE = "rule-over"
"""The correction of the rule that gave the number of MySQL servers."""


@answers("the-brief")
def contradictions(dataset: Dataset, table: pd.DataFrame) -> Sequence[str]:
    """Count the claims, and where the sources contradict themselves or each other.

    `table` has a row per place that was checked; `holds` says whether the check confirms it.
    """
    doubtful = table[~table["consequence"].str.startswith(CONSISTENT)]
    confirmed = int(doubtful["holds"].sum())
    unsure = "" if confirmed == len(doubtful) else f", {confirmed} of them confirmed"
    return [
        f"the brief and related sources make {count(len(publication.claims()), 'claim')}, and "
        "contradict themselves or each other, or leave out what a reader needs, in "
        f"{count(len(doubtful), 'place')}{unsure}",
        *_advice(table),
    ]


def _advice(table: pd.DataFrame) -> Iterator[Advice]:
    """Say why not to count servers by the brief's rule, if its arithmetic shows that.

    With as many servers as the rule gives, the brief had its highest throughput (F6-peak).
    """
    rule = table[(table["id"] == RULE) & table["holds"]]
    for row in rule.itertuples():
        sum_of_a_socket = row.arithmetic.partition(";")[0]
        yield Advice(
            "Measure how many MySQL servers a host needs. The brief had most throughput with 8 on "
            f"a socket, though not all could run at their best ({sum_of_a_socket})"
        )
