"""What a drawn figure holds: its words, and whether they stay inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from ndblab.figures import Caption, sheet

HOST = "Test CPU, 2 logical CPUs, 1 NUMA node, 8 GiB, virtual machine, Linux 6.1.0-test"
title = sheet.title
DATASET = "multi_server_scaling-2cpu-scaled-quick-0123abcd-1"


def caption(budget: str = "scaled") -> Caption:
    return Caption(HOST, DATASET, budget, cpus=2.0)


def said(figure: Figure) -> str:
    """Give title, notes and provenance as one line."""
    return " ".join(" ".join(text.get_text() for text in figure.texts).split())


def line_like(ax: Axes, heights: Iterable[float]) -> Line2D:
    """Give the drawn line with these heights; fails if there is none."""
    wanted = list(heights)
    for line in ax.lines:
        drawn = np.asarray(line.get_ydata(), float)
        if len(drawn) == len(wanted) and np.allclose(drawn, wanted):
            return line
    raise AssertionError(f"no line at {wanted}")


def dots(ax: Axes) -> list[float]:
    """Give where the marks of a forest are on its horizontal axis."""
    sets = [marks for marks in ax.collections if isinstance(marks, PathCollection)]
    return [float(x) for marks in sets for x, _ in np.asarray(marks.get_offsets())]


def written(figure: Figure) -> str:
    """Give every word of the picture as one line, panels and axes too."""
    figure.draw_without_rendering()
    return " ".join(" ".join(text.get_text() for text in texts(figure)).split())


def texts(figure: Figure) -> Iterator[Text]:
    """Give the words that are drawn: not those of ticks beyond the limits of an axis."""
    hidden = {
        id(label)
        for ax in figure.findobj(Axes)
        for axis in (ax.xaxis, ax.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for label in (tick.label1, tick.label2)
    }
    for text in figure.findobj(Text):
        if text.get_text().strip() and text.get_visible() and id(text) not in hidden:
            yield text


def outside(figure: Figure) -> list[str]:
    """Give the words that leave the picture."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts(figure)]
    return [
        words
        for words, box in boxes
        if box.x0 < 0 or box.y0 < 0 or box.x1 > figure.bbox.x1 or box.y1 > figure.bbox.y1
    ]
