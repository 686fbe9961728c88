"""The figure of two engines."""

from __future__ import annotations

from ndblab.figures import contrast
from ndblab.figures.entry import Entry
from ndblab.judging import contrasted

FIGURES = {
    "engines": Entry(
        "How do two engines compare, start by start?",
        contrast.paint, contrast.describe, ("slices",),
        computed=contrasted.bounds_of,
    ),
}  # fmt: skip
