"""Figures 6 and 7: throughput and p95 latency against clients, a line per number of servers.

In: the runs of a dataset, the published numbers. Out: a `Figure`, and the same in words.
Means and bands are those of `summary`; here nothing is averaged.
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

from ndblab.analysis import estimate, formatting, summary
from ndblab.claims.publication import Anchor
from ndblab.figures import intervals, published, selection, sheet, style
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption


@dataclass(frozen=True)
class Question:
    """What a figure asks of a sweep over servers and clients."""

    quantity: Quantity
    text: str
    peaks: bool
    scaled_note: str


SIX = Question(
    QPS,
    "How far does doubling the MySQL servers raise throughput?",
    peaks=True,
    scaled_note="Every process has the brief's share of this host's CPUs as a quota, so compare "
    "shapes; latency carries the quota's period.",
)
SEVEN = Question(
    P95,
    "Do twice the MySQL servers carry twice the clients at the same latency?",
    peaks=False,
    scaled_note="Every process has the brief's share of this host's CPUs as a quota, whose period "
    "latency carries: compare it within this dataset only.",
)


def draw(question: Question, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Figure:
    """Draw a quantity against clients, a line for each number of servers.

    Raises
    ------
    LabError
        If there is nothing to draw.
    """
    lines = _lines(tables)
    with sheet.page(question.text) as figure:
        [[measured, beside]] = sheet.panels(figure)
        notes = _measured(measured, question, lines)
        measured.set_title(f"Measured, CPU budget {caption.budget}")
        published.against_clients(beside, question.quantity, anchors)
        notes += [question.scaled_note] if caption.budget == "scaled" else []
        sheet.sign(figure, caption, notes)
    return figure


def describe(question: Question, tables: Tables, anchors: Sequence[Anchor]) -> str:
    """Say in a few sentences what a figure shows, from the data that it is drawn of."""
    quantity = question.quantity
    lines = _lines(tables)
    counts = formatting.listed(str(servers) for servers, _ in lines)
    said = [
        f"{quantity.name} ({quantity.unit}) against clients, a line each for {counts} MySQL "
        f"{'server' if len(lines) == 1 and lines[0][0] == 1 else 'servers'}."
    ]
    if question.peaks:
        best = summary.peaks(pd.concat([line for _, line in lines])).itertuples()
        each = (
            f"{formatting.plain(p.qps_mean)} with {p.servers} at {formatting.count(p.clients, 'client')}"
            for p in best
        )
        said.append(f"The best means are {formatting.listed(each)}.")
    else:
        ends = ((n, line.loc[line[f"{quantity.metric}_mean"].notna()]) for n, line in lines)
        each = (
            f"from {formatting.plain(line[f'{quantity.metric}_mean'].iloc[0])} to "
            f"{formatting.plain(line[f'{quantity.metric}_mean'].iloc[-1])} ms with {n} "
            f"({line['clients'].iloc[0]} to {line['clients'].iloc[-1]} clients)"
            for n, line in ends
            if len(line)
        )
        said.append(f"It goes {formatting.listed(each)}.")
    said += published.described(anchors)
    return " ".join(said)


def _measured(ax: Axes, question: Question, lines: list[tuple[int, pd.DataFrame]]) -> list[str]:
    """Draw the measured lines with their bands; give what the caption must say of them."""
    quantity = question.quantity
    points = pd.concat([line for _, line in lines])
    mean = f"{quantity.metric}_mean"
    if points[mean].notna().sum() == 0:
        raise selection.nothing_to_draw("no point with a good run")
    bands = _bands(quantity, points)
    for servers, line in lines:
        look = {"color": style.colour(servers), "marker": style.marker(servers)}
        band = bands.loc[line.index]
        low, high = band["low"], band["high"]
        ax.fill_between(line["clients"], low, high, color=look["color"], alpha=0.2, lw=0)
        ax.plot(line["clients"], line[mean], zorder=3, **look)
        idle = line[line["idle_servers"]]
        ax.plot(idle["clients"], idle[mean], ls="", mfc="white", zorder=4, **look)
        partly = line[(line["failed"] > 0) & line[mean].notna()]
        ax.plot(partly["clients"], partly[mean], "x", color="black", ms=9, mew=1.1, zorder=6)
        lost = line[line[mean].isna()]
        at_bottom = {"ydata": [0.02] * len(lost), "transform": ax.get_xaxis_transform()}
        ax.add_line(Line2D(lost["clients"], ls="", color=look["color"], marker="x", **at_bottom))
    labels = {servers: formatting.count(servers, "server") for servers, _ in lines}
    if question.peaks:
        for peak in summary.peaks(points).itertuples():
            ring = {"ms": 12, "mfc": "none", "mew": 1.3, "zorder": 5}
            ax.plot(peak.clients, peak.qps_mean, "o", color=style.colour(peak.servers), **ring)
            labels[peak.servers] += f": {formatting.plain(peak.qps_mean)}"
    handles = [
        Line2D([], [], color=style.colour(n), marker=style.marker(n), label=label)
        for n, label in labels.items()
    ]
    title = "Best mean, queries/s" if question.peaks else "MySQL servers"
    ax.legend(
        handles=handles[::-1], loc="upper left", title=title, title_fontsize=8.5, alignment="left"
    )
    quantity.against_clients(ax, points["clients"], points[mean].max())
    # The means set the limits, with room for usual bands and for the legend at the upper left.
    least, most = points[mean].min(), points[mean].max()
    highest = bands["high"].max() if bands["high"].notna().any() else most
    legend_high = 0.055 * (len(lines) + 1) + 0.06
    middle = math.sqrt(points["clients"].min() * points["clients"].max())
    under_legend = points.loc[points["clients"] <= middle, mean].max() / (1 - legend_high)
    room = max(1.08 * most, min(1.05 * highest, 1.5 * most), under_legend)
    ax.set_ylim(*((least / 2, most * 2.5) if quantity.log else (0, room)))
    bottom, top = ax.get_ylim()
    cut = bool((bands["high"] > top).any() or (bands["low"] < bottom).any())
    return _notes(question, points, cut)


def _bands(quantity: Quantity, points: pd.DataFrame) -> pd.DataFrame:
    """Give each point's spread: the confidence interval of its mean, or the span of two runs.

    The interval of two values is some thirteen times wider than their span, and tells nothing.
    """
    mean, low, high = (points[f"{quantity.metric}_{part}"] for part in ("mean", "low", "high"))
    if points["runs"].max() < 3:
        wider = estimate.t(1)
        if quantity.log:
            low, high = (mean * (end / mean) ** (1 / wider) for end in (low, high))
        else:
            low, high = (mean + (end - mean) / wider for end in (low, high))
    else:
        low, high = (end.where(points["runs"] >= 3) for end in (low, high))
    return pd.DataFrame({"low": low, "high": high})


def _notes(question: Question, points: pd.DataFrame, cut: bool) -> list[str]:
    """Say how the drawing is to be read."""
    told = [intervals.told(points["runs"], log=question.quantity.log)]
    told += ["Some bands reach beyond the panel."] if cut and points["runs"].max() > 2 else []
    told += ["Rings: best mean."] if question.peaks else []
    if points["idle_servers"].any():
        told.append("Hollow: fewer clients than servers, so some servers are idle.")
    marked = points[points["failed"] > 0]
    shown = [
        f"{formatting.count(p.servers, 'server')}, {formatting.count(p.clients, 'client')}: {p.marks}"
        for p in marked.itertuples()
    ]
    if shown:
        rest = f", and {len(shown) - 2} points more" if len(shown) > 2 else ""
        told.append(f"Crosses: {textwrap.shorten('; '.join(shown[:2]), 150)}{rest}.")
    return told


def _lines(tables: Tables) -> list[tuple[int, pd.DataFrame]]:
    """Average the points and part them by servers, each line in the order of its clients."""
    points = summary.points(selection.of_kind(tables))
    groups = points.sort_values(["servers", "clients"]).groupby("servers")
    return [(int(servers), line) for servers, line in groups]
