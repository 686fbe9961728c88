"""What the network costs: throughput, p95 and CPU time by the places of clients and servers.

In: runs with one MySQL server loaded, their CPU, and slices of contrasts. Out: a painted figure and
its description.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.figures import intervals, selection
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import DEFAULT, Tables
from ndblab.judging.publication import Anchor
from ndblab.statistics import cpu_use, ratio_tables

HEIGHT_IN = 8.4
CPU = Quantity("cpu_us", "CPU time per query", "\N{MICRO SIGN}s", style.INK)
_QUANTITIES = (QPS, P95, CPU)
# Factor between points with equal clients, to keep their whiskers apart.
_APART = 1.025


@dataclass(frozen=True)
class Kind:
    """Where clients and servers of a curve are, and how they are connected."""

    name: str
    variant: str
    transporter: str
    colour: str
    marker: str
    line: str = "-"


KINDS = (
    Kind("server beside a data node, SHM", DEFAULT, "shm", style.THROUGHPUT, "o"),
    Kind("likewise, its clients beside it too", "clients-beside", "shm", style.INK, "D", ":"),
    Kind("server beside a data node, TCP", DEFAULT, "tcp", "#8a4fa0", "s", "--"),
    Kind("server on another host, TCP", "servers-elsewhere", "tcp", "#c8691c", "^", "-."),
)
SIDES = {
    "clients": "clients,\nelsewhere /\nbeside server",
    "servers": "server,\nelsewhere /\nbeside, SHM",
    "servers-by-tcp": "server,\nelsewhere /\nbeside, TCP",
    "servers-few-clients": "likewise, SHM,\nwith the\nfewest clients",
}
"""What is compared in each contrast."""


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw a panel for each quantity against clients, and one for the contrasts."""
    means = _means(tables)
    grid = sheet.panels(
        figure, rows=2, columns=(1, 1), wspace=0.26, hspace=0.36, left=0.095,
        above_in=sheet.ABOVE_WITH_LEGEND_IN + 0.22,
    )  # fmt: skip
    panels = [ax for row in grid for ax in row]
    for quantity, ax in zip(_QUANTITIES, panels, strict=False):
        shown = means[means["quantity"] == quantity.metric]
        if len(shown):
            _panel(ax, quantity, shown)
    ratios = _ratios(tables)
    _compared(panels[-1], ratios)
    sheet.legend(figure, [_key(kind) for kind in KINDS], columns=2)
    notes = [intervals.described(means["runs"], bands="whiskers")]
    notes.append("One server was loaded at a time; in contrasts, one of each side at once.")
    if ratios["low"].isna().any():
        notes.append("A contrast of fewer than 4 blocks has no interval.")
    notes.append("CPU time is that of this server, both data nodes and sysbench.")
    if "namespaces" in caption.host_line:
        notes.append("The hosts' network is memory: the kernel's path is measured, not a cable.")
    return [*notes, sheet.LATENCY_NOTE] if caption.is_scaled else notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe each curve at its best throughput, and the contrasts."""
    means = _means(tables)
    wide = means.pivot_table("mean", ["name", "clients"], "quantity").reset_index()
    best = wide.loc[wide.groupby("name")["qps"].idxmax()].set_index("name")
    each = [
        f"{kind.name} {formatting.plain(row.qps)} queries/s with "
        f"{formatting.count(int(row.clients), 'client')}, {formatting.plain(row.latency_p95_ms)} "
        f"ms and {formatting.plain(getattr(row, 'cpu_us', math.nan))} \N{MICRO SIGN}s"
        for kind in KINDS
        if kind.name in best.index
        for row in [best.loc[kind.name]]
    ]
    words = [
        "Throughput, 95th percentile latency and CPU time per query against clients, by the places "
        "of clients and server; and ratios of throughput.",
        f"Each at its best: {'; '.join(each)}.",
    ]
    words += [
        f"{SIDES[row.contrast].replace(chr(10), ' ')}: {row.ratio:.3f}"
        + (f" ({row.low:.3f} to {row.high:.3f})." if row.low > 0 else ", no interval yet.")
        for row in _ratios(tables).itertuples()
    ]
    return words


def _means(tables: Tables) -> pd.DataFrame:
    """Return the mean of each quantity, with `quantity`, `name` of the kind, `clients`.

    Raises
    ------
    LabError
        If no good run is of a known kind.
    """
    runs = selection.good(tables["runs"])
    names = {(kind.variant, kind.transporter): kind.name for kind in KINDS}
    keys = zip(runs["variant"].astype(str), runs["transporter"].astype(str), strict=True)
    runs = runs.assign(name=[names.get(key) for key in keys]).dropna(subset="name")
    if runs.empty:
        raise selection.nothing_to_draw("no run with servers in several places")
    try:
        runs = runs.assign(cpu_us=cpu_use.serving_query_us(runs, tables["processes"]))
    except MissingData:
        runs = runs.assign(cpu_us=math.nan)
    by = ["name", "clients"]
    each = {q.metric: intervals.means(runs, by, q.metric) for q in _QUANTITIES}
    return pd.concat(each, names=["quantity"]).reset_index("quantity").dropna(subset="mean")


def _ratios(tables: Tables) -> pd.DataFrame:
    """Return the ratios of the contrasts that are known here, in their order."""
    found = ratio_tables.of_contrasts(tables["slices"])
    return found[found["contrast"].isin(list(SIDES))]


def _panel(ax: Axes, quantity: Quantity, means: pd.DataFrame) -> None:
    for place, kind in enumerate(KINDS):
        line = means[means["name"] == kind.name]
        x = line["clients"] * _APART ** (2 * place - len(KINDS) + 1)
        style.whiskers(ax, x, line["mean"], line["low"], line["high"], ecolor=kind.colour)
        ax.plot(x, line["mean"], zorder=3, **_look(kind))
    most = float(means[["mean", "high"]].max(axis=None))
    quantity.against_clients(ax, means["clients"], most)
    if not quantity.log:
        ax.set_ylim(0, 1.08 * most)
    sheet.trim_ticks(ax)
    ax.yaxis.label.set_size(8.8)
    ax.set_title(quantity.name)


def _compared(ax: Axes, ratios: pd.DataFrame) -> None:
    """Draw the ratio of each contrast with its interval."""
    ax.set_title("Throughput compared, both sides at once")
    ax.axhline(1, color=style.INK, lw=0.9)
    x = pd.Series(range(len(ratios)), dtype=float)
    table = ratios.reset_index(drop=True)
    style.whiskers(ax, x, table["ratio"], table["low"], table["high"], ecolor=style.THROUGHPUT)
    ax.plot(x, table["ratio"], "o", color=style.THROUGHPUT, zorder=5)
    for at, value in zip(x, table["ratio"], strict=True):
        ax.annotate(
            f"{value:.2f}", (at, value), xytext=(7, 0), textcoords="offset points", va="center",
            fontsize=8.4, bbox={"fc": "white", "ec": "none", "pad": 1},
        )  # fmt: skip
    ax.set_xticks(list(x), [SIDES[name] for name in table["contrast"]], fontsize=7)
    ax.set_xlim(-0.5, max(1, len(table)) - 0.5)
    ends = [1.0, *table[["ratio", "low", "high"]].stack().dropna()]
    ax.set_ylim(0, 1.15 * max(ends))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    ax.set_ylabel("Throughput, ratio", fontsize=8.8)
    ax.grid(visible=False, axis="x")


def _look(kind: Kind) -> dict[str, str]:
    return {"color": kind.colour, "marker": kind.marker, "ls": kind.line}


def _key(kind: Kind) -> Line2D:
    return Line2D([], [], label=kind.name, **_look(kind))


FIGURES = {
    "network-cost": Entry(
        "What does the network between clients, servers and data nodes cost?",
        paint, describe, ("runs", "processes", "slices"),
        height_in=HEIGHT_IN,
    ),
}  # fmt: skip
