"""Connection pools: throughput, p95 and CPU of a server with more and fewer connections.

In: runs of servers with 1, 4, 8 and 16 connections, with and without CPU quotas, and their CPU.
Out: a painted figure and its description. One server was loaded at a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ndblab import formatting
from ndblab.figures import intervals, selection, sheet, style
from ndblab.figures.entry import Entry
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import DEFAULT, Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.publication import Anchor
from ndblab.statistics import cpu_use

CPU = Quantity("cpu_us", "CPU time per query", "\N{MICRO SIGN}s", style.INK)
_QUANTITIES = (QPS, P95, CPU)
_VARIANT = re.compile(r"pool-(?P<pool>\d+)(?P<whole>-whole)?")
_MARKERS = ("o", "s", "^", "D", "v", "P")
# Factor between points with equal clients, to keep their whiskers apart.
_APART = 1.03


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw a row of panels for each quantity: without CPU quotas left, under quotas right."""
    means = _means(tables)
    grid = sheet.panels(
        figure, rows=3, columns=(1, 1), wspace=0.28, hspace=0.16, left=0.095,
        above_in=sheet.ABOVE_WITH_LEGEND_IN,
    )  # fmt: skip
    quotas = "under CPU quotas" if caption.is_scaled else "without CPU quotas, once more"
    titles = {True: "Measured without CPU quotas", False: f"Measured {quotas}"}
    pools = sorted(means["pool"].unique())
    for quantity, row in zip(_QUANTITIES, grid, strict=True):
        for (whole, title), ax in zip(titles.items(), row, strict=True):
            shown = means[(means["quantity"] == quantity.metric) & (means["whole"] == whole)]
            ax.set_title(title if quantity is QPS else "")
            if len(shown):
                _panel(ax, quantity, shown, pools)
            if quantity is not CPU:
                ax.set_xlabel("")
    sheet.legend(figure, [_key(pool, pools) for pool in pools])
    notes = [intervals.described(means["runs"], bands="whiskers")]
    notes.append("One server was loaded at a time, in one cluster start.")
    notes.append("CPU time is that of this server, both data nodes and sysbench.")
    return [*notes, sheet.LATENCY_NOTE] if caption.is_scaled else notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe each pool at its best throughput."""
    means = _means(tables)
    by_quantity = means.pivot_table("mean", ["whole", "pool", "clients"], "quantity").reset_index()
    words = [
        "Throughput, 95th percentile latency and CPU time per query against clients, for servers "
        "with different numbers of connections to the cluster."
    ]
    for whole, quotas in ((True, "Without CPU quotas"), (False, "With those of the CPU budget")):
        of_setting = by_quantity[by_quantity["whole"] == whole]
        best = of_setting.loc[of_setting.groupby("pool")["qps"].idxmax()]
        each = [
            f"{formatting.count(int(row.pool), 'connection')} {formatting.plain(row.qps)} "
            f"queries/s with {formatting.count(int(row.clients), 'client')}, "
            f"{formatting.plain(row.latency_p95_ms)} ms and "
            f"{formatting.plain(getattr(row, 'cpu_us', math.nan))} \N{MICRO SIGN}s"
            for row in best.itertuples()
        ]
        words += [f"{quotas}, each at its best: {'; '.join(each)}."] if each else []
    return words


def _means(tables: Tables) -> pd.DataFrame:
    """Return the mean of each quantity, with `quantity`, `whole`, `pool`, `clients`.

    Raises
    ------
    LabError
        If no good run is of a known pool.
    """
    runs = selection.good(tables["runs"])
    found = runs["variant"].astype(str).replace(DEFAULT, "pool-1").str.extract(_VARIANT)
    runs = runs.assign(pool=found["pool"].astype(float), whole=found["whole"].notna())
    runs = runs[runs["pool"].notna()].astype({"pool": int})
    if runs.empty:
        raise selection.nothing_to_draw("no run of a server with a connection pool")
    runs = runs.assign(cpu_us=cpu_use.serving_query_us(runs, tables["processes"]))
    by = ["whole", "pool", "clients"]
    each = {q.metric: intervals.means(runs, by, q.metric) for q in _QUANTITIES}
    return pd.concat(each, names=["quantity"]).reset_index("quantity").dropna(subset="mean")


def _panel(ax: Axes, quantity: Quantity, means: pd.DataFrame, pools: Sequence[int]) -> None:
    for place, pool in enumerate(pools):
        line = means[means["pool"] == pool]
        x = line["clients"] * _APART ** (2 * place - len(pools) + 1)
        look = {"color": _colour(pool), "marker": _marker(pool, pools)}
        style.whiskers(ax, x, line["mean"], line["low"], line["high"], ecolor=look["color"])
        ax.plot(x, line["mean"], zorder=3, **look)
    most = float(means[["mean", "high"]].max(axis=None))
    quantity.against_clients(ax, means["clients"], most)
    if not quantity.log:
        ax.set_ylim(0, 1.08 * most)
    sheet.trim_ticks(ax)
    ax.yaxis.label.set_size(8.6)


def _colour(pool: int) -> str:
    """Return the colour of a pool: more connections are darker."""
    return to_hex(matplotlib.colormaps["viridis_r"](min(1.0, 0.15 + math.log2(pool) / 5)))


def _marker(pool: int, pools: Sequence[int]) -> str:
    return _MARKERS[list(pools).index(pool) % len(_MARKERS)]


def _key(pool: int, pools: Sequence[int]) -> Line2D:
    label = formatting.count(pool, "connection")
    return Line2D([], [], color=_colour(pool), marker=_marker(pool, pools), label=label)


FIGURES = {
    "connection-pool": Entry(
        "Does a MySQL server need more than one connection to the cluster?",
        paint, describe, ("runs", "processes"),
        height_in=9.4,
    ),
}  # fmt: skip
