"""The answer about two engines: how their throughput compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.formatting import change, moved, percent
from ndblab.judging import releases
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause
from ndblab.statistics import contrasts
from ndblab.statistics.estimate import Estimate


@answers("engines")
def compared(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how the throughput of the second engine compares with the first's, and what follows."""
    first, second = releases.engines(dataset.manifest["versions"])
    ratio = contrasts.ratio(contrasts.log_ratios(dataset.slices, "indexstat"))
    said = f"{second} {moved(*ratio, 'throughput')} against {first}"
    is_same = first == second
    if is_same:
        differs = ratio.low > 1 or ratio.high < 1
        did = "differed in" if differs else "showed no certain difference in"
        said = f"two installations of {first} {did} throughput: {change(*ratio)}"
    return [
        f"under a heavy load of OLTP read-write, {said}",
        *(_precision(ratio) if is_same and ratio.bounded else ()),
        Clause(
            "D-indexstat",
            "that is what RonDB 21.10 gained",
            "that is not what RonDB 21.10 gained",
            "what RonDB 21.10 gained over 21.04",
        ),
    ]


def _precision(ratio: Estimate) -> Iterator[Advice]:
    """Say what the comparison of a release with itself means for that of two engines."""
    off_pct = 100 * max(1 - ratio.low, ratio.high - 1)
    yield Advice(
        "Before you compare two engines, compare one with itself: a measurement as short as this "
        f"one cannot tell differences below {percent(off_pct)} % from chance"
    )
