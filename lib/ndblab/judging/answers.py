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

from ndblab.error import MissingData
from ndblab.experiments.availability import answer as availability
from ndblab.experiments.bulk_load import answer as actions
from ndblab.experiments.capacity import answer as capacity_model
from ndblab.experiments.connection_pool import answer as connection_pools
from ndblab.experiments.engines import answer as engines
from ndblab.experiments.network_cost import answer as network
from ndblab.experiments.read_locality import answer as read_locality
from ndblab.experiments.read_write import answer as read_write
from ndblab.experiments.scaling import answer as scaling
from ndblab.experiments.stability import answer as stability
from ndblab.experiments.the_brief import answer as sources
from ndblab.experiments.the_lab_itself import answer as the_lab_itself
from ndblab.experiments.tpc_c import answer as tpc_c
from ndblab.experiments.tpc_h import answer as tpc_h
from ndblab.experiments.transporters import answer as transporters
from ndblab.experiments.transporters import tls_answer as tls
from ndblab.formatting import count, listed
from ndblab.judging.answer import Answer, Clause, compose
from ndblab.judging.registry import ANSWERS, Clauses

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
