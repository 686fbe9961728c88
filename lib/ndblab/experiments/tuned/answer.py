"""What a search found over its baseline, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndblab.experiments.tuned.searched import COMMAND
from ndblab.judging.answer import Answer
from ndblab.judging.answers import answers
from ndblab.tuning.wanted import NAME

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers(NAME)
def found(dataset: Dataset | None, table: pd.DataFrame) -> Answer:
    """Say what the search confirmed, or that there is none yet."""
    if dataset is None:
        return Answer((f"no search is over on this host: run {COMMAND}, an hour",))
    known = dataset.manifest["answer"]
    baseline = ", ".join(known["baseline"]) or "the brief's configuration, scaled to this host"
    return Answer((f"against {baseline}: {known['sentence'].rstrip('.')}",))
