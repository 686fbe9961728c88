"""The sheet of every figure: question above, panels, caption below.

In: a question, and what the caption must say. Out: a matplotlib `Figure` with room for its panels.
It draws no data.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ndblab.figures import old_style as style
from ndblab.figures.sheet import Caption as Caption

WIDTH_IN, HEIGHT_IN, DPI = 8.0, 5.6, 150
ABOVE_IN, ABOVE_WITH_LEGEND_IN = 0.84, 1.0
"""Room above the panels for the question and their titles; and for a legend between the two."""
LATENCY_NOTE = "Latency includes the period of the CPU quotas."
# Room below the panels, for axis labels and caption; and the part of it that is for the caption.
_BELOW_IN, _CAPTION_IN = 1.6, 1.01
# Where a legend of all panels begins.
_LEGEND_IN = 0.42
# Characters per line of a caption.
_CAPTION_WIDTH = 134


@contextmanager
def page(question: str, height_in: float = HEIGHT_IN) -> Iterator[Figure]:
    """Yield an empty figure in the lab's style, which gets its question at the end.

    Until then its height may change.
    """
    with matplotlib.rc_context(style.RC):
        figure = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI, facecolor="white")
        yield figure
        top = 1 - 0.252 / figure.get_figheight()
        figure.text(0.015, top, question, fontsize=13, fontweight="bold", va="center")


def panels(
    figure: Figure,
    rows: int = 1,
    columns: Sequence[float] = (1.85, 1),
    heights: Sequence[float] | None = None,
    wspace: float = 0.22,
    hspace: float | None = None,
    left: float = 0.1,
    right: float = 0.985,
    above_in: float = ABOVE_IN,
) -> list[list[Axes]]:
    """Divide the sheet between question and caption into panels, rows of columns.

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
            "hspace": hspace,
        },
    )
    return [list(row) for row in grid]


def canvas(figure: Figure) -> Axes:
    """Add axes without a frame over the whole sheet, in inches from its lower left corner."""
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, figure.get_figwidth())
    ax.set_ylim(0, figure.get_figheight())
    ax.set_axis_off()
    return ax


def legend(figure: Figure, handles: Sequence[object], columns: int | None = None) -> None:
    """Put one legend for all panels between the question and them."""
    top = 1 - _LEGEND_IN / figure.get_figheight()
    place = {"loc": "upper left", "bbox_to_anchor": (0.008, top), "borderaxespad": 0.0}
    figure.legend(
        handles=list(handles), ncols=columns or len(handles), fontsize=8, columnspacing=1.6, **place
    )


def trim_ticks(ax: Axes) -> None:
    """Drop ticks outside the limits, whose labels would stand beside a narrow panel."""
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        axis.set_ticks([value for value in axis.get_majorticklocs() if low <= value <= high])


def share_labels(grid: list[list[Axes]], anchors: Sequence[object]) -> None:
    """Keep horizontal labels below the lower of two rows, title and note above the upper one."""
    beside = grid[1][1]
    beside.set_title("")
    if anchors:
        beside.texts[0].set_visible(False)
    for ax in grid[0]:
        ax.set_xlabel("")
    for ax in (*grid[0], *grid[1]):
        ax.yaxis.label.set_size(9)


def sign(figure: Figure, caption: Caption, notes: Sequence[str], workload: str = "") -> None:
    """Write the caption: host, CPU budget, workload and dataset, then how to read the figure."""
    facts = [f"CPU budget {caption.budget}.", f"Dataset {caption.dataset_id}."]
    facts[1:1] = [f"Workload {workload}."] if workload else []
    lines = [f"{caption.host_line}.", " ".join(facts), " ".join(notes)]
    write_caption(figure, lines, _CAPTION_IN)


def write_caption(figure: Figure, lines: Sequence[str], top_in: float) -> None:
    """Write lines of small print, folded, from `top_in` above the lower edge."""
    figure.text(
        0.015,
        top_in / figure.get_figheight(),
        "\n".join(textwrap.fill(line, _CAPTION_WIDTH) for line in lines),
        fontsize=7.5,
        color=style.QUIET,
        va="top",
        linespacing=1.4,
    )
