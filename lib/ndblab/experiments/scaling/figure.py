"""Figures 6 and 7: throughput and p95 latency by servers and clients, with the ratios they give."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

import pandas as pd
from matplotlib.axes import Axes

from ndblab.error import MissingData
from ndblab.experiments.scaling import allowed, figure_of_runs, figure_of_threads
from ndblab.figures import curves, forest, published, selection, style, variants
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import DEFAULT
from ndblab.figures.variants import Comparison, Kind
from ndblab.formatting import count, in_sentences, less_or_more, plain
from ndblab.judging.publication import Anchor
from ndblab.statistics import blocks, estimate, intervals, summary

_QUOTA = "Each process has a quota, the brief's share of this host's CPUs: compare shapes only."
_EQUAL = ", equal clients"
"""End of the name of a ratio that is not one of best means."""
_THAN = ("fewer queries/s than", "more queries/s than", "as many queries/s as")
MOST_OF_FAILURES = 120
"""Most characters of a note on which runs failed and why; if longer, they are only counted."""
_THREADS = Comparison(
    Kind("automatic threads", "shm", DEFAULT, style.THROUGHPUT),
    (Kind("balanced threads", "shm", "balanced-threads", style.ORANGE, "s"),),
    "All threads of a data node share its CPU quota.",
)


def paint_peaks(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratios of the peaks, and below throughput against clients by number of servers."""
    points, ratios = _points(tables, QPS), _ratios(tables)
    gain = _published(anchors, ratios)
    lower = forest.leading(figure, ratios, "Throughput, ratio", anchors=gain)
    panels = curves.facets(lower, points, QPS, "servers", style.servers(points["servers"]))
    for peak in summary.peaks(points).itertuples():
        ax = panels[peak.servers]
        ax.plot(peak.clients, peak.qps_mean, "o", ms=11, mfc="none", mec=style.INK, zorder=5)
        ax.set_title(f"{ax.get_title(loc='left')}\n{plain(peak.qps_mean)}")
    notes = _notes(panels, points, ratios, caption) + _draw_allowed(panels, points, tables, caption)
    notes += ["Rings and numbers: best mean. Ratios are of best means, unless at equal clients."]
    notes += published.note(chain(*gain.values()))
    return Head(_gain(points, ratios), notes)


