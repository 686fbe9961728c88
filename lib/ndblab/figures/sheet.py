"""The sheet that every figure stands on: question above, panels, caption below.

In: a question, what the caption must say. Out: a matplotlib `Figure` with room for its panels.
It draws no data.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ndblab.figures import style

WIDTH_IN, HEIGHT_IN, DPI = 8.0, 5.6, 150
# Room above and below the panels: for the question and their titles, for axis and caption.
_ABOVE_IN, _BELOW_IN, _CAPTION_IN = 0.84, 1.6, 1.01
# What fits below the panels, in characters.
_CAPTION_WIDTH = 134


@dataclass(frozen=True)
class Caption:
    """Whose measurement a figure shows.

    `budget` is how the host's CPUs were divided. `cpus` is the logical CPUs that the host allows
    to use, of which figures draw the share of a process; without it they draw none.
    """

    host_line: str
    dataset_id: str
    budget: str
    cpus: float | None = None


@contextmanager
def page(question: str, height_in: float = HEIGHT_IN) -> Iterator[Figure]:
    """Give an empty figure with its question; while it is drawn, the lab's style holds."""
    with matplotlib.rc_context(style.RC):
        figure = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI, facecolor="white")
        figure.text(
            0.015, 1 - 0.252 / height_in, question, fontsize=13, fontweight="bold", va="center"
        )
        yield figure


def panels(
    figure: Figure,
    rows: int = 1,
    columns: Sequence[float] = (1.85, 1),
    heights: Sequence[float] | None = None,
    wspace: float = 0.22,
    left: float = 0.1,
    right: float = 0.985,
    above_in: float = _ABOVE_IN,
) -> list[list[Axes]]:
    """Part the sheet between question and caption into panels, rows of columns.

    Parameters
    ----------
    columns, heights : widths and heights relative to each other.
    """
    height_in = figure.get_figheight()
    grid = figure.subplots(
        nrows=rows,
        ncols=len(columns),
        squeeze=False,
        gridspec_kw={
            "width_ratios": list(columns),
            "height_ratios": list(heights or [1.0] * rows),
            "left": left,
            "right": right,
            "top": 1 - above_in / height_in,
            "bottom": _BELOW_IN / height_in,
            "wspace": wspace,
        },
    )
    return [list(row) for row in grid]


def sign(figure: Figure, caption: Caption, notes: Sequence[str]) -> None:
    """Write the caption: host, CPU budget and dataset, then how the drawing is to be read."""
    told = (
        f"{caption.host_line}.",
        f"CPU budget {caption.budget}. Dataset {caption.dataset_id}.",
        " ".join(notes),
    )
    figure.text(
        0.015,
        _CAPTION_IN / figure.get_figheight(),
        "\n".join(textwrap.fill(part, _CAPTION_WIDTH) for part in told),
        fontsize=7.5,
        color=style.QUIET,
        va="top",
        linespacing=1.4,
    )
