"""What dumps and their compression cost, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.dump import UNCOMPRESSED
from ndblab.experiments.dump import analysis as dumps
from ndblab.formatting import plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause

_NEARLY = 0.9
"""Share of the best compression ratio above which time decides."""


@answers("dump")
def compression(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how small each compression makes a dump, and how long that takes."""
    means = dumps.by_compression(dumps.of(dataset.runs, dataset.dumps))
    # Without contrasts, a dataset has the starts of its sweep alone.
    one = ", in one cluster start" if dataset.manifest.get("starts") == 1 else ""
    words = [
        f"a dump of {plain(row.content_mb)} MB by {row.tool} took {plain(row.duration_s)} s{one}"
        if row.compression == UNCOMPRESSED
        else f"with {row.compression} it took {plain(row.duration_s)} s and "
        f"{100 / row.ratio:.0f} % of the size"
        for row in means.itertuples()
    ]
    words += _advice(means)
    known = "the published times and ratios of another machine"
    return [*words, Clause("M-zstd", f"{known} hold", f"{known} do not hold", known)]


def _advice(means: pd.DataFrame) -> Iterator[str]:
    """Advise the fastest compression if no other is much smaller."""
    packed = means[means["compression"] != UNCOMPRESSED]
    if len(packed) > 1:
        fastest = packed.loc[packed["duration_s"].idxmin()]
        if fastest["ratio"] > _NEARLY * packed["ratio"].max():
            slowest = packed.loc[packed["duration_s"].idxmax()]
            times = plain(slowest["duration_s"] / fastest["duration_s"])
            yield Advice(
                f"Compress dumps with {fastest['compression']}: {slowest['compression']} took "
                f"{times} times as long for nearly the same size"
            )
