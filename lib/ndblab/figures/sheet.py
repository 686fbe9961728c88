"""The sheet of every figure: its answer above, how to read it, panels, and whose data they are."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure, FigureBase, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.textpath import text_to_path

from ndblab.figures import points, style

WIDTH_IN, HEIGHT_IN, DPI = 7.2, 4.6, 150
DIAGRAM_IN = 8.0
"""Width of a sheet that is a drawing."""
TALL_IN = 4.2
"""Width of a tall sheet, whose letters can be read on the screen of a phone."""
_TALL_LABEL = 30
"""Characters in a line of an axis's label on a tall sheet."""
_width_in: ContextVar[float] = ContextVar("width_in", default=WIDTH_IN)
_MARGIN_IN, _GAP_IN = 0.1, 0.08
_LEFT = 0.012
"""Where lines begin, as a share of the sheet's width."""
_LONGEST = 0.955
"""Share of the sheet's width that a line may take: browsers draw text a few percent wider."""


class Head(NamedTuple):
    """What a figure found, in one line or two, and how to read it, in short sentences.

    With `undivided`, no quota divided the CPUs in what it shows, whatever the budget.
    """

    title: str
    notes: Sequence[str] = ()
    undivided: bool = False


@dataclass(frozen=True)
class Caption:
    """Whose measurement a figure shows.

    `budget` is the CPU budget. `cpus` is the number of usable logical CPUs of the host: with it,
    figures draw the share of them that a process uses; without it, no share.
    """

    host_line: str
    dataset_id: str
    budget: str
    cpus: float | None = None

    @property
    def is_scaled(self) -> bool:
        """Whether CPUs are divided by quotas."""
        return self.budget == "scaled"

    def line(self, workload: str = "", undivided: bool = False) -> str:
        """Return the provenance: host, CPU budget, workload and dataset."""
        of_workload = f" Workload {workload}." if workload else ""
        here = ", here without quotas" if undivided and self.is_scaled else ""
        budget = f"CPU budget {self.budget}{here}."
        return f"{self.host_line}. {budget}{of_workload} Dataset {self.dataset_id}."


class _Lines(NamedTuple):
    """How lines outside the panels are written: most characters, height, and font."""

    characters: int
    line_in: float
    font: Mapping[str, object]


_TITLE = _Lines(68, 0.22, {"size": 12, "weight": "bold"})
_NOTES = _Lines(118, 0.15, {"size": 8.2})
_SOURCE = _Lines(138, 0.125, {"size": 6.8})


class _Page(Figure):
    """A figure that keeps the lab's look when it is rendered, as ticks are made only then.

    `remarks` are notes on what its panels cut off.
    """

    def __init__(self, *given, **named) -> None:
        super().__init__(*given, **named)
        self.remarks: list[str] = []

    def draw(self, renderer: RendererBase) -> None:
        with style.look():
            super().draw(renderer)


@contextmanager
def page(height_in: float = HEIGHT_IN, width_in: float | None = None) -> Iterator[Figure]:
    """Yield an empty figure in the lab's look; its panels share the room that `sign` leaves."""
    with style.look():
        size = width_in or _width_in.get(), height_in
        yield _Page(figsize=size, dpi=DPI, facecolor="white")


def diagram(height_in: float) -> AbstractContextManager[Figure]:
    """Yield an empty sheet for a drawing, wider than other sheets unless these are tall."""
    return page(height_in, None if _width_in.get() < WIDTH_IN else DIAGRAM_IN)


@contextmanager
def tall() -> Iterator[None]:
    """Make sheets tall, for narrow screens; those with a width of their own keep it."""
    token = _width_in.set(TALL_IN)
    try:
        yield
    finally:
        _width_in.reset(token)


def is_tall(part: FigureBase) -> bool:
    """Return whether a part belongs to a tall sheet."""
    return part.get_figure(root=True).get_figwidth() < WIDTH_IN


def panels(part: FigureBase, number: int, **given) -> list[Axes]:
    """Add panels side by side; on a tall sheet, one below another."""
    rows = rows_of(part, number, 1)
    grid = part.subplots(rows, number if rows == 1 else 1, squeeze=False, **given)
    return list(grid.flat)


def rows_of(part: FigureBase, number: int, across: int) -> int:
    """Return in how many rows panels stand, and make room for them.

    Parameters
    ----------
    across : how many fit side by side on a tall sheet.
    """
    rows = math.ceil(number / across) if is_tall(part) else 1
    grow(part, (rows - 1) * part.bbox.height / part.get_figure(root=True).dpi)
    return rows


def grow(part: FigureBase, by_in: float) -> None:
    """Make a part of a sheet higher, and the sheet with it."""
    if isinstance(part, SubFigure):
        parent = part.get_figure(root=False)
        # There is no public way to get a subfigure's place in its parent.
        spec = part._subplotspec
        grid, parent_in = spec.get_gridspec(), parent.bbox.height / part.dpi
        shares = grid.get_height_ratios()
        heights = [parent_in * share / sum(shares) for share in shares]
        heights[spec.rowspan.start] += by_in
        grow(parent, by_in)
        grid.set_height_ratios(heights)
        for subfigure in parent.subfigs:
            subfigure._redo_transform_rel_fig()
    else:
        part.set_figheight(part.get_figheight() + by_in)


