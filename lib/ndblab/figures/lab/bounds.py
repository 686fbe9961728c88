"""The lab's own figure of the operational bounds: what one MySQL server can and must give.

In: bounds from measured demands, the model, means of measured points. Out: a `Figure`, and the same
in words. It computes no bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ndblab.analysis import formatting
from ndblab.claims.publication import Anchor
from ndblab.figures import intervals, sheet, style
from ndblab.figures.lab import predictions
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption

QUESTION = "Between which bounds does one MySQL server have to stay?"
_HEIGHT_IN, _ABOVE_IN = 5.6, 1.0
_ALLOWED = "#8a8a8a"


@dataclass(frozen=True)
class Panel:
    """One quantity, and the columns of its bounds."""

    quantity: Quantity
    title: str
    low: str
    high: str


MEAN = Quantity("latency_avg_ms", "Mean latency", "ms", style.LATENCY, log=True)
PANELS = (
    Panel(QPS, "Throughput", "qps_least", "qps_most"),
    Panel(MEAN, "Mean latency", "latency_least_ms", "latency_most_ms"),
)


def draw(tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Figure:
    """Draw the room between the bounds, the model in it, and the measured means.

    Raises
    ------
    LabError
        If the tables hold no bounds.
    """
    predictions.check(tables, "bounds", "alone")
    bounds, alone = tables["bounds"], tables["alone"]
    with sheet.page(QUESTION, _HEIGHT_IN) as figure:
        [axes] = sheet.panels(figure, columns=(1, 1), wspace=0.26, above_in=_ABOVE_IN)
        for ax, panel in zip(axes, PANELS, strict=True):
            _panel(ax, panel, bounds, alone)
            _balance(ax, tables["balance"], int(bounds["clients"].min()))
        _legend(figure)
        notes = [
            intervals.told(alone["runs"], "Marks", "whiskers of throughput"),
            "Bounds: at best no query waits before the bottleneck is used up, at worst each waits "
            "for all others; from the CPU time that queries were measured to take.",
            _balanced(tables["balance"]),
        ]
        sheet.sign(figure, caption, notes)
    return figure


def describe(tables: Tables, anchors: Sequence[Anchor]) -> str:
    """Say the bounds, the model and what was measured, with the fewest and the most clients."""
    predictions.check(tables, "bounds", "alone")
    bounds, alone = tables["bounds"], tables["alone"]
    said = [
        "Throughput (queries/s) and mean latency (ms) of one MySQL server against clients: the "
        "room between the least and the most that any queueing network of these demands gives, "
        "the model, and measured means."
    ]
    for clients in (alone["clients"].min(), alone["clients"].max()):
        row = bounds[bounds["clients"] == clients]
        if row.empty:
            continue
        at, here = row.iloc[0], alone[alone["clients"] == clients].iloc[0]
        said.append(
            f"With {formatting.count(int(clients), 'client')}: bounds {formatting.plain(at['qps_least'])} to "
            f"{formatting.plain(at['qps_most'])} queries/s, model {formatting.plain(at['qps'])}, measured "
            f"{formatting.plain(here['qps_mean'])}; mean latency measured "
            f"{formatting.plain(here['latency_avg_ms_mean'])} ms."
        )
    return " ".join([*said, _balanced(tables["balance"])])


def _panel(ax: Axes, panel: Panel, bounds: pd.DataFrame, alone: pd.DataFrame) -> None:
    quantity = panel.quantity
    low, high = bounds[panel.low], bounds[panel.high]
    ax.fill_between(bounds["clients"], low, high, color=_ALLOWED, alpha=0.2, lw=0)
    best, worst = (high, low) if panel.high == "qps_most" else (low, high)
    ax.plot(bounds["clients"], best, color=_ALLOWED, lw=1.3)
    ax.plot(bounds["clients"], worst, color=_ALLOWED, lw=1.3, ls=(0, (3, 2)))
    ax.plot(bounds["clients"], bounds[quantity.metric], color=quantity.colour, zorder=3)
    predictions.marks(ax, alone["clients"], alone, quantity.metric, marker="o")
    ends = [
        alone[name]
        for name in (f"{quantity.metric}_mean", f"{quantity.metric}_high")
        if name in alone
    ]
    values = pd.concat([low, high, *ends]).dropna()
    quantity.against_clients(ax, bounds["clients"], values.max())
    least = values.min() / 1.3 if quantity.log else 0
    ax.set_ylim(least, values.max() * (1.3 if quantity.log else 1.15))
    predictions.within(ax)
    ax.set_title(f"{panel.title} of one server")


def _balance(ax: Axes, balance: pd.DataFrame, fewest: int) -> None:
    """Mark the balanced point where it is on the axis."""
    for row in balance[balance["clients"] >= fewest].itertuples():
        ax.axvline(row.clients, color=style.INK, lw=1, ls=":", zorder=2)
        ax.annotate(
            "N*", (row.clients, 0.03), (3, 0), xycoords=ax.get_xaxis_transform(),
            textcoords="offset points", fontsize=8.5,
        )  # fmt: skip


def _balanced(balance: pd.DataFrame) -> str:
    """Say where the best case turns from waiting for nothing to a full bottleneck."""
    if balance.empty:
        return "As many clients as were measured do not use the bottleneck up in the best case."
    row = balance.iloc[0]
    few = ": a single client uses it up" if row["clients"] <= 1 else ""
    return (
        f"Balanced point N*: {formatting.plain(row['clients'])} clients that never wait would use up "
        f"{row['bottleneck']}{few}."
    )


def _legend(figure: Figure) -> None:
    hollow = {"marker": "o", "ls": "", "mfc": "white", "mec": style.INK}
    handles = [
        Line2D([], [], color=_ALLOWED, lw=1.3, label="best case"),
        Line2D([], [], color=_ALLOWED, lw=1.3, ls=(0, (3, 2)), label="worst case"),
        Patch(color=_ALLOWED, alpha=0.2, label="possible"),
        Line2D([], [], color=style.QUIET, label="model"),
        Line2D([], [], label="measured mean", **hollow),
    ]
    predictions.keyed(figure, handles, columns=len(handles))
