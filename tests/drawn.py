"""What a drawn figure holds: its words, and whether they stay inside."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from ndblab.figures import Caption

HOST = "Test CPU, 2 logical CPUs, 1 NUMA node, 8 GiB, virtual machine, Linux 6.1.0-test"
DATASET = "multi_server_scaling-2cpu-scaled-quick-0123abcd-1"


def caption(budget: str = "scaled") -> Caption:
    return Caption(HOST, DATASET, budget, cpus=2.0)


def said(figure: Figure) -> str:
    """Give the question and the caption as one line."""
    return " ".join(" ".join(text.get_text() for text in figure.texts).split())


def written(figure: Figure) -> str:
    """Give every word of the picture as one line, panels and axes too."""
    return " ".join(" ".join(text.get_text() for text in texts(figure)).split())


def texts(figure: Figure) -> Iterator[Text]:
    for text in figure.findobj(Text):
        if text.get_text().strip() and text.get_visible():
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
