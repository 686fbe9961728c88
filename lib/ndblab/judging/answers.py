"""What an experiment found, in one or two sentences: what is certain, and what is open.

In: the name of an experiment, its verdicts, its dataset. Out: an `Answer`.
Every clause says no more than a verdict, and every number comes from the table or the dataset.

To add one, write a function (dataset, table) -> clauses, or a whole `Answer`, and decorate it with
the experiment's name.
Without one, an experiment answers with the count of its verdicts.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ndblab.analysis.formatting import count, listed
from ndblab.claims.answers import (
    availability,
    capacity_model,
    network,
    scaling,
    sources,
    stability,
    the_lab_itself,
    tls,
)
from ndblab.claims.answers.clause import Answer, Clause, compose
from ndblab.claims.answers.neighbours import (
    actions,
    connection_pools,
    engines,
    read_locality,
    read_write,
    tpc_c,
    tpc_h,
    transporters,
)
from ndblab.claims.answers.registry import ANSWERS, Clauses
from ndblab.error import MissingData

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset

__all__ = [
    "ANSWERS",
    "Answer",
    "Clause",
    "Clauses",
    "actions",
    "answer",
    "availability",
    "capacity_model",
    "connection_pools",
    "engines",
    "network",
    "read_locality",
    "read_write",
    "scaling",
    "sources",
    "stability",
    "the_lab_itself",
    "tls",
    "tpc_c",
    "tpc_h",
    "transporters",
]


def answer(experiment: str, table: pd.DataFrame, dataset: Dataset | None = None) -> Answer:
    """Answer an experiment's question.

    Parameters
    ----------
    table : verdicts, as `claims.judge` gives them; of the capacity model, its errors, of the brief,
        its corrections, and of the lab itself, its goals.
    dataset : what the verdicts judge; None for an experiment without data of its own.
    """
    clauses = ANSWERS.get(experiment)
    # Part of a sweep may lack what an answer begins with; its verdicts can still be counted.
    with contextlib.suppress(MissingData):
        if clauses is not None:
            said = clauses(dataset, table)
            if found := said if isinstance(said, Answer) else compose(said, table):
                return found
    counts = [f"{n} {word}" for word, n in table["verdict"].value_counts().items()]
    return Answer((f"of {count(len(table), 'claim')}: {listed(counts)}",))