def remark(ax: Axes, words: str) -> None:
    """Add a sentence on what a panel cuts off to the notes that `sign` writes."""
    page = ax.get_figure(root=True)
    if isinstance(page, _Page):
        page.remarks.append(words)


def sign(figure: Figure, head: Head, source: str) -> None:
    """Write title and notes above the panels, and the provenance below."""
    points.finish(figure)
    if is_tall(figure):
        for ax in figure.axes:
            ax.set_xlabel(textwrap.fill(ax.get_xlabel(), _TALL_LABEL))
    notes = " ".join([*head.notes, *(figure.remarks if isinstance(figure, _Page) else ())])
    written = (head.title, _TITLE), (notes, _NOTES), (source, _SOURCE)
    *above_in, below_in = (lines.line_in * _more(figure, text, lines) for text, lines in written)
    _make_room(figure, sum(above_in), below_in)
    height_in = figure.get_figheight()
    y_in = height_in - _MARGIN_IN
    y_in -= _write(figure, head.title, _TITLE, y_in, color=style.INK)
    if notes:
        y_in -= _write(figure, notes, _NOTES, y_in - 0.02) + 0.02
    below_in = _MARGIN_IN / 2 + _write(figure, source, _SOURCE, None)
    rect = (0.005, below_in / height_in, 0.99, (y_in - _GAP_IN - below_in) / height_in)
    if any(ax.get_subplotspec() for ax in figure.axes):
        figure.set_layout_engine(ConstrainedLayoutEngine(rect=rect))


def _make_room(figure: Figure, above_in: float, below_in: float) -> None:
    """Make a sheet higher at both ends; panels with places of their own keep size and distance."""
    before_in = figure.get_figheight()
    grow(figure, above_in + below_in)
    after_in = figure.get_figheight()
    for ax in figure.axes:
        if ax.get_subplotspec() is None:
            left, low, wide, high = ax.get_position().bounds
            low, high = (low * before_in + below_in) / after_in, high * before_in / after_in
            ax.set_position((left, low, wide, high))


def title(figure: Figure) -> str:
    """Return the title of a signed figure, on one line."""
    return figure.texts[0].get_text().replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")


def _write(
    figure: Figure, text: str, lines: _Lines, top_in: float | None, color: str = style.QUIET
) -> float:
    """Write folded lines below `top_in`, or else at the lower edge; return their height."""
    folded = _folded(text, lines, figure.get_figwidth())
    y_in = _MARGIN_IN / 2 if top_in is None else top_in
    figure.text(
        _LEFT, y_in / figure.get_figheight(), "\n".join(folded), linespacing=1.25,
        va="bottom" if top_in is None else "top", color=color, fontproperties=lines.font,
    )  # fmt: skip
    return lines.line_in * len(folded)


def _folded(text: str, lines: _Lines, width_in: float) -> list[str]:
    """Fold a text into lines that a sheet of this width has room for."""
    # A number keeps its percent sign on its line.
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    font, characters = FontProperties(**lines.font), round(lines.characters * width_in / WIDTH_IN)
    while True:
        folded = textwrap.wrap(text, characters, break_on_hyphens=False)
        if all(_width_in_font(line, font) <= _LONGEST * width_in for line in folded):
            return folded
        characters -= 1


def _width_in_font(line: str, font: FontProperties) -> float:
    """Return the width of a line in inches."""
    return text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] / 72


def _more(figure: Figure, text: str, lines: _Lines) -> int:
    """Return how many more lines a text takes than on a wide sheet; 0 unless the sheet is tall."""
    if not is_tall(figure):
        return 0
    here = _folded(text, lines, figure.get_figwidth())
    return len(here) - len(_folded(text, lines, WIDTH_IN))


def canvas(figure: Figure) -> Axes:
    """Add axes without a frame over the whole sheet, in inches from its lower left corner."""
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, figure.get_figwidth())
    ax.set_ylim(0, figure.get_figheight())
    ax.set_axis_off()
    ax.set_in_layout(False)
    return ax


def size_in(ax: Axes) -> tuple[float, float]:
    """Return roughly how wide and high a panel is, before the sheet is laid out."""
    spec, box, dpi = ax.get_subplotspec(), ax.figure.bbox, ax.get_figure(root=True).dpi
    grid = spec.get_gridspec()
    wide, high = len(spec.colspan) / grid.ncols, len(spec.rowspan) / grid.nrows
    return wide * box.width / dpi, high * box.height / dpi


def nothing(ax: Axes, text: str = "not measured") -> None:
    """Say in an empty panel that it has nothing to show."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=style.QUIET)
    ax.set_xticks([])
    ax.set_yticks([])
