"""The figure of two engines."""

from __future__ import annotations

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.figures import contrast
from ndblab.figures.entry import Entry
from ndblab.judging import contrasted, releases


def _computed(data: Dataset) -> dict[str, pd.DataFrame | pd.Series]:
    """Return what claims allow, and the engines of both sides in words."""
    first, second = releases.engines(data.manifest["versions"])
    words = f"{second} over {first}" if first != second else f"{first} compared with itself"
    names = [entry["name"] for entry in data.manifest.get("contrasts", ())]
    return {**contrasted.bounds_of(data), "sides": pd.Series(words, index=names, dtype=str)}


FIGURES = {
    "engines": Entry(
        "How do two engines compare, start by start?",
        contrast.paint, contrast.describe, ("slices",),
        computed=_computed,
    ),
}  # fmt: skip
