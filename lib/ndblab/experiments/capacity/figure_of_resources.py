"""Bounds of one MySQL server, and utilisation of each resource as servers are added."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes

from ndblab.experiments.capacity import forecast
from ndblab.figures import curves, sheet, style
from ndblab.figures.entry import FORECAST, Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.style import Look
from ndblab.formatting import count, in_sentences, plain
from ndblab.statistics import intervals

MEAN = Quantity("latency_avg_ms", "Mean latency", "ms", style.LATENCY, log=True)
_PANELS = ((QPS, "qps_least", "qps_most"), (MEAN, "latency_least_ms", "latency_most_ms"))
_HOLLOW = so.Dot(color="white", edgecolor=style.INK, edgewidth=1, pointsize=5)
# Safe for colour-blind readers (Okabe and Ito 2008) where the lab has no colour of its own.
SHARES = {
    "mysqld": Look("mysqld", style.SERVER, "^"),
    "SQL side": Look("SQL side", "#9467a5", "D"),
    "data nodes": Look("data nodes", style.DATA_NODE, "s"),
    "host": Look("host", style.INK, "o"),
}
THREADS = {
    "recv": Look("recv", "#0072b2", "o"),
    "tc": Look("tc", "#d55e00", "s"),
    "ldm": Look("ldm", "#009e73", "^"),
    "query": Look("query", "#cc79a7", "D"),
    "send": Look("send", "#7a7a7a", "v"),
}


def renamed(table: pd.DataFrame, metric: str, suffix: str) -> pd.DataFrame:
    """Return the means and the ends of the intervals of a metric as `mean`, `low`, `high`."""
    columns = {"mean": f"{metric}{suffix}", "low": f"{metric}_low", "high": f"{metric}_high"}
    return table.assign(**{name: table.get(column, np.nan) for name, column in columns.items()})


def paint_bounds(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the range between the bounds, the model in it, and the measured means."""
    bounds, alone, balance = tables["bounds"], tables["alone"], tables["balance"]
    for ax, (quantity, low, high) in zip(sheet.panels(figure, 2), _PANELS, strict=True):
        measured = renamed(alone, quantity.metric, "_mean")
        # With data of its own, a layer takes only the variables that it names.
        whiskers = {"x": "clients", "ymin": "low", "ymax": "high"}
        (
            style.plot(bounds, x="clients")
            .add(so.Band(color=style.QUIET, alpha=0.2), ymin=low, ymax=high)
            .add(so.Line(color=quantity.colour), y=quantity.metric)
            .add(so.Range(color=style.INK, linewidth=1.2), data=measured, **whiskers)
            .add(_HOLLOW, data=measured, x="clients", y="mean")
            .on(ax)
            .plot()
        )
        ends = bounds.assign(mean=bounds[high], low=bounds[low], high=np.nan)
        curves.scale(ax, pd.concat([ends, measured]), quantity)
        curves.cut(ax, measured, [""] * len(measured), "Whiskers")
        for row in balance[balance["clients"] >= bounds["clients"].min()].itertuples():
            ax.axvline(row.clients, color=style.INK, lw=1, ls=":", zorder=2)
            ax.annotate(
                "N*", (row.clients, 0.03), (3, 0), xycoords=ax.get_xaxis_transform(),
                textcoords="offset points",
            )  # fmt: skip
    notes = [
        "Grey: between the bounds that follow from the measured CPU time per query: no query "
        "waits before the bottleneck saturates, or each waits for all others. Line: model. "
        f"Circles: measured. {intervals.described(alone['runs'], 'Whiskers', least=2)} "
        f"{_balanced(balance)}"
    ]
    return Head(_bounds_title(bounds, alone), notes)


