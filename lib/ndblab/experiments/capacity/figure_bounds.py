"""Operational bounds: the least and the most that one MySQL server can do.

In: bounds from measured demands, the model, means of measured points. Out: a painted figure and its
description. It computes no bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ndblab import formatting
from ndblab.figures import intervals
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures.old_sheet import Caption
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.judging.publication import Anchor

_ALLOWED = "#8a8a8a"
_ENDS = ("_least", "_most", "")


@dataclass(frozen=True)
class Panel:
    """A quantity, and the columns of its bounds."""

    quantity: Quantity
    title: str
    low: str
    high: str


MEAN = Quantity("latency_avg_ms", "Mean latency", "ms", style.LATENCY, log=True)
PANELS = (
    Panel(QPS, "Throughput", "qps_least", "qps_most"),
    Panel(MEAN, "Mean latency", "latency_least_ms", "latency_most_ms"),
)


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the range between the bounds, the model in it, and the measured means."""
    bounds, alone = tables["bounds"], tables["alone"]
    [axes] = sheet.panels(figure, columns=(1, 1), wspace=0.26, above_in=sheet.ABOVE_WITH_LEGEND_IN)
    for ax, panel in zip(axes, PANELS, strict=True):
        _panel(ax, panel, bounds, alone)
        _balance(ax, tables["balance"], int(bounds["clients"].min()))
    handles = [
        Line2D([], [], color=_ALLOWED, lw=1.3, label="best case"),
        Line2D([], [], color=_ALLOWED, lw=1.3, ls=(0, (3, 2)), label="worst case"),
        Patch(color=_ALLOWED, alpha=0.2, label="possible"),
        Line2D([], [], color=style.QUIET, label="model"),
        style.measured_key(),
    ]
    sheet.legend(figure, handles)
    return [
        intervals.described(alone["runs"], "whiskers of throughput"),
        "Bounds, from the measured CPU time per query: at best no query waits before the "
        "bottleneck saturates, at worst each waits for all others.",
        _balanced(tables["balance"]),
    ]


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe bounds, model and measured means with the fewest and the most clients."""
    bounds, alone = tables["bounds"], tables["alone"]
    words = [
        "Throughput (queries/s) and mean latency (ms) of one MySQL server against clients: the "
        "range between the least and the most that any queueing network with these demands can "
        "have, the model, and measured means."
    ]
    for clients in (alone["clients"].min(), alone["clients"].max()):
        row = bounds[bounds["clients"] == clients]
        if row.empty:
            continue
        low, high, model = (formatting.plain(row[f"qps{end}"].iloc[0]) for end in _ENDS)
        here = alone[alone["clients"] == clients].iloc[0]
        words.append(
            f"With {formatting.count(int(clients), 'client')}: bounds {low} to {high} queries/s, "
            f"model {model}, measured {formatting.plain(here['qps_mean'])}; mean latency measured "
            f"{formatting.plain(here['latency_avg_ms_mean'])} ms."
        )
    return [*words, _balanced(tables["balance"])]


def _panel(ax: Axes, panel: Panel, bounds: pd.DataFrame, alone: pd.DataFrame) -> None:
    quantity = panel.quantity
    low, high = bounds[panel.low], bounds[panel.high]
    ax.fill_between(bounds["clients"], low, high, color=_ALLOWED, alpha=0.2, lw=0)
    best, worst = (high, low) if panel.high == "qps_most" else (low, high)
    ax.plot(bounds["clients"], best, color=_ALLOWED, lw=1.3)
    ax.plot(bounds["clients"], worst, color=_ALLOWED, lw=1.3, ls=(0, (3, 2)))
    ax.plot(bounds["clients"], bounds[quantity.metric], color=quantity.colour, zorder=3)
    style.marks(ax, alone["clients"], alone, quantity.metric, "o")
    ends = [
        alone[name]
        for name in (f"{quantity.metric}_mean", f"{quantity.metric}_high")
        if name in alone
    ]
    values = pd.concat([low, high, *ends]).dropna()
    quantity.against_clients(ax, bounds["clients"], values.max())
    least = values.min() / 1.3 if quantity.log else 0
    ax.set_ylim(least, values.max() * (1.3 if quantity.log else 1.15))
    sheet.trim_ticks(ax)
    ax.set_title(f"{panel.title} of one server")


def _balance(ax: Axes, balance: pd.DataFrame, fewest: int) -> None:
    """Mark the balanced point if it is on the axis."""
    for row in balance[balance["clients"] >= fewest].itertuples():
        ax.axvline(row.clients, color=style.INK, lw=1, ls=":", zorder=2)
        ax.annotate(
            "N*", (row.clients, 0.03), (3, 0), xycoords=ax.get_xaxis_transform(),
            textcoords="offset points", fontsize=8.5,
        )  # fmt: skip


def _balanced(balance: pd.DataFrame) -> str:
    """Describe with how many clients the best case saturates the bottleneck."""
    if balance.empty:
        return "Even at best, the measured numbers of clients do not saturate the bottleneck."
    row = balance.iloc[0]
    clients, bottleneck = formatting.plain(row["clients"]), row["bottleneck"]
    if row["clients"] <= 1:
        return f"Balanced point N*: {clients} clients, so a single client saturates {bottleneck}."
    return f"Balanced point N*: {clients} clients saturate {bottleneck} if none of them waits."
