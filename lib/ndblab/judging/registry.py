"""The registry of answers: which function answers which experiment.

In: functions. Out: the same functions, by the name of an experiment. It never calls one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ndblab.judging.answer import Answer, Clause

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset

Clauses = Callable[["Dataset", "pd.DataFrame"], "Sequence[Clause | str] | Answer"]
ANSWERS: dict[str, Clauses] = {}


def answers(experiment: str) -> Callable[[Clauses], Clauses]:
    """Register a function as the answer of an experiment."""

    def register(function: Clauses) -> Clauses:
        ANSWERS[experiment] = function
        return function

    return register
