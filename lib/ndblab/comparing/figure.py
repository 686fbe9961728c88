"""The forest of a comparison: throughput, p95 and CPU per query of B over A, block by block."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ndblab.comparing import answer, judged
from ndblab.error import writing
from ndblab.figures import forest, sheet
from ndblab.figures.sheet import Caption, Head
from ndblab.judging import evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ndblab.comparing.judged import Judged
    from ndblab.comparing.sides import Sides
    from ndblab.dataset import Dataset

_HEIGHT_IN = 2.9
_ROWS = {"throughput": "queries/s", "p95": "p95 latency", "cpu": "CPU time of a query"}
_LONGEST = 60


def draw(data: Dataset, found: Judged, sides: Sides, within: float) -> Figure:
    """Draw the three ratios with their intervals and their blocks."""
    names = list(_ROWS.values())
    ratios = [getattr(found, name) for name in _ROWS]
    rows = pd.DataFrame(ratios, columns=["ratio", "low", "high"]).assign(name=names)
    blocks = zip(names, judged.blocks(data), strict=True)
    each = [pd.DataFrame({"name": name, "ratio": np.exp(logs)}) for name, logs in blocks]
    title = answer.headline(found, within)
    a, b = (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
            for text in map(sides.words, "ab"))  # fmt: skip
    notes = (
        f"A: {a}. B: {b}.",
        "Line: 95 % interval (of p95 and CPU, for both and errors together). Circles: blocks.",
        f"Shaded: what counts as equivalent, within {100 * within:g} %.",
    )
    caption = Caption(data.describe_host(), data.id, data.budget, evidence.usable_cpus(data.host))
    with sheet.page(_HEIGHT_IN) as figure:
        forest.draw(
            figure.subplots(), rows, "B over A", each=pd.concat(each, ignore_index=True),
            allowed=dict.fromkeys(names, (1 - within, 1 + within)),
        )  # fmt: skip
        sheet.sign(figure, Head(title, notes), caption.line(str(data.slices["workload"].iloc[0])))
    return figure


def save(data: Dataset, found: Judged, sides: Sides, within: float, folder: Path) -> Path | None:
    """Write the forest as a picture, and return its file; None before there is a whole block."""
    if not found.blocks:
        return None
    file = folder / f"{data.id}.png"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        draw(data, found, sides, within).savefig(file)
    return file
