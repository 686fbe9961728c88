"""Prediction errors: the capacity model beside simpler methods.

In: the error of each prediction at each measured point, and their medians. Out: a painted figure
and its description. It leaves no point out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ndblab import formatting
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures.old_sheet import Caption
from ndblab.figures.quantity import P95, QPS
from ndblab.figures.selection import Tables
from ndblab.judging.publication import Anchor

_LEAST_PCT = 0.1
"""Lower end of the logarithmic axis, where smaller errors are drawn."""
_LANES = (-0.14, 0.34)
"""Range of the marks about the middle of a method, downwards; its median is written above them."""
_WORDS = -0.32
_PANELS = ((QPS, "Throughput"), (P95, "p95 latency"))


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the error of every point: a row per method, and in it a lane per number of servers."""
    errors, verdicts = tables["errors"], tables["verdicts"]
    names = list(dict.fromkeys(verdicts["name"]))
    counts = sorted(int(n) for n in errors["servers"].unique())
    most = max(100.0, float(errors["ape_pct"].max()))
    [axes] = sheet.panels(
        figure, columns=(1, 1), wspace=0.06, left=0.16, above_in=sheet.ABOVE_WITH_LEGEND_IN
    )
    for ax, (quantity, title) in zip(axes, _PANELS, strict=True):
        own, medians = (t[t["metric"] == quantity.metric] for t in (errors, verdicts))
        _panel(ax, names, counts, own, medians)
        _axes(ax, names, most)
        points = len(own[["servers", "clients"]].drop_duplicates())
        ax.set_title(f"{title}, {formatting.count(points, 'point')}")
    axes[0].set_yticks(range(len(names)), names)
    handles = [style.server_key(n) for n in counts]
    for handle in handles:
        handle.set(linestyle="", markeredgewidth=0)
    handles.append(Line2D([], [], color=style.INK, lw=2.6, label="median of all"))
    handles.append(Line2D([], [], color=style.INK, ls="--", lw=1.1, label="goal for the median"))
    sheet.legend(figure, handles)
    notes = [
        "Each mark is a point: a number of servers and clients, measured, and predicted from the "
        "runs with one server only. Nothing was fitted to these points, and none is left out."
    ]
    if (errors["ape_pct"] < _LEAST_PCT).any():
        notes.append(f"Errors below {_LEAST_PCT} % are drawn there.")
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the median error of each method, its 90th percentile and the goal."""
    words = ["Absolute error of each prediction, in percent of the measured mean."]
    for quantity, title in _PANELS:
        rows = tables["verdicts"][tables["verdicts"]["metric"] == quantity.metric]
        each = [
            f"{name} {formatting.plain(median)} % (90th percentile {formatting.plain(p90)} %)"
            for name, median, p90 in zip(
                rows["name"], rows["median_pct"], rows["p90_pct"], strict=True
            )
        ]
        goals = rows["goal_pct"].dropna()
        goal = f"; the goal is at most {formatting.plain(goals.iloc[0])} %" if len(goals) else ""
        number = formatting.count(int(rows["points"].max()), "point")
        words.append(f"{title}, median over {number}: {formatting.listed(each)}{goal}.")
    return words


def _panel(
    ax: Axes, names: list[str], counts: list[int], errors: pd.DataFrame, verdicts: pd.DataFrame
) -> None:
    lanes = np.linspace(*_LANES, len(counts))
    for place, name in enumerate(names):
        for lane, servers in zip(lanes, counts, strict=True):
            here = errors[(errors["name"] == name) & (errors["servers"] == servers)]
            look = {"color": style.colour(servers), "marker": style.marker(servers)}
            x = here["ape_pct"].clip(lower=_LEAST_PCT)
            ax.plot(x, [place + lane] * len(here), ls="", ms=4.6, alpha=0.85, mew=0, **look)
        for row in verdicts[verdicts["name"] == name].itertuples():
            ends = [place + _WORDS - 0.07, place + 0.43]
            x = max(row.median_pct, _LEAST_PCT)
            ax.plot([x, x], ends, color=style.INK, lw=2.6, zorder=4)
            ax.annotate(
                f"{formatting.plain(row.median_pct)} %", (x, place + _WORDS),
                (4, 0), textcoords="offset points", fontsize=8.5, va="center",
                fontweight="bold", zorder=5,
            )  # fmt: skip
    for goal in verdicts["goal_pct"].dropna().unique():
        ax.axvline(goal, color=style.INK, ls="--", lw=1.1, zorder=2)


def _axes(ax: Axes, names: list[str], most: float) -> None:
    ax.set_xscale("log")
    ax.set_xlim(_LEAST_PCT * 0.85, most * 1.6)
    ax.xaxis.set_major_locator(LogLocator(base=10, numticks=20))
    ax.xaxis.set_minor_locator(NullLocator())
    sheet.trim_ticks(ax)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: formatting.exact(value)))
    ax.set_xlabel("Absolute error, percent of the measured mean")
    ax.set_ylim(len(names) - 0.48, -0.56)
    ax.set_yticks(range(len(names)), [""] * len(names))
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    for place in range(1, len(names)):
        ax.axhline(place - 0.5, color="#bbbbbb", lw=0.7)
