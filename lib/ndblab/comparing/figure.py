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

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from ndblab.comparing.judged import Judged
    from ndblab.comparing.sides import Sides
    from ndblab.dataset import Dataset

_HEIGHT_IN = 2.9
_ROWS = {"throughput": "queries/s", "p95": "p95 latency", "cpu": "CPU time per query"}
_LONGEST = 60


def draw(data: Dataset, result: Judged, words: Iterable[str], within: float) -> Figure:
    """Draw the three ratios with their intervals and blocks; `words` name A and B."""
    names = list(_ROWS.values())
    ratios = [getattr(result, name) for name in _ROWS]
    rows = pd.DataFrame(ratios, columns=["ratio", "low", "high"]).assign(name=names)
    blocks = [
        pd.DataFrame({"name": name, "ratio": np.exp(logs)})
        for name, logs in zip(names, judged.blocks(data), strict=True)
    ]
    title = answer.headline(result, within)
    a, b = (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
            for text in words)  # fmt: skip
    notes = (
        f"A: {a}. B: {b}.",
        "Line: 95 % interval (of p95 and CPU, for both and errors together). Circles: blocks.",
        f"Shaded: what counts as equivalent, within {100 * within:g} %.",
    )
    with sheet.page(_HEIGHT_IN) as figure:
        forest.draw(
            figure.subplots(), rows, "B over A", each=pd.concat(blocks, ignore_index=True),
            allowed=dict.fromkeys(names, (1 - within, 1 + within)),
        )  # fmt: skip
        workload = str(data.slices["workload"].iloc[0])
        sheet.sign(figure, Head(title, notes), source(data, workload))
    return figure


def save(data: Dataset, result: Judged, sides: Sides, within: float, folder: Path) -> Path | None:
    """Write the forest as a picture, and return its file; None before there is a whole block."""
    if not result.blocks:
        return None
    return write(draw(data, result, map(sides.words, "ab"), within), folder / f"{data.id}.png")


def source(data: Dataset, workload: str) -> str:
    """Return the line below a figure: where its data come from."""
    return Caption(data.describe_host(), data.id, data.budget).line(workload)


def write(figure: Figure, file: Path) -> Path:
    """Write a figure as a picture, and return its file."""
    with writing(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file)
    return file
