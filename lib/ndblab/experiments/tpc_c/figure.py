"""TPC-C: transactions by servers and by partitioning, how local they are, and what fails.

In: tables of the experiment tpc-c. Out: a painted figure and its description. Inconsistent runs
have failed and are not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.experiments.tpc_c import TRANSACTIONS
from ndblab.experiments.tpc_c import analysis as loads
from ndblab.experiments.tpc_c.analysis import BY_KEY, BY_WAREHOUSE
from ndblab.figures import intervals, selection
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.quantity import Quantity
from ndblab.figures.selection import Tables
from ndblab.judging.publication import Anchor

TPS = Quantity("tps", "Throughput", "transactions/s", style.THROUGHPUT)
_BY_KEY = "#c8691c"
WAYS = {
    BY_WAREHOUSE: ("by warehouse", style.THROUGHPUT, "o", "-"),
    BY_KEY: ("by whole key", _BY_KEY, "s", "--"),
}
"""Ways of partitioning, by variant: their name, colour, marker and line."""
_SHARES = {
    "local_share": "rows read\nlocally",
    "pruned_share": "scans of one\npartition",
    "failed_share": "transactions\nfailed",
}


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw throughput by servers and by partitioning, shares, latency by kind, and ratios."""
    runs = _runs(tables)
    found = loads.ratios(tables)
    grid = sheet.panels(figure, rows=3, columns=(1, 1), wspace=0.42, hspace=0.6)
    (servers, partitioning), (shares, latency), (ratios, unused) = grid
    most = formatting.count(int(runs["servers"].max()), "server")
    _by_servers(servers, runs[runs["variant"] == BY_WAREHOUSE])
    servers.set_title(f"{caption.title()}\nPartitioned by warehouse")
    _by_way(partitioning, runs[runs["servers"] == runs["servers"].max()])
    partitioning.set_title(f"Tables partitioned in two ways, {most}")
    _shares(shares, runs[runs["servers"] == runs["servers"].max()])
    shares.set_title(f"How local, and how many fail, {most}")
    _latency(latency, loads.kinds(tables))
    latency.set_title("Time of a transaction, all loads")
    unused.set_axis_off()
    # The names of the contrasts need the room of half a row.
    at = ratios.get_position()
    ratios.set_position((0.47, at.y0, 0.985 - 0.47, at.height))
    _ratios(ratios, found)
    ratios.set_title("Ratios of the contrasts")
    counts = runs.groupby(["variant", "servers", "clients"]).size()
    notes = [intervals.described(counts)]
    notes.append("All rows were checked after each run. Local: read in the node that coordinates.")
    if len(found):
        notes.append("Ratios: intervals hold with 95 % at all looks together.")
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe each point, each way of partitioning, and each ratio."""
    _runs(tables)
    points = loads.points(tables)
    words = ["Committed transactions of TPC-C per second, partitioned by warehouse."]
    plain = points[points["variant"] == BY_WAREHOUSE]
    for servers, mine in plain.groupby("servers"):
        each = [
            f"{formatting.plain(row.tps)} at {formatting.count(int(row.clients), 'client')}"
            for row in mine.itertuples()
        ]
        words.append(f"{formatting.count(int(servers), 'server')}: {formatting.listed(each)}.")
    for variant, (name, *_) in WAYS.items():
        mine = points[points["variant"] == variant]
        if len(mine):
            last = mine.iloc[-1]
            words.append(
                f"Partitioned {name}, with the most servers and clients: {_percent(last, 'local')} "
                f"of the rows are read locally, {_percent(last, 'pruned')} of the scans read one "
                f"partition, {_percent(last, 'failed')} of the transactions fail."
            )
    said = [
        f"{row.compared}, {row.quantity}: {_number(row)}"
        for row in loads.ratios(tables).itertuples()
    ]
    return [*words, f"Ratios: {'; '.join(said)}."] if said else words


def _runs(tables: Tables) -> pd.DataFrame:
    """Return the good runs; LabError if there is none."""
    try:
        return loads.runs(tables)
    except MissingData as missing:
        wrong = loads.inconsistent(tables)
        raise selection.nothing_to_draw(wrong[0] if wrong else str(missing)) from None


def _by_servers(ax: Axes, runs: pd.DataFrame) -> None:
    means = intervals.means(runs, ["servers", "clients"], "tps")
    for servers, line in means.groupby("servers"):
        n = int(servers)
        look = {"color": style.colour(n), "marker": style.marker(n)}
        _line(ax, line, formatting.count(n, "server"), **look)
    _against_clients(ax, means)
    ax.legend(loc="best", fontsize=8)


def _by_way(ax: Axes, runs: pd.DataFrame) -> None:
    means = intervals.means(runs, ["variant", "clients"], "tps")
    for variant, (label, colour, marker, dashes) in WAYS.items():
        line = means[means["variant"] == variant]
        if len(line):
            _line(ax, line, label, color=colour, marker=marker, ls=dashes)
    _against_clients(ax, means)
    ax.legend(loc="best", fontsize=8)


def _line(ax: Axes, means: pd.DataFrame, label: str, **look: object) -> None:
    ax.fill_between(
        means["clients"], means["low"], means["high"], color=look["color"], alpha=0.15, lw=0
    )
    ax.plot(means["clients"], means["mean"], label=label, zorder=3, **look)


def _against_clients(ax: Axes, means: pd.DataFrame) -> None:
    most = float(means[["mean", "high"]].max(axis=None))
    TPS.against_clients(ax, means["clients"], most)
    ax.set_ylim(0, 1.12 * most)
    sheet.trim_ticks(ax)


def _shares(ax: Axes, runs: pd.DataFrame) -> None:
    """Draw shares in percent at the most clients, a pair of bars for each."""
    top = runs[runs["clients"] == runs["clients"].max()]
    means = top.groupby("variant")[list(_SHARES)].mean()
    width = 0.8 / len(WAYS)
    for place, (variant, (label, colour, *_)) in enumerate(WAYS.items()):
        if variant not in means.index:
            continue
        x = np.arange(len(_SHARES)) + (place - (len(WAYS) - 1) / 2) * width
        values = 100 * means.loc[variant].to_numpy(float)
        ax.bar(x, values, width * 0.92, color=colour, label=label)
        for at, value in zip(x, values, strict=True):
            ax.annotate(formatting.plain(round(value, 1)), (at, np.nan_to_num(value)), (0, 2),
                        textcoords="offset points", ha="center", fontsize=7.5)  # fmt: skip
    ax.set_xticks(range(len(_SHARES)), list(_SHARES.values()), fontsize=8)
    ax.set_ylim(0, 118)
    ax.set_ylabel("Percent")


def _latency(ax: Axes, kinds: pd.DataFrame) -> None:
    """Draw the mean time of each kind of transaction, on a logarithmic axis."""
    for place, (variant, (label, colour, marker, _)) in enumerate(WAYS.items()):
        mine = kinds[kinds["variant"] == variant].set_index("transaction")
        y = np.arange(len(TRANSACTIONS)) + 0.24 * (place - 0.5)
        values = mine["latency_avg_ms"].reindex(list(TRANSACTIONS)).to_numpy(float)
        ax.plot(values, y, ls="", marker=marker, color=colour, label=label)
    ax.set_xscale("log")
    known = kinds["latency_avg_ms"].dropna()
    ax.set_xlim(known.min() / 1.5, known.max() * 1.5)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    sheet.trim_ticks(ax)
    ax.set_ylim(len(TRANSACTIONS) - 0.5, -0.5)
    ax.set_yticks(range(len(TRANSACTIONS)), [name.replace("_", "-") for name in TRANSACTIONS])
    ax.set_xlabel("Mean time, ms")


def _ratios(ax: Axes, found: pd.DataFrame) -> None:
    if found.empty:
        ax.text(0.5, 0.5, "no contrast was measured", transform=ax.transAxes, ha="center",
                fontsize=8, color=style.QUIET)  # fmt: skip
        ax.set_axis_off()
        return
    y = np.arange(len(found))
    ax.axvline(1, color=style.INK, lw=1.0, zorder=1)
    ax.hlines(y, found["low"], found["high"], color=style.INK, lw=1.2, zorder=2)
    ax.plot(found["ratio"], y, "o", mfc="white", mec=style.INK, zorder=3)
    names = [
        row.compared
        if row.quantity == "transactions/s"
        else "the same, CPU of data nodes\nper transaction"
        for row in found.itertuples()
    ]
    ends = found[["ratio", "low", "high"]].to_numpy(float)
    low, high = min(1.0, float(np.nanmin(ends))), max(1.0, float(np.nanmax(ends)))
    room = 0.08 * (high - low) or 0.1
    ax.set_xlim(low - room, high + room)
    ax.xaxis.set_major_locator(MaxNLocator(6))
    sheet.trim_ticks(ax)
    ax.set_yticks(y, names, fontsize=8)
    ax.set_ylim(len(found) - 0.5, -0.5)
    ax.set_xlabel("Ratio")


def _percent(row: pd.Series, share: str) -> str:
    value = 100 * float(row[f"{share}_share"])
    return "an unknown share" if value != value else f"{formatting.plain(round(value, 1))} %"


def _number(row) -> str:
    interval = f" ({row.low:.2f} to {row.high:.2f})" if row.low == row.low else ""
    return f"{row.ratio:.2f}{interval}"


FIGURES = {
    "tpc-c": Entry(
        "What do transactions gain from partitioning and more servers?",
        paint, describe,
        ("runs", "slices", "processes", "transactions", "aborts", "locality"), height_in=10.6,
    ),
}  # fmt: skip
