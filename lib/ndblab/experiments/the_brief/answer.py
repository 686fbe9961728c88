"""The answer about what was published: whether it adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.formatting import count
from ndblab.judging import publication
from ndblab.judging.answers import answers

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


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
        "arithmetic confirms"
    ]
