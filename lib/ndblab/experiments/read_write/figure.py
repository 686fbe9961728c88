"""OLTP read/write and its variations: servers, filters, lists of keys, processes of sysbench.

In: runs and slices of the experiment read-write. Out: a painted figure and its description. A panel
whose runs are missing says so.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.experiments.read_write import FILTERED, TRANSACTION_QUERIES
from ndblab.experiments.read_write import analysis as variations
from ndblab.experiments.read_write.analysis import Variations
from ndblab.figures import intervals, selection, sheet, style
from ndblab.figures.entry import Entry
from ndblab.figures.quantity import Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.publication import Anchor
from ndblab.planning.workload import READ_WRITE, SYSBENCH

TPS = Quantity("tps", "Throughput", "transactions/s", style.THROUGHPUT)
_FILTERED = "#c8691c"
_KINDS = {READ_WRITE: ("100 rows returned", style.THROUGHPUT, "o", "-"),
          FILTERED: ("about 1 row returned", _FILTERED, "s", "--")}  # fmt: skip
_ROLES = {"mysqld": ("mysqld", style.SERVER), "ndbmtd": ("ndbmtd", style.DATA_NODE),
          SYSBENCH: ("sysbench", style.QUIET)}  # fmt: skip


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw a panel for each question."""
    parts = _parts(tables)
    grid = sheet.panels(figure, rows=3, columns=(1, 1), wspace=0.26, hspace=0.55)
    (servers, filtered), (lists, processes), (cpus, ratios) = grid
    most = formatting.count(parts.servers, "server")
    _by_servers(servers, parts.plain)
    servers.set_title(f"{caption.title()}\nRead/write by servers")
    _by_filter(filtered, parts)
    filtered.set_title(f"Range scans, filtered or not, {most}")
    _by_keys(lists, parts.lists)
    lists.set_title(f"Keys looked up, {most}")
    _by_processes(processes, parts.processes)
    processes.set_title(f"Processes of sysbench, {most}")
    _by_role(cpus, parts.cpus)
    cpus.set_title("CPUs used,\nfiltered, no quotas")
    found = variations.ratios(tables["slices"])
    _ratios(ratios, found)
    ratios.set_title("Ratios of the contrasts")
    # The names of the contrasts need the room of half a panel.
    at = cpus.get_position()
    cpus.set_position((at.x0, at.y0, 0.2, at.height))
    ratios.set_position((0.575, at.y0, 0.985 - 0.575, at.height))
    notes = [intervals.described(parts.plain.groupby(["servers", "clients"]).size())]
    notes.append(f"A transaction has {TRANSACTION_QUERIES} queries.")
    if len(found):
        notes.append("Ratios: intervals hold with 95 % at all looks together.")
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the peaks, and each ratio with its interval."""
    parts = _parts(tables)
    words = ["Transactions per second of OLTP read/write, and of its variations."]
    peaks = _peaks(parts.plain)
    each = [
        f"{formatting.plain(row.tps)} with {formatting.count(row.servers, 'server')} at "
        f"{formatting.count(row.clients, 'client')}"
        for row in peaks.itertuples()
    ]
    words.append(f"Best means: {formatting.listed(each)}.")
    if len(parts.filtered):
        best = _peaks(parts.filtered).iloc[-1]
        words.append(f"With filtered ranges: {formatting.plain(best.tps)} with the most servers.")
    of_lists = [
        f"{formatting.plain(rate)} {'one by one' if single else f'in lists of {keys}'}"
        for (single, keys), rate in _rates(parts.lists, "lookups_per_s")
    ]
    if of_lists:
        words.append(f"Keys looked up per second: {formatting.listed(of_lists)}.")
    found = variations.ratios(tables["slices"])
    said = [f"{row.compared} {_number(row)}" for row in found.itertuples()]
    if said:
        words.append(f"Ratios: {'; '.join(said)}.")
    if len(parts.cpus):
        used = [f"{_ROLES[r][0]} {formatting.plain(n)}" for r, n in parts.cpus.items()]
        words.append(f"Logical CPUs used without quotas: {formatting.listed(used)}.")
    return words


def _parts(tables: Tables) -> Variations:
    """Sort what was measured by question; LabError if there is no good run of read/write."""
    try:
        return variations.of(tables)
    except MissingData as missing:
        raise selection.nothing_to_draw(str(missing)) from None


def _peaks(runs: pd.DataFrame) -> pd.DataFrame:
    means = runs.groupby(["servers", "clients"])["tps"].mean().reset_index()
    return means.loc[means.groupby("servers")["tps"].idxmax()]


def _rates(lists: pd.DataFrame, column: str) -> list[tuple[tuple[bool, int], float]]:
    """Return the mean rate of lookups one by one, then by keys in each list."""
    means = lists.groupby(["single", "keys"])[column].mean()
    return sorted(((k, float(v)) for k, v in means.items()), key=lambda x: (not x[0][0], x[0][1]))


def _line(ax: Axes, means: pd.DataFrame, label: str, **look: object) -> None:
    ax.fill_between(
        means["clients"], means["low"], means["high"], color=look["color"], alpha=0.15, lw=0
    )
    ax.plot(means["clients"], means["mean"], label=label, zorder=3, **look)


def _by_servers(ax: Axes, runs: pd.DataFrame) -> None:
    means = intervals.means(runs, ["servers", "clients"], "tps")
    for servers, line in means.groupby("servers"):
        n = int(servers)
        look = {"color": style.colour(n), "marker": style.marker(n)}
        _line(ax, line, formatting.count(n, "server"), **look)
    _against_clients(ax, means)
    ax.legend(loc="upper left", fontsize=8)


def _by_filter(ax: Axes, parts: Variations) -> None:
    if parts.filtered.empty:
        return _nothing(ax)
    plain = parts.plain[parts.plain["servers"] == parts.servers]
    plain = plain[plain["clients"].isin(parts.filtered["clients"])]
    means = intervals.means(pd.concat([plain, parts.filtered]), ["workload", "clients"], "tps")
    for workload, line in means.groupby("workload"):
        label, colour, marker, dashes = _KINDS[str(workload)]
        _line(ax, line, label, color=colour, marker=marker, ls=dashes)
    _against_clients(ax, means)
    ax.legend(loc="upper left", fontsize=8)


def _by_keys(ax: Axes, lists: pd.DataFrame) -> None:
    if lists.empty:
        return _nothing(ax)
    for column, label, colour, dashes in (
        ("lookups_per_s", "keys/s", style.THROUGHPUT, "-"),
        ("queries_per_s", "queries/s", _FILTERED, "--"),
    ):
        rates = _rates(lists, column)
        of_lists = [(keys, rate) for (single, keys), rate in rates if not single]
        if of_lists:
            ax.plot(*zip(*of_lists, strict=True), color=colour, ls=dashes, marker="o", label=label)
    single = [rate for (is_single, _), rate in _rates(lists, "lookups_per_s") if is_single]
    if single:
        look = {"mfc": "white", "mec": style.INK, "ms": 7, "zorder": 2}
        ax.plot(1, single[0], "D", label="point selects", **look)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(FixedLocator(sorted(lists["keys"].unique())))
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=20))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: formatting.exact(value)))
    sheet.trim_ticks(ax)
    ax.set_xlabel("Keys in each query")
    ax.set_ylabel("Rate, 1/s", color=style.THROUGHPUT)
    ax.legend(loc="upper left", fontsize=8)


def _by_processes(ax: Axes, runs: pd.DataFrame) -> None:
    if runs.empty:
        return _nothing(ax)
    means = intervals.means(runs, ["processes"], "tps")
    style.whiskers(ax, means["processes"], means["mean"], means["low"], means["high"])
    ax.plot(means["processes"], means["mean"], "o-", color=style.THROUGHPUT, zorder=5)
    TPS.vertical(ax, means["mean"].max())
    ax.set_ylim(0, 1.25 * means[["mean", "high"]].max().max())
    ax.set_xticks(sorted(means["processes"]), [f"{n:g}" for n in sorted(means["processes"])])
    clients = formatting.count(int(runs["clients"].max()), "client")
    ax.set_xlabel(f"Processes, with {clients} in all")


def _by_role(ax: Axes, cpus: pd.Series) -> None:
    if cpus.empty:
        return _nothing(ax)
    names, colours = zip(*(_ROLES[str(role)] for role in cpus.index), strict=True)
    ax.bar(names, cpus, color=colours, width=0.62)
    for place, value in enumerate(cpus):
        ax.annotate(formatting.plain(value), (place, value), (0, 3),
                    textcoords="offset points", ha="center", fontsize=8)  # fmt: skip
    ax.set_ylim(0, 1.2 * cpus.max())
    ax.tick_params(axis="x", labelsize=7.5)
    ax.grid(False, axis="x")
    ax.set_ylabel("Logical CPUs")


def _ratios(ax: Axes, ratios: pd.DataFrame) -> None:
    if ratios.empty:
        return _nothing(ax)
    ax.axvline(1, color=style.INK, lw=1.0, zorder=1)
    ends = [1.0]
    for place, found in enumerate(ratios.itertuples()):
        known = found.low == found.low
        low, high = (found.low, found.high) if known else (found.ratio, found.ratio)
        ends += [low, high]
        ax.plot([low, high], [place, place], color=style.THROUGHPUT, lw=2.2, zorder=2)
        ax.plot(found.ratio, place, "o", color=style.THROUGHPUT, ms=5, zorder=3)
        ax.annotate(_number(found), (max(high, 1.0), place), (6, 0),
                    textcoords="offset points", va="center", fontsize=7.5)  # fmt: skip
    ax.set_xscale("log")
    # The numbers stand to the right of the intervals.
    ax.set_xlim(min(ends) / 1.15, max(ends) * (max(ends) / min(ends)) ** 0.9 * 1.6)
    ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=10))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    sheet.trim_ticks(ax)
    ax.set_yticks(range(len(ratios)), list(ratios["compared"]), fontsize=7.8)
    ax.set_ylim(len(ratios) - 0.4, -0.6)
    ax.grid(False, axis="y")
    ax.set_xlabel("Ratio")


def _against_clients(ax: Axes, means: pd.DataFrame) -> None:
    TPS.against_clients(ax, means["clients"], means["mean"].max())
    top = means[["mean", "high"]].max().max()
    ax.set_ylim(0, 1.15 * top)
    sheet.trim_ticks(ax)


def _nothing(ax: Axes) -> None:
    ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, ha="center", color=style.QUIET)
    ax.set_xticks([])
    ax.set_yticks([])


def _number(row) -> str:
    interval = f" ({row.low:.3g} to {row.high:.3g})" if row.low == row.low else ""
    return f"{row.ratio:.3g}{interval}"


FIGURES = {
    "read-write": Entry(
        "What do read/write transactions, filters and IN lists carry?",
        paint, describe, ("runs", "slices", "processes"), height_in=9.6,
    ),
}  # fmt: skip