def describe_peaks(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the best means, their ratios and what was published."""
    points, ratios = _points(tables, QPS), _ratios(tables)
    best = (
        f"{plain(p.qps_mean)} with {p.servers} at {count(p.clients, 'client')}"
        for p in summary.peaks(points).itertuples()
    )
    words = [f"{_gain(points, ratios)}.", *in_sentences("The best means in queries/s", best)]
    return [*words, *forest.sentence(ratios), *published.sentence(anchors)]


def paint_latency(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw p95 against clients of each server, and its ratio with more servers above."""
    points, ratios = _points(tables, P95), _latency_ratios(tables)
    alike = [a for a in anchors if a.clients == 32 * a.servers]
    more = _published(alike, ratios, ", 32 clients each")
    lower = forest.leading(figure, ratios, "95th percentile latency, ratio", 2.3, anchors=more)
    by_server = points.assign(clients=points["clients"] / points["servers"])
    by_server = by_server[~points["idle_servers"]]
    ax = lower.subplots()
    curves.against_clients(ax, by_server, P95, "servers", style.servers(points["servers"]))
    ax.set_xlabel("Clients of each server")
    notes = _notes({}, points, ratios, caption)
    notes += published.note(chain(*more.values()))
    return Head(_same_latency(points, ratios), notes)


def describe_latency(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the range of each line, the ratios and what was published."""
    points, ratios = _points(tables, P95).dropna(subset="mean"), _latency_ratios(tables)
    lines = (
        f"from {plain(line['mean'].iloc[0])} to {plain(line['mean'].iloc[-1])} ms with {servers} "
        f"({line['clients'].iloc[0]} to {line['clients'].iloc[-1]} clients)"
        for servers, line in points.groupby("servers")
    )
    words = [f"{_same_latency(points, ratios)}.", *in_sentences("95th percentile latency", lines)]
    return [*words, *forest.sentence(ratios), *published.sentence(anchors)]


def _points(tables: Tables, quantity: Quantity) -> pd.DataFrame:
    """Average the points; `mean` is of this quantity, with the ends of its band."""
    keys = ["servers", "clients"]
    points, runs = summary.points(tables["runs"]), selection.good(tables["runs"])
    bands = intervals.means(runs, keys, quantity.metric)
    return points.merge(bands.drop(columns="runs"), on=keys, how="left")


def _sides(tables: Tables, metric: str) -> tuple[dict[int, dict[int, pd.Series]], object]:
    """Return the runs of each number of servers and of clients, and how much such runs differ."""
    runs = selection.good(tables["runs"])
    runs = runs[runs["clients"] >= runs["servers"]]
    adjusted = blocks.block_adjusted(runs, metric)
    sides: dict[int, dict[int, pd.Series]] = {}
    for (servers, clients), values in adjusted.groupby([runs["servers"], runs["clients"]]):
        sides.setdefault(int(servers), {})[int(clients)] = values
    if not sides:
        raise MissingData("no good run with as many clients as servers")
    return sides, blocks.variability(runs, metric)


def _ratios(tables: Tables) -> pd.DataFrame:
    """Compare the peak of each number of servers with that of the next fewer, and most with one.

    The last doubling is compared at equal clients, too, if there are such runs.
    """
    sides, pooled = _sides(tables, "qps")
    counts = sorted(sides)
    pairs = list(zip(counts[1:], counts, strict=False))
    pairs += [(counts[-1], counts[0])] if len(pairs) > 1 else []
    rows = [
        [f"{count(top, 'server')} over {base}", top, base,
         *estimate.peak_ratio([*sides[top].values()], [*sides[base].values()], pooled)]
        for top, base in pairs
    ]  # fmt: skip
    if len(counts) > 1:
        fewer, most = counts[-2:]
        with contextlib.suppress(MissingData):
            equal = allowed.at_equal_clients(tables["runs"], most, fewer)
            rows.append([f"{count(most, 'server')} over {fewer}{_EQUAL}", most, fewer, *equal])
    return pd.DataFrame(rows, columns=["name", "top", "base", "ratio", "low", "high"])


def _latency_ratios(tables: Tables) -> pd.DataFrame:
    """Compare p95 of the most servers with that of the fewest, at equal clients of each server."""
    sides, pooled = _sides(tables, P95.metric)
    base, top = min(sides), max(sides)
    rows = [
        [
            f"{count(top, 'server')} over {base}, {count(clients // base, 'client')} each",
            clients // base,
            *estimate.ratio(sides[top][clients * top // base], values, pooled=pooled),
        ]
        for clients, values in sorted(sides[base].items())
        if top > base and clients * top // base in sides[top]
    ]
    return pd.DataFrame(rows, columns=["name", "each", "ratio", "low", "high"])


def _published(anchors: Anchors, ratios: pd.DataFrame, where: str = "") -> dict[str, list[Anchor]]:
    """Return the published ratio of the most servers to the fewest, by the name of its row."""
    by_servers = {anchor.servers: anchor for anchor in anchors}
    if len(by_servers) < 2:
        return {}
    top, base = by_servers[max(by_servers)], by_servers[min(by_servers)]
    name = f"{count(top.servers, 'server')} over {base.servers}{where}"
    gain = replace(top, value=top.value / base.value, unit="ratio")
    return {name: [gain]} if name in set(ratios["name"]) else {}


def _gain(points: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say what the last step to the most servers gave, at equal clients if there are such runs."""
    if ratios.empty:
        peaks = summary.peaks(points).set_index("servers")["qps_mean"]
        return f"{count(int(peaks.index[0]), 'server')} gave {plain(peaks.iloc[0])} queries/s"
    row = ratios.iloc[-1]
    servers, ends = count(row["top"], "server"), row[["ratio", "low", "high"]]
    if not row["name"].endswith(_EQUAL):
        # The last row is then of the best means of the most servers and of the fewest.
        of = f"the queries/s of {row['base']}, each at its best"
        return f"{servers} gave {plain(row['ratio'])} times {of}"
    fewer, more, same = (f"{how} {row['base']} at equal clients" for how in _THAN)
    alike = round(100 * row["ratio"]) == 100 and not row["low"] < row["high"]
    return f"{servers} gave {same if alike else less_or_more(*ends, fewer, more)}"


def _draw_allowed(
    panels: Mapping[object, Axes], points: pd.DataFrame, tables: Tables, caption: Caption
) -> list[str]:
    """Draw what quotas would allow each number of servers with queries at their cheapest."""
    if not (caption.is_scaled and caption.cpus and "processes" in tables):
        return []
    try:
        most = allowed.by_quotas(tables["runs"], tables["processes"], caption.cpus)
    except MissingData:
        return []
    for servers, ax in panels.items():
        ax.axhline(most[servers], color=style.INK, lw=0.8, ls=(0, (5, 2)), zorder=2)
        ax.annotate(
            f"quotas {plain(most[servers])}", (0.98, most[servers]), (0, 6), ha="right",
            xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=7.5,
        )  # fmt: skip
        ax.set_ylim(0, max(ax.get_ylim()[1], 1.15 * most.max()))
    peaks = summary.peaks(points).set_index("servers")["qps_mean"]
    servers = int(peaks.index.max())
    off = round(100 * (peaks[servers] / most[servers] - 1))
    below = f"{abs(off)} % {'above' if off > 0 else 'below'}" if off else "within 1 % of"
    return [
        f"Dashed: what quotas alone would allow; {count(servers, 'server')} stayed {below} that."
    ]


def _same_latency(points: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say how p95 changes with more servers and clients."""
    known = points.dropna(subset="mean")
    if ratios.empty:
        return f"p95 latency was {plain(known['mean'].min())} to {plain(known['mean'].max())} ms"
    order = ratios.sort_values("ratio")
    least, most = order.iloc[0], order.iloc[-1]
    factor = int(known["servers"].max() // known["servers"].min())
    said = f"{factor} times the servers and clients had {plain(least['ratio'])} times "
    said += "the p95 latency"
    if plain(least["ratio"]) == plain(most["ratio"]):
        return said
    each = count(least["each"], "client")
    return f"{said} with {each} each, and {plain(most['ratio'])} times with {most['each']}"


def _notes(
    panels: Mapping[object, Axes], points: pd.DataFrame, ratios: pd.DataFrame, caption: Caption
) -> list[str]:
    """Mark points that differ from the others, and describe how to read the figure."""
    notes = [intervals.described(points["runs"])]
    notes += ["Bars at ratios: 95 % confidence interval."] if ratios["low"].notna().any() else []
    failed = points[points["failed"] > 0]
    for row in failed.itertuples():
        lost = row.mean != row.mean
        if ax := panels.get(row.servers):
            place = {"transform": ax.get_xaxis_transform()} if lost else {"zorder": 6}
            ax.plot(row.clients, 0.03 if lost else row.mean, "kx", ms=8, **place)
    idle = points[points["idle_servers"] & points["mean"].notna()]
    for row in idle.itertuples():
        if ax := panels.get(row.servers):
            look = {"mec": style.colour(row.servers), "mfc": "white", "zorder": 4, "ms": 6}
            ax.plot(row.clients, row.mean, style.marker(row.servers), **look)
    if len(idle) and panels:
        notes.append("Hollow: fewer clients than servers, so some servers are idle.")
    said = "; ".join(
        f"{count(p.servers, 'server')}, {count(p.clients, 'client')}: {p.marks}"
        for p in failed.itertuples()
    )
    if len(said) > MOST_OF_FAILURES:
        lost = count(int(failed["failed"].sum()), "failed run")
        said = f"{lost} of {count(len(failed), 'point')}{', not averaged' if panels else ''}"
    if said:
        notes.append(f"{'Crosses' if panels else 'Not averaged'}: {said}.")
    return notes + ([_QUOTA] if caption.is_scaled else [])


FIGURES = {
    **figure_of_runs.FIGURES,
    **figure_of_threads.FIGURES,
    "thread-balance": variants.entry("Do balanced NDB threads raise throughput?", _THREADS),
    "6": Entry(
        "How far does doubling the MySQL servers raise throughput?",
        paint_peaks, describe_peaks, height_in=5.1, one_workload=True, under_quotas=True,
    ),
    "7": Entry(
        "Can twice the MySQL servers serve twice the clients at the same latency?",
        paint_latency, describe_latency, height_in=5.6, one_workload=True, under_quotas=True,
    ),
}  # fmt: skip
