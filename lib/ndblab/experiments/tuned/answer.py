"""What a search found over its baseline, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndblab.experiments.tuned.searched import COMMAND
from ndblab.judging.answer import Answer
from ndblab.judging.answers import answers
from ndblab.tuning.wanted import NAME, named

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers(NAME)
def found(dataset: Dataset | None, table: pd.DataFrame) -> Answer:
    """Say what the search confirmed, or that there is none yet."""
    if dataset is None:
        return Answer((f"no search is over on this host: run {COMMAND}, an hour",))
    known = dataset.manifest["answer"]
    return Answer((f"against {named(known['baseline'])}: {known['sentence'].rstrip('.')}",))