def describe_bounds(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe bounds, model and measured means with the fewest and the most clients."""
    bounds, alone = tables["bounds"], tables["alone"]
    words = [f"{_bounds_title(bounds, alone)}."]
    for clients in (alone["clients"].min(), alone["clients"].max()):
        row = bounds[bounds["clients"] == clients]
        if row.empty:
            continue
        low, high, model = (plain(row[f"qps{end}"].iloc[0]) for end in ("_least", "_most", ""))
        here = alone[alone["clients"] == clients].iloc[0]
        words.append(
            f"With {count(int(clients), 'client')}: bounds {low} to {high} queries/s, model "
            f"{model}, measured {plain(here['qps_mean'])}; mean latency measured "
            f"{plain(here['latency_avg_ms_mean'])} ms."
        )
    return [*words, _balanced(tables["balance"])]


def _bounds_title(bounds: pd.DataFrame, alone: pd.DataFrame) -> str:
    """Say how often throughput lies within its bounds, and how far the model is off."""
    both = alone.merge(bounds, on="clients")
    inside = both["qps_mean"].between(both["qps_least"], both["qps_most"])
    error = 100 * (both["qps"] / both["qps_mean"] - 1).abs().median()
    return (
        f"Throughput of one server lies within its bounds at {inside.sum()} of {len(both)} "
        f"numbers of clients; the model is {error:.0f} % off at the median"
    )


def _balanced(balance: pd.DataFrame) -> str:
    """Describe with how many clients the best case saturates the bottleneck."""
    if balance.empty:
        return "Even at best, the measured numbers of clients do not saturate the bottleneck."
    row = balance.iloc[0]
    clients, bottleneck = plain(row["clients"]), row["bottleneck"]
    if row["clients"] <= 1:
        return f"Balanced point N*: {clients} clients, so a single client saturates {bottleneck}."
    return f"Balanced point N*: {clients} clients saturate {bottleneck} if none of them waits."


def paint_bottlenecks(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw predicted lines and measured marks, shares of CPUs apart from NDB threads."""
    left, right = sheet.panels(figure, 2)
    _utilisation(left, SHARES, tables)
    left.set_title("Shares of the host's CPUs")
    left.set_ylabel("Utilisation, percent of its share")
    _utilisation(right, THREADS, tables)
    right.set_title("NDB threads, by kind")
    right.set_ylabel("Utilisation, percent of a CPU", color=style.DATA_NODE)
    notes = [
        "Lines: predicted from the runs with one server. Circles: measured, mean of runs. Dashed: "
        "saturated. The SQL side is all MySQL servers and sysbench."
    ]
    if caption.is_scaled:
        notes.append("Under quotas all threads of a data node share its quota.")
    return Head(_bottleneck_title(tables), notes)


def describe_bottlenecks(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe predicted and measured utilisation with the fewest and the most servers."""
    use, measured = tables["use"], tables["measured_use"]
    words = [
        f"{_bottleneck_title(tables)}.",
        f"Utilisation of each resource against MySQL servers, each with {_each(use)} clients.",
    ]
    for servers in (use["servers"].min(), use["servers"].max()):
        parts = []
        for name in (*SHARES, *THREADS):
            value, seen = (_value(table, servers, name) for table in (use, measured))
            if value is not None:
                beside = "" if seen is None else f" ({plain(100 * seen)} % measured)"
                parts.append(f"{name} {plain(100 * value)} %{beside}")
        words += in_sentences(f"With {count(int(servers), 'server')}", parts)
    return words


def _utilisation(ax: Axes, looks: Mapping[str, Look], tables: Tables) -> None:
    predicted, measured = (
        tables[name][tables[name]["resource"].isin(list(looks))].assign(
            percent=100 * tables[name]["utilisation"]
        )
        for name in ("use", "measured_use")
    )
    (
        style.plot(predicted, x="servers", y="percent", color="resource")
        .add(so.Line(), legend=False)
        .add(so.Dots(pointsize=6, stroke=1.3, fillalpha=0), data=measured, legend=False)
        .scale(color={name: look.colour for name, look in looks.items()})
        .label(x="")
        .on(ax)
        .plot()
    )
    most = max(10.0, 1.12 * pd.concat([predicted, measured])["percent"].max())
    ax.set_ylim(0, most)
    ax.set_xscale("log", base=2)
    most_servers = predicted["servers"].max()
    ticks = [2**i for i in range(12) if 2**i <= most_servers]
    ax.set_xticks(ticks, [str(n) for n in ticks])
    ax.minorticks_off()
    ax.set_xlabel(f"MySQL servers, {_each(tables['use'])} clients each")
    if most > 100:
        ax.axhline(100, color=style.INK, ls="--", lw=1.1, zorder=2)
    ends = predicted.sort_values("servers").groupby("resource")["percent"].last()
    curves.label_ends(ax, [(looks[name], most_servers, end) for name, end in ends.items()])


def _bottleneck_title(tables: Tables) -> str:
    """Say which share is used most with the most servers, as predicted and as measured."""
    use, measured = tables["use"], tables["measured_use"]
    servers = int(use["servers"].max())
    values = {name: _value(use, servers, name) or 0.0 for name in SHARES}
    busiest = max(values, key=values.__getitem__)
    seen = _value(measured, servers, busiest)
    what = "the SQL side" if busiest == "SQL side" else busiest
    title = f"With {count(servers, 'server')}, {what} is fullest: "
    title += f"{100 * values[busiest]:.0f} % of its share predicted"
    return title + ("" if seen is None else f", {100 * seen:.0f} % measured")


def _each(use: pd.DataFrame) -> int:
    return int((use["clients"] / use["servers"]).iloc[0])


def _value(table: pd.DataFrame, servers: int, name: str) -> float | None:
    rows = table[(table["servers"] == servers) & (table["resource"] == name)]["utilisation"]
    return float(rows.iloc[0]) if len(rows) and np.isfinite(rows.iloc[0]) else None


FIGURES = {
    "bounds": Entry(
        "Which bounds limit one MySQL server?",
        paint_bounds, describe_bounds, ("bounds", "balance", "alone"), FORECAST, 3.8,
        recorded=forecast.obtain,
    ),
    "bottlenecks": Entry(
        "Which resource saturates first as MySQL servers are added?",
        paint_bottlenecks, describe_bottlenecks, ("use", "measured_use"), FORECAST, 4.0,
        recorded=forecast.obtain,
    ),
}  # fmt: skip
