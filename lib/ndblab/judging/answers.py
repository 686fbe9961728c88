"""What an experiment found, in one or two sentences: what is certain, and what is open.

Every clause says no more than a verdict, and every number comes from the table or the dataset. The
functions that write answers are in the experiments' `answer` modules. An experiment without one
answers with the count of its verdicts.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ndblab import discovery
from ndblab.error import MissingData
from ndblab.formatting import count, listed
from ndblab.judging.clauses import Answer, Clause, compose

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset

_OF_CPUS = re.compile(r"\bCPUs\b|\bquotas?\b|\ba share of \d")
"""What a finding says that speaks of quotas, of their absence, or of how CPUs are divided."""
_MEASURED = re.compile(r"\d (?:%|times\b)|/s\b")
"""What a finding says that has a ratio or a rate."""

Clauses = Callable[["Dataset", "pd.DataFrame"], "Sequence[Clause | str] | Answer"]
ANSWERS: dict[str, Clauses] = {}


def answers(experiment: str) -> Callable[[Clauses], Clauses]:
    """Make a function the answer of an experiment."""
    return discovery.named(ANSWERS, experiment)


def answer(experiment: str, table: pd.DataFrame, dataset: Dataset | None = None) -> Answer:
    """Answer an experiment's question.

    Parameters
    ----------
    table : verdicts, as `judging.judge` gives them; for the capacity model its errors, for the
        brief its corrections, and for the lab itself its goals.
    dataset : what the verdicts judge; None for an experiment without data of its own.
    """
    discovery.modules("answer")
    clauses = ANSWERS.get(experiment)
    # Part of a sweep may lack what an answer begins with; its verdicts can still be counted.
    with contextlib.suppress(MissingData):
        if clauses is not None:
            said = clauses(dataset, table)
            if composed := said if isinstance(said, Answer) else compose(said, table):
                judged = dataset is not None and "verdict" in table
                scaled = judged and dataset.budget == "scaled"
                return _under_quotas(composed) if scaled else composed
    if table.empty:
        why = "there is no interval" if clauses else "nothing says what was found (answer.py)"
        return Answer(open=(f"its question: {why}",))
    counts = [f"{n} {word}" for word, n in table["verdict"].value_counts().items()]
    return Answer((f"of {count(len(table), 'claim')}: {listed(counts)}",))


def _under_quotas(answer: Answer) -> Answer:
    """Let the first ratio or rate say that quotas divide the CPUs, unless it speaks of CPUs."""
    said = list(answer.certain)
    at = next((i for i, text in enumerate(said) if _MEASURED.search(text)), None)
    if at is not None and not _OF_CPUS.search(said[at]):
        also = said[at].removeprefix("under ")
        said[at] = f"under CPU quotas{',' if also == said[at] else ' and'} {also}"
    return replace(answer, certain=tuple(said))
