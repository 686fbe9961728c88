"""The sheet of a figure: what stands outside of its panels."""

from __future__ import annotations

import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ndblab.figures import sheet

WIDER_IN_A_BROWSER = 1.03


@pytest.mark.parametrize("width_in", [sheet.WIDTH_IN, sheet.TALL_IN])
def test_lines_leave_room_for_browsers(width_in: float) -> None:
    """No line of wide letters is cut, though browsers write some percent wider."""
    head = sheet.Head("READ COMMITTED LOCKS MOST " * 4, ["CPU was not measured: WHERE, WHEN. " * 6])
    with sheet.page(width_in=width_in) as figure:
        figure.subplots()
        sheet.sign(figure, head, "Dataset MMM_WWW-2CPU. " * 10)
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [text.get_window_extent(renderer) for text in figure.texts]
    assert len(boxes) == 3
    assert all(WIDER_IN_A_BROWSER * box.x1 <= figure.bbox.width for box in boxes)
    assert all(upper.y0 >= lower.y1 for upper, lower in itertools.pairwise(boxes))
