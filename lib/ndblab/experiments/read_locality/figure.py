"""Read locality: shares of local reads, throughput and p95 by kind of table.

In: runs of lookups and of transactions of ten, on tables of each kind, and where their reads were
answered. Out: a painted figure and its description.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ndblab import formatting
from ndblab.experiments.read_locality import analysis as shares
from ndblab.experiments.read_locality.analysis import (
    FULLY_REPLICATED,
    LOCAL,
    NEAR,
    PRIMARY_ONLY,
    READ_BACKUP,
)
from ndblab.figures import intervals, selection, sheet, style
from ndblab.figures.entry import Entry
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import DEFAULT, POINT_SELECT, Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.publication import Anchor
from ndblab.planning.workload import READ_ONLY

NEAR_PCT = Quantity("near_pct", "Bytes from own data node", "%", style.INK)
LOCAL_PCT = Quantity("local_pct", "Rows local to transaction", "%", style.INK)
_QUANTITIES = (NEAR_PCT, LOCAL_PCT, QPS, P95)
_SHARES = (NEAR_PCT, LOCAL_PCT)
_WORKLOADS = {POINT_SELECT: "Single lookups", READ_ONLY: "Transactions of ten lookups"}
_NAMES = {
    PRIMARY_ONLY: "primary replica only",
    DEFAULT: "read backup, node not told",
    READ_BACKUP: "read backup",
    FULLY_REPLICATED: "fully replicated",
}
_LOOKS = {
    variant: (to_hex(matplotlib.colormaps["viridis_r"](place)), marker)
    for variant, place, marker in zip(_NAMES, (0.15, 0.4, 0.65, 0.95), "ovs^", strict=True)
}
# Factor between points with equal clients, to keep their whiskers apart.
_APART = 1.04


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw a row of panels for each quantity: single lookups left, transactions right."""
    means = _means(tables)
    grid = sheet.panels(
        figure, rows=4, columns=(1, 1), wspace=0.28, hspace=0.16, left=0.095,
        above_in=sheet.ABOVE_WITH_LEGEND_IN,
    )  # fmt: skip
    for quantity, row in zip(_QUANTITIES, grid, strict=True):
        for (workload, title), ax in zip(_WORKLOADS.items(), row, strict=True):
            mine = (means["quantity"] == quantity.metric) & (means["workload"] == workload)
            ax.set_title(title if quantity is NEAR_PCT else "")
            if mine.any():
                _panel(ax, quantity, means[mine])
            if quantity is not P95:
                ax.set_xlabel("")
    there = [variant for variant in _NAMES if variant in set(means["variant"])]
    sheet.legend(figure, [_key(variant) for variant in there])
    notes = [intervals.described(means["runs"], bands="whiskers")]
    notes.append("Each of four data nodes, in two node groups, has a MySQL server of its own.")
    return [*notes, sheet.LATENCY_NOTE] if caption.is_scaled else notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe each kind of table at its best throughput."""
    means = _means(tables)
    by_quantity = means.pivot_table("mean", ["workload", "variant", "clients"], "quantity")
    by_quantity = by_quantity.reset_index()
    words = [
        "Share of bytes from the server's own data node, share of rows local to the transaction, "
        "throughput and 95th percentile latency against clients, by kind of table."
    ]
    for workload, title in _WORKLOADS.items():
        mine = by_quantity[by_quantity["workload"] == workload]
        best = mine.loc[mine.groupby("variant")["qps"].idxmax()].set_index("variant")
        each = [
            f"{name}: {formatting.plain(row.near_pct)} % of bytes, "
            f"{formatting.plain(row.local_pct)} % of rows, {formatting.plain(row.qps)} queries/s "
            f"and {formatting.plain(getattr(row, 'latency_p95_ms', math.nan))} ms with "
            f"{formatting.count(int(row.clients), 'client')}"
            for variant, name in _NAMES.items()
            for row in best[best.index == variant].itertuples()
        ]
        words += [f"{title}, each at its best: {'; '.join(each)}."] if each else []
    return words


def _means(tables: Tables) -> pd.DataFrame:
    """Return the mean of each quantity, with `quantity`, `workload`, `variant`, `clients`.

    Raises
    ------
    LabError
        If no good run of a known variant tells where its reads were answered.
    """
    runs = shares.with_shares(selection.good(tables["runs"]), tables["reads"])
    runs = runs.astype({"variant": str, "workload": str})
    runs = runs[runs["variant"].isin(_NAMES) & runs[NEAR].notna()]
    if runs.empty:
        raise selection.nothing_to_draw("no run that tells where its reads were answered")
    runs = runs.assign(near_pct=100 * runs[NEAR], local_pct=100 * runs[LOCAL])
    by = ["workload", "variant", "clients"]
    each = {q.metric: intervals.means(runs, by, q.metric) for q in _QUANTITIES}
    return pd.concat(each, names=["quantity"]).reset_index("quantity").dropna(subset="mean")


def _panel(ax: Axes, quantity: Quantity, means: pd.DataFrame) -> None:
    for place, (variant, (colour, marker)) in enumerate(_LOOKS.items()):
        line = means[means["variant"] == variant]
        x = line["clients"] * _APART ** (2 * place - len(_LOOKS) + 1)
        style.whiskers(ax, x, line["mean"], line["low"], line["high"], ecolor=colour)
        ax.plot(x, line["mean"], zorder=3, color=colour, marker=marker)
    most = 100.0 if quantity in _SHARES else float(means[["mean", "high"]].max(axis=None))
    quantity.against_clients(ax, means["clients"], most)
    if not quantity.log:
        ax.set_ylim(0, 1.08 * most)
    sheet.trim_ticks(ax)
    ax.yaxis.label.set_size(8.6)


def _key(variant: str) -> Line2D:
    colour, marker = _LOOKS[variant]
    return Line2D([], [], color=colour, marker=marker, label=_NAMES[variant])


FIGURES = {
    "read-locality": Entry(
        "How far do reads stay on the data node that is near?",
        paint, describe, ("runs", "reads"), height_in=11.2,
    ),
}  # fmt: skip
