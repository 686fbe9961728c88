"""Curves against clients or time: means with bands or whiskers, labelled at their ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.ticker import LogLocator

from ndblab.figures import points, sheet, style
from ndblab.figures.quantity import Quantity
from ndblab.figures.style import Look
from ndblab.formatting import listed

_LABEL_IN = 0.2
"""Least distance between the labels of two lines."""
_ACROSS = 3
"""Panels side by side on a tall sheet."""
_FARTHEST = 3.0
"""How far an axis follows a band, as a factor of the curve, which thus takes a third at least."""


def against_clients(
    ax: Axes,
    means: pd.DataFrame,
    quantity: Quantity,
    by: str,
    looks: Mapping[object, Look],
    labelled: bool = True,
    beside: Sequence[pd.DataFrame] = (),
) -> None:
    """Draw a line with its band for each value of `by`.

    Parameters
    ----------
    means : `clients`, `mean`, `low`, `high` and `by`, as from `intervals.means`.
    labelled : whether each line is labelled at its right end.
    beside : the means of panels that share the vertical axis.
    """
    _lines(means, by, looks).on(ax).plot()
    scale(ax, pd.concat([means, *beside]), quantity)
    _name_points(ax, means, by, looks)
    cut(ax, means, [looks[key].label if key in looks else "" for key in means[by]])
    if labelled:
        shown = means.dropna(subset="mean").sort_values("clients")
        shown = shown.groupby(by, observed=True)[["clients", "mean"]].last()
        ends = [(looks[key], *row) for key, row in zip(shown.index, shown.to_numpy(), strict=True)]
        label_ends(ax, ends)


def facets(
    figure: FigureBase,
    means: pd.DataFrame,
    quantity: Quantity,
    by: str,
    looks: Mapping[object, Look],
) -> dict[object, Axes]:
    """Draw a panel for each value of `by`, with the others' lines pale behind; return the panels.

    Every panel is titled with the label of its line.
    """
    keys = [key for key in looks if key in set(means[by])]
    every = so.Lines(color=style.PALE, linewidth=0.8)
    wrap = math.ceil(len(keys) / sheet.rows_of(figure, len(keys), _ACROSS))
    (_lines(means, by, looks, every).facet(by, order=keys, wrap=wrap).on(figure).plot())
    axes = dict(zip(keys, figure.axes, strict=True))
    shown = means[means[by].isin(keys)]
    for key, ax in axes.items():
        ax.set_title(looks[key].label, color=looks[key].colour)
        scale(ax, means, quantity)
        _name_points(ax, means[means[by] == key], by, looks)
        ax.label_outer()
        if ax is not figure.axes[-1 if wrap < len(keys) else len(keys) // 2]:
            ax.set_xlabel("")
    cut(figure.axes[0], shown, [looks[key].label for key in shown[by]])
    return axes


def _lines(
    means: pd.DataFrame, by: str, looks: Mapping[object, Look], behind: so.Mark | None = None
) -> so.Plot:
    """Declare a line with its band for each value of `by` that has a look."""
    shown = means[means[by].isin(list(looks))].astype({by: object})
    plot = style.plot(shown, x="clients", y="mean", color=by)
    if behind is not None:
        plot = plot.add(behind, group=by, color=None, col=None, legend=False)
    return (
        plot.add(so.Band(alpha=0.18), ymin="low", ymax="high", legend=False)
        .add(so.Line(pointsize=5), marker=by, linestyle=by, legend=False)
        .scale(
            color={key: look.colour for key, look in looks.items()},
            marker={key: look.marker for key, look in looks.items()},
            linestyle={key: look.dashes for key, look in looks.items()},
        )
        .label(x="", y="")
    )


def _name_points(ax: Axes, means: pd.DataFrame, by: str, looks: Mapping[object, Look]) -> None:
    shown = means[means[by].isin(list(looks))].dropna(subset="mean")
    names = [looks[key].label for key in shown[by]]
    points.add(ax, shown, shown["clients"], shown["mean"], names)


def scale(ax: Axes, means: pd.DataFrame, quantity: Quantity) -> None:
    """Scale and label both axes, with room for bands, unless these would squeeze the curves."""
    least, most = float(means["mean"].min()), float(means["mean"].max())
    ends = means[["mean", "low", "high"]].to_numpy(float)
    quantity.against_clients(ax, means["clients"], most)
    lowest, highest = float(np.nanmin(ends)), float(np.nanmax(ends))
    if quantity.log:
        # A third of the axis, here too, if the curves span more than a factor of 3.
        reach = max(_FARTHEST, most / least if least else 0.0)
        ax.set_ylim(max(lowest / 1.3, least / reach), min(highest * 1.3, most * reach))
        low, high = ax.get_ylim()
        if 3 * _LABEL_IN * math.log10(high / low) > 0.7 * sheet.size_in(ax)[1]:
            ax.yaxis.set_major_locator(LogLocator(base=10))
    else:
        ax.set_ylim(0, top(most, highest))


def top(most: float, highest: float) -> float:
    """Return the upper end of an axis from zero, of the largest mean and the highest bound.

    It holds the bound, unless the curves would take less than a third of the axis.
    """
    return max(1.08 * most, min(1.05 * highest, _FARTHEST * most))


def cut(ax: Axes, means: pd.DataFrame, names: Sequence[str], what: str = "Bands") -> None:
    """Remark which bands leave a panel, by the names of their lines and by clients."""
    low, high = ax.get_ylim()
    beyond = (means["low"] < low) | (means["high"] > high)
    rows = means.assign(name=list(names))[beyond]
    where = [
        f"{name} at {listed(f'{clients:g}' for clients in own['clients'])}".strip()
        for name, own in rows.groupby("name", sort=False)
    ]
    if where:
        sheet.remark(ax, f"{what} cut at the edge: {'; '.join(where)}.")


def label_ends(ax: Axes, ends: Sequence[tuple[Look, float, float]]) -> None:
    """Label lines at their right ends, with labels moved apart where they would overlap."""
    to_axes = ax.transData + ax.transAxes.inverted()
    ends = sorted(ends, key=lambda end: end[2])
    heights = [float(to_axes.transform((x, y))[1]) for _, x, y in ends]
    apart = _LABEL_IN / (0.66 * sheet.size_in(ax)[1])
    places = spread_out(heights, apart)
    for (look, *_), y in zip(ends, places, strict=True):
        ax.annotate(
            look.label, (1, y), (4, 0), xycoords="axes fraction", textcoords="offset points",
            va="center", fontsize=9, color=look.colour, annotation_clip=False,
        )  # fmt: skip


def spread_out(places: Sequence[float], apart: float) -> list[float]:
    """Move sorted places apart by as little as needed, in order, and within 0 to 1 if they fit."""
    moved = np.clip(np.array(places, float), 0, 1)
    for _ in range(100):
        overlaps = apart - np.diff(moved)
        if not (overlaps > 1e-6).any():
            break
        push = np.where(overlaps > 0, overlaps / 2, 0)
        moved[:-1] -= push
        moved[1:] += push
    return [float(place) for place in moved]
