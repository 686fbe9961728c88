"""The answer about what was published: whether it adds up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ndblab.formatting import count
from ndblab.judging import publication
from ndblab.judging.answer import Advice
from ndblab.judging.answers import answers

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


RULE = "rule-over"
"""The correction of the rule that gave the number of MySQL servers."""


@answers("the-brief")
def contradictions(dataset: Dataset, table: pd.DataFrame) -> Sequence[str]:
    """Count the claims, and where the sources contradict themselves or each other.

    `table` has a row per contradiction; `holds` says whether arithmetic confirms it.
    """
    confirmed = int(table["holds"].sum())
    all_of_them = "each of which" if confirmed == len(table) else f"{confirmed} of which"
    return [
        f"the brief and its sources make {count(len(publication.claims()), 'claim')}, and "
        f"contradict themselves or each other in {count(len(table), 'place')}, {all_of_them} "
        "arithmetic confirms",
        *_advice(table),
    ]


def _advice(table: pd.DataFrame) -> Iterator[Advice]:
    """Say why not to count servers by the brief's rule, if its arithmetic shows that."""
    rule = table[(table["id"] == RULE) & table["holds"]]
    for row in rule.itertuples():
        sum_of_a_socket = row.arithmetic.partition(";")[0]
        yield Advice(
            "Measure how many MySQL servers a host has CPUs for; the brief's own rule asks for "
            f"more CPUs than its host had ({sum_of_a_socket})"
        )
