"""Figures 6 and 7: throughput and p95 latency against clients, a line per number of servers.

In: the runs of a dataset, the published numbers. Out: a painted figure and its description.
Means and intervals are those of `summary`.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ndblab import formatting
from ndblab.figures import intervals, published_panel, selection, sheet, style
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.publication import Anchor
from ndblab.statistics import summary


@dataclass(frozen=True)
class Metric:
    """What a figure shows, and whether it marks the best of each line."""

    quantity: Quantity
    peaks: bool
    scaled_note: str


_QUOTA = "Each process has a quota: the brief's share of this host's CPUs."
SIX = Metric(
    QPS, True, f"{_QUOTA} Compare shapes; latency includes the quota's period.",
)  # fmt: skip
SEVEN = Metric(
    P95, False, f"{_QUOTA} Latency includes its period: compare it within this dataset only."
)


def paint(
    metric: Metric, figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption
) -> list[str]:
    """Draw a quantity against clients, a line for each number of servers."""
    lines = _lines(metric, tables)
    [[measured, beside]] = sheet.panels(figure)
    notes = _measured(measured, metric, lines)
    measured.set_title(caption.title())
    published_panel.against_clients(beside, metric.quantity, anchors)
    return notes + ([metric.scaled_note] if caption.is_scaled else [])


def describe(metric: Metric, tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the best means (Figure 6) or each line's range (7), and what was published."""
    quantity = metric.quantity
    lines = _lines(metric, tables)
    counts = formatting.listed(str(servers) for servers, _ in lines)
    plural = "server" if counts == "1" else "servers"
    words = [
        f"{quantity.name} ({quantity.unit}) against clients, one line each for {counts} MySQL "
        f"{plural}."
    ]
    if metric.peaks:
        best = summary.peaks(pd.concat([line for _, line in lines])).itertuples()
        each = [
            f"{formatting.plain(p.qps_mean)} with {p.servers} at "
            f"{formatting.count(p.clients, 'client')}"
            for p in best
        ]
        words.append(f"The best means are {formatting.listed(each)}.")
    else:
        mean = f"{quantity.metric}_mean"
        known = [(servers, line[line[mean].notna()]) for servers, line in lines]
        each = [
            f"from {formatting.plain(line[mean].iloc[0])} to "
            f"{formatting.plain(line[mean].iloc[-1])} ms with {servers} "
            f"({line['clients'].iloc[0]} to {line['clients'].iloc[-1]} clients)"
            for servers, line in known
            if len(line)
        ]
        words.append(f"It goes {formatting.listed(each)}.")
    return words + published_panel.sentence(anchors)


def _measured(ax: Axes, metric: Metric, lines: list[tuple[int, pd.DataFrame]]) -> list[str]:
    """Draw the measured lines with their bands; return notes about them."""
    quantity = metric.quantity
    points = pd.concat([line for _, line in lines])
    mean = f"{quantity.metric}_mean"
    for servers, line in lines:
        look = {"color": style.colour(servers), "marker": style.marker(servers)}
        band = line["low"], line["high"]
        ax.fill_between(line["clients"], *band, color=look["color"], alpha=0.2, lw=0)
        ax.plot(line["clients"], line[mean], zorder=3, **look)
        idle = line[line["idle_servers"]]
        ax.plot(idle["clients"], idle[mean], ls="", mfc="white", zorder=4, **look)
        partly = line[(line["failed"] > 0) & line[mean].notna()]
        ax.plot(partly["clients"], partly[mean], "x", color="black", ms=9, mew=1.1, zorder=6)
        lost = line[line[mean].isna()]
        at_bottom = {"ydata": [0.02] * len(lost), "transform": ax.get_xaxis_transform()}
        ax.add_line(Line2D(lost["clients"], ls="", color=look["color"], marker="x", **at_bottom))
    labels = {servers: formatting.count(servers, "server") for servers, _ in lines}
    if metric.peaks:
        for peak in summary.peaks(points).itertuples():
            ring = {"ms": 12, "mfc": "none", "mew": 1.3, "zorder": 5}
            ax.plot(peak.clients, peak.qps_mean, "o", color=style.colour(peak.servers), **ring)
            labels[peak.servers] += f": {formatting.plain(peak.qps_mean)}"
    handles = [style.server_key(n, label) for n, label in labels.items()]
    title = "Best mean, queries/s" if metric.peaks else "MySQL servers"
    ax.legend(
        handles=handles[::-1], loc="upper left", title=title, title_fontsize=8.5, alignment="left"
    )
    quantity.against_clients(ax, points["clients"], points[mean].max())
    # The means set the limits, with room for usual bands and for the legend at the upper left.
    least, most = points[mean].min(), points[mean].max()
    highest = points["high"].max() if points["high"].notna().any() else most
    legend_high = 0.055 * (len(lines) + 1) + 0.06
    middle = math.sqrt(points["clients"].min() * points["clients"].max())
    under_legend = points.loc[points["clients"] <= middle, mean].max() / (1 - legend_high)
    room = max(1.08 * most, min(1.05 * highest, 1.5 * most), under_legend)
    ax.set_ylim(*((least / 2, most * 2.5) if quantity.log else (0, room)))
    bottom, top = ax.get_ylim()
    cut = bool((points["high"] > top).any() or (points["low"] < bottom).any())
    return _notes(metric, points, cut)


def _notes(metric: Metric, points: pd.DataFrame, cut: bool) -> list[str]:
    """Describe how to read the figure."""
    notes = [intervals.described(points["runs"])]
    notes += ["Some bands reach beyond the panel."] if cut and points["runs"].max() > 2 else []
    notes += ["Rings: best mean."] if metric.peaks else []
    if points["idle_servers"].any():
        notes.append("Hollow: fewer clients than servers, so some servers are idle.")
    marked = points[points["failed"] > 0]
    shown = [
        f"{formatting.count(p.servers, 'server')}, {formatting.count(p.clients, 'client')}: "
        f"{p.marks}"
        for p in marked.itertuples()
    ]
    if shown:
        rest = f", and {len(shown) - 2} more points" if len(shown) > 2 else ""
        notes.append(f"Crosses: {textwrap.shorten('; '.join(shown[:2]), 150)}{rest}.")
    return notes


def _lines(metric: Metric, tables: Tables) -> list[tuple[int, pd.DataFrame]]:
    """Average the points; return servers and line, sorted by clients, with the ends of its band."""
    keys = ["servers", "clients"]
    points, runs = summary.points(tables["runs"]), selection.good(tables["runs"])
    bands = intervals.means(runs, keys, metric.quantity.metric)
    points = points.merge(bands[[*keys, "low", "high"]], on=keys, how="left").sort_values(keys)
    return [(int(servers), line) for servers, line in points.groupby("servers")]
