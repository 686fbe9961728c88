"""The answer about two engines: how their throughput compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndblab.formatting import moved
from ndblab.judging import releases
from ndblab.judging.answer import Clause
from ndblab.judging.answers import answers
from ndblab.statistics import contrasts

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("engines")
def compared(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what the second engine carries of what the first does, and what that decides."""
    first, second = releases.engines(dataset.manifest["versions"])
    if first == second:
        second = "another installation of the same release"
    found = contrasts.ratio(contrasts.log_ratios(dataset.slices, "indexstat"))
    return [
        f"under much OLTP read-write, {second} {moved(*found, 'throughput')} against {first}",
        Clause(
            "D-indexstat",
            "that is what RonDB 21.10 gained",
            "that is not what RonDB 21.10 gained",
            "what RonDB 21.10 gained by a mutex less",
        ),
    ]
