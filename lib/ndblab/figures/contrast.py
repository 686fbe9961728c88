"""Contrasts, block by block: the ratio of each, and the interval that narrows from look to look.

In: slices of a dataset, the ranges that claims allow. Out: a painted figure and its description.
Every whole block is a mark. The intervals are those that verdicts come from.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures import selection
from ndblab.figures.old_sheet import Caption
from ndblab.figures.selection import Tables
from ndblab.judging.publication import Anchor
from ndblab.statistics import contrasts
from ndblab.statistics.estimate import Estimate
from ndblab.statistics.sequential import LOOKS

MOST = 8
"""Contrasts that one figure shows, the first ones of a dataset."""
_ALLOWED = style.SERVER
_TITLE_WIDTH = 64
_NEAR = 1.4
_PANEL_IN, _AROUND_IN = 1.62, 2.7
_COLUMNS = ["servers", "clients", "transporter", "workload", "variant"]


@dataclass(frozen=True)
class Shown:
    """A contrast: its sides in words, its logarithms of ratios, and its looks.

    `starts` is the number of the cluster start of each block. A level has one side; its ratios are
    to its own mean.
    """

    name: str
    words: str
    logs: np.ndarray
    starts: np.ndarray
    level: bool

    @property
    def ratios(self) -> np.ndarray:
        """Return the ratio of each block."""
        return np.exp(contrasts.of_blocks(self.logs))

    def looks(self) -> list[tuple[int, Estimate]]:
        """Return the interval at each look so far, with the number of its blocks."""
        return [(n, contrasts.ratio(self.logs[:n])) for n in LOOKS if n <= len(self.logs)]

    @property
    def result(self) -> str:
        """Return the ratio with its last interval as text."""
        if self.level:
            return f"one side, {formatting.count(len(self.logs), 'block')}"
        found = contrasts.ratio(self.logs)
        blocks = formatting.count(len(self.logs), "block")
        if not found.bounded:
            return f"{found.value:.3f}, no interval from {blocks}"
        return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f}), {blocks}"


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw a panel for each contrast, two beside each other."""
    shown, left_out = _shown(tables)
    columns = min(2, len(shown))
    rows = math.ceil(len(shown) / columns)
    figure.set_figheight(_AROUND_IN + _PANEL_IN * rows + 0.42 * (rows - 1))
    grid = sheet.panels(
        figure, rows=rows, columns=(1,) * columns, wspace=0.26, hspace=0.62, left=0.09,
        above_in=sheet.ABOVE_WITH_LEGEND_IN + 0.16,
    )  # fmt: skip
    bounds = tables.get("bounds", pd.DataFrame(columns=["contrast", "of", "low", "high"]))
    panels = [ax for row in grid for ax in row]
    cut = False
    for ax, contrast in zip(panels, shown, strict=False):
        cut |= _panel(ax, contrast, bounds[bounds["contrast"] == contrast.name])
    for ax in panels[len(shown) :]:
        ax.remove()
    for ax in panels[max(0, len(shown) - columns) : len(shown)]:
        ax.set_xlabel("Block, in the order of measuring")
    sheet.legend(figure, _keys(bounds["contrast"].isin([c.name for c in shown]).any()))
    looks = formatting.listed(str(n) for n in LOOKS[:5])
    notes = [
        "The interval holds the true ratio with 95 % for all looks together; it changes only at a "
        f"look, after {looks} blocks and so on."
    ]
    notes += ["Dotted lines: a new cluster start."] if any(map(_begun, shown)) else []
    notes += ["Some intervals or marks reach beyond the panel."] if cut else []
    notes += [f"Not shown: {formatting.listed(left_out)}."] if left_out else []
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the result of each contrast, and how its interval narrowed."""
    words = [
        "Throughput of side A over side B of each contrast, block by block, with its interval."
    ]
    for contrast in _shown(tables)[0]:
        text = f"{contrast.name} ({contrast.words}): {contrast.result}"
        looks = contrast.looks()
        if len(looks) > 1 and not contrast.level:
            (n, first), (_, last) = looks[0], looks[-1]
            widths = [100 * math.log(x.high / x.low) / 2 for x in (first, last)]
            text += (
                f"; to either side {widths[0]:.1f} % after {n} blocks, {widths[1]:.1f} % at last"
            )
        words.append(f"{text}.")
    return words


def _shown(tables: Tables) -> tuple[list[Shown], list[str]]:
    """Return the contrasts to show, and the names of those that are too many.

    Raises
    ------
    LabError
        If there is no whole block.
    """
    slices, words = tables["slices"], tables.get("sides", pd.Series(dtype=str))
    found = []
    for name in dict.fromkeys(slices["contrast"].astype(str)):
        try:
            whole = contrasts.whole(slices, name)
        except MissingData:
            continue
        level = whole["side"].nunique() == 1
        logs = (
            contrasts.levels(slices, name, "qps") if level else contrasts.log_ratios(slices, name)
        )
        starts = whole.groupby("block")["start"].first().to_numpy()
        logs = logs - logs.mean() if level else logs
        found.append(Shown(name, words.get(name) or _in_words(whole), logs, starts, level))
    if not found:
        raise selection.nothing_to_draw("no whole block of a contrast")
    return found[:MOST], [contrast.name for contrast in found[MOST:]]


def _in_words(whole: pd.DataFrame) -> str:
    """Say in what the sides differ."""
    points = whole.groupby("side")[_COLUMNS].first().astype(str)
    if contrasts.B not in points.index:
        return ", ".join(selection.in_words(whole.iloc[0]))
    a, b = points.loc[contrasts.A], points.loc[contrasts.B]
    differ = [f"{key} {a[key]} over {b[key]}" for key in _COLUMNS if a[key] != b[key]]
    return ", ".join(differ) or "identical sides"


def _panel(ax: Axes, contrast: Shown, bounds: pd.DataFrame) -> bool:
    """Draw one contrast; return whether something lies beyond the panel."""
    number, looks = contrast.ratios.size, contrast.looks()
    ends = [n for n, _ in looks[1:]] + [number + 0.5]
    low, high = _limits(contrast, looks, [*bounds["low"], *bounds["high"]])
    for row in bounds.itertuples():
        inside = max(row.low, low), min(row.high, high)
        if inside[0] < inside[1]:
            ax.axhspan(*inside, color=_ALLOWED, alpha=0.16, lw=0)
        for edge in (row.low, row.high):
            if low < edge < high:
                ax.axhline(edge, color=_ALLOWED, lw=1.0, ls="--")
    ax.axhline(1, color=style.INK, lw=0.9)
    for (n, found), end in zip(looks, ends, strict=False):
        if contrast.level:
            break
        ax.fill_between([n, end], found.low, found.high, color=style.THROUGHPUT, alpha=0.25, lw=0)
        ax.plot([n, end], [found.value] * 2, color=style.THROUGHPUT, lw=1.8)
    for n in _begun(contrast):
        ax.axvline(n - 0.5, color=style.QUIET, lw=0.9, ls=":")
    x = np.arange(1, number + 1)
    ax.plot(x, contrast.ratios, "o", mfc="white", mec=style.INK, mew=0.9, ms=3.6, zorder=4)
    ax.set_xlim(0.5, max(number, LOOKS[0]) + 0.5)
    ax.set_ylim(low, high)
    ax.set_ylabel("qps over its mean" if contrast.level else "qps, A over B", fontsize=8.4)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    ax.yaxis.set_major_locator(MaxNLocator(4))
    sheet.trim_ticks(ax)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    title = textwrap.shorten(f"{contrast.name}: {contrast.words}", _TITLE_WIDTH, placeholder=" ...")
    ax.set_title(f"{title}\n{contrast.result}", fontsize=8.2, pad=4)
    seen = [*contrast.ratios, *(v for _, e in looks if not contrast.level for v in (e.low, e.high))]
    return min(seen) < low or max(seen) > high


def _limits(
    contrast: Shown, looks: list[tuple[int, Estimate]], edges: list[float]
) -> tuple[float, float]:
    """Return limits that hold the marks, the last interval, and equality and bounds if near."""
    kept = [*np.quantile(contrast.ratios, (0.01, 0.99))]
    middle = float(np.median(contrast.ratios))
    if looks and not contrast.level:
        kept += looks[-1][1][1:]
    kept += [edge for edge in (1.0, *edges) if middle / _NEAR < edge < middle * _NEAR]
    low, high = min(kept), max(kept)
    room = 0.1 * (high - low) or 0.01
    return max(0.0, low - room), high + room


def _begun(contrast: Shown) -> list[int]:
    """Return the blocks, counted from 1, that begin a cluster start; none if most of them do."""
    changes = [int(n) + 2 for n in np.flatnonzero(np.diff(contrast.starts))]
    return changes if len(changes) <= contrast.starts.size / 3 else []


def _keys(bounded: bool) -> list[object]:
    keys: list[object] = [
        Line2D([], [], ls="", marker="o", mfc="white", mec=style.INK, ms=4, label="one block"),
        Line2D([], [], color=style.THROUGHPUT, label="mean at a look"),
        Patch(color=style.THROUGHPUT, alpha=0.25, label="its repeated 95 % interval"),
    ]
    if bounded:
        keys.append(Patch(color=_ALLOWED, alpha=0.2, label="allowed by the claim or goal"))
    return keys
