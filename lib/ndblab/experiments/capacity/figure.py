"""Predictions of the capacity model beside what was measured or published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from ndblab.experiments.capacity import brief_server, comparison, figure_of_resources, forecast
from ndblab.experiments.capacity.figure_of_resources import MEAN, renamed
from ndblab.figures import curves, published, sheet, style
from ndblab.figures import points as marked
from ndblab.figures.entry import FORECAST, Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import P95, QPS
from ndblab.formatting import count, in_sentences, listed, plain
from ndblab.statistics import intervals

ROWS = (replace(QPS, log=True), replace(P95, name="p95 latency"))
_POINT = ["servers", "clients"]
_FLAT = 1e-6
_FARTHEST_PCT = 100.0
"""Upper end of the axis of errors; larger ones are drawn there."""


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw what was measured against what was predicted, for throughput and for p95 latency."""
    points, predicted = tables["points"], tables["predicted"]
    looks = style.servers(points["servers"])
    panels = sheet.panels(figure, 2)
    for ax, quantity, error in zip(panels, ROWS, _errors(tables), strict=True):
        theirs = predicted[_POINT].assign(
            predicted=predicted[quantity.metric], beyond=predicted["extrapolated"] != ""
        )
        both = renamed(points, quantity.metric, "_mean").merge(theirs, on=_POINT)
        _draw_against(ax, both, looks, error)
        ax.set_title(f"{quantity.name[0].upper()}{quantity.name[1:]}", color=quantity.colour)
        ax.set_xlabel(f"Predicted, {quantity.unit}")
        ax.set_ylabel(f"Measured, {quantity.unit}")
    for look in looks.values():
        panels[0].plot([], [], look.marker, color=look.colour, label=look.label)
    panels[0].legend(loc="lower right", fontsize=8, handletextpad=0.2)
    notes = [
        "On the line, a prediction is exact; of the points with several servers, half lie in the "
        f"grey band. {intervals.described(points['runs'], 'Whiskers', least=2)}"
    ]
    if (predicted["extrapolated"] != "").any():
        notes.append("Hollow: more clients per server than were measured.")
    simple = set(predicted["p95_by"]) - {comparison.MODEL}
    notes += [f'Filled marks of p95: by a simple method, "{name}".' for name in simple]
    return Head(_title(tables), notes)


def _draw_against(
    ax: Axes, both: pd.DataFrame, looks: Mapping[int, style.Look], error_pct: float
) -> None:
    """Draw points of `predicted` and `mean` around their diagonal, on logarithmic axes."""
    ends = both[["predicted", "mean"]].to_numpy(float)
    line = np.array([np.nanmin(ends) / 1.4, np.nanmax(ends) * 1.4])
    band = error_pct / 100
    edges = line / (1 + band), line / max(1 - band, 0.01)
    ax.fill_between(line, *edges, color=style.PALE, alpha=0.5, lw=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.plot(line, line, color=style.INK, lw=1.1, zorder=1)
    for servers, own in both.groupby("servers"):
        look = looks[servers]
        ax.vlines(own["predicted"], own["low"], own["high"], color=look.colour, lw=1.1)
        for hollow, part in own.groupby("beyond"):
            face = "white" if hollow else look.colour
            ax.plot(
                part["predicted"], part["mean"], look.marker, color=look.colour, mfc=face, ms=5.5,
            )  # fmt: skip
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    both = both.dropna(subset=["mean"])
    names = [
        f"{looks[row.servers].label}, {count(row.clients, 'client')}" for row in both.itertuples()
    ]
    marked.add(ax, both, both["predicted"], both["mean"], names)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe, by number of servers, the best throughput measured and its prediction."""
    points = tables["points"]
    best = points.loc[points.groupby("servers")["qps_mean"].idxmax()]
    both = best.merge(tables["predicted"][[*_POINT, "qps", "latency_p95_ms"]], on=_POINT)
    parts = [
        f"with {row.servers} at {count(row.clients, 'client')} {plain(row.qps_mean)} "
        f"queries/s measured and {plain(row.qps)} predicted, p95 {plain(row.latency_p95_ms_mean)} "
        f"ms measured and {plain(row.latency_p95_ms)} predicted"
        for row in both.itertuples()
    ]
    return [f"{_title(tables)}.", *in_sentences("At the best measured mean", parts)]


def _title(tables: Tables) -> str:
    """Say how far off the predictions of more than one server are at the median, and the goals."""
    names = ("throughput", "p95 latency")
    off = [
        f"{error:.0f} % off in {name} (goal {plain(comparison.GOAL_PCT[quantity.metric])} %)"
        for error, name, quantity in zip(_errors(tables), names, ROWS, strict=True)
    ]
    return f"Predicted from one server, several are {listed(off)}, at the median"


def _errors(tables: Tables) -> list[float]:
    """Return the median error in percent of the measured mean, of throughput and of p95 latency."""
    both = tables["points"].merge(tables["predicted"], on=_POINT)
    both = both[both["servers"] > 1] if (both["servers"] > 1).any() else both
    return [
        100 * (both[quantity.metric] / both[f"{quantity.metric}_mean"] - 1).abs().median()
        for quantity in ROWS
    ]


def paint_errors(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the error of every point by method, its median, and the goal."""
    errors, verdicts = tables["errors"], tables["verdicts"]
    looks = style.servers(errors["servers"])
    shown = errors.assign(
        servers=errors["servers"].astype(object), pct=errors["ape_pct"].clip(upper=_FARTHEST_PCT)
    )
    for ax, quantity in zip(sheet.panels(figure, 2, sharey=True), ROWS, strict=True):
        own = shown[shown["metric"] == quantity.metric]
        (
            style.plot(own, x="pct", y="name", color="servers", marker="servers")
            .add(so.Dots(pointsize=5, stroke=0.8, fillalpha=0.5), so.Dodge(), legend=False)
            .scale(
                color={n: look.colour for n, look in looks.items()},
                marker={n: look.marker for n, look in looks.items()},
            )
            .label(x="Error, % of the measured mean", y="")
            .limit(x=(0, 1.04 * max(20.0, own["pct"].max())))
            .on(ax)
            .plot()
        )
        _medians(ax, verdicts[verdicts["metric"] == quantity.metric])
        ax.set_title(f"{quantity.name[0].upper()}{quantity.name[1:]}")
    for look in looks.values():
        ax.plot([], [], look.marker, color=look.colour, label=look.label)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    notes = [
        "Each mark: a number of servers and clients, predicted from the runs with one server "
        "only; bars: medians. Nothing was fitted to these points, and none is left out."
    ]
    if verdicts["goal_pct"].notna().any():
        notes.append("Dashed: goal for the median.")
    if (errors["ape_pct"] > _FARTHEST_PCT).any():
        notes.append(f"Errors above {_FARTHEST_PCT:.0f} % are drawn there.")
    return Head(_errors_title(tables), notes)


def _medians(ax: Axes, verdicts: pd.DataFrame) -> None:
    """Draw the median of each method with its number, and the goal."""
    for place, row in enumerate(verdicts.itertuples()):
        x = min(row.median_pct, _FARTHEST_PCT)
        ax.plot([x, x], [place - 0.45, place + 0.45], color=style.INK, lw=2.6, zorder=4)
        ax.annotate(
            f"{plain(row.median_pct)} %", (x, place - 0.38), (4, 0), textcoords="offset points",
            fontsize=9, va="center", fontweight="bold", zorder=5,
            bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 0.6},
        )  # fmt: skip
    for goal in verdicts["goal_pct"].dropna().unique():
        ax.axvline(goal, color=style.INK, ls="--", lw=1.1, zorder=2)
    ax.tick_params(axis="y", length=0)


def describe_errors(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the median and the 90th percentile of the errors of each method."""
    words = [f"{_errors_title(tables)}."]
    for quantity in ROWS:
        rows = tables["verdicts"][tables["verdicts"]["metric"] == quantity.metric]
        methods = [
            f"{row.name} {plain(row.median_pct)} % (90th percentile {plain(row.p90_pct)} %)"
            for row in rows.itertuples()
        ]
        goals = rows["goal_pct"].dropna()
        number = count(int(rows["points"].max()), "point")
        words += in_sentences(f"{quantity.name}, median over {number}", methods)
        words += [f"The goal is at most {plain(goals.iloc[0])} %."] if len(goals) else []
    return words


def _errors_title(tables: Tables) -> str:
    """Say which method has the smallest median error, and whether it is told apart from others."""
    parts = []
    for quantity in ROWS:
        both = (tables[name] for name in ("errors", "verdicts"))
        own, rows = (table[table["metric"] == quantity.metric] for table in both)
        best = rows.loc[rows["median_pct"].idxmin()]
        doubt = "" if comparison.is_best(own, best["name"]) else ", not clearly best"
        error = f"{quantity.name.lower()} {plain(best['median_pct'])} %"
        parts.append(f"{error} ({best['name']}{doubt})")
    return f"Smallest median errors: {'; '.join(parts)}"


def paint_brief(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw throughput and latency of the brief's server, with the published numbers."""
    predicted = tables["brief_predicted"]
    looks = style.servers(predicted["servers"])
    for ax, quantity in zip(sheet.panels(figure, 2), (QPS, MEAN), strict=True):
        line = renamed(predicted, quantity.metric, "")
        curves.against_clients(ax, line, quantity, "servers", looks, quantity is MEAN)
        own = [a for a in anchors if a.unit == quantity.unit]
        for anchor in own:
            aside = 1.06 ** (np.log2(anchor.servers) - 2)
            colour = style.colour(anchor.servers)
            published.mark(ax, anchor, anchor.clients * aside, anchor.value, colour)
        ax.set_xlim(right=1.7 * predicted["clients"].max())
        low, high = ax.get_ylim()
        values = [low * 2, high / 1.2, *(a.value for a in own)]
        ax.set_ylim(min(values) / 2 if quantity.log else 0, max(values) * 1.2)
    notes = [
        "Derived from the brief's Figures 4, 5 and 9 and the throughput of its Figure 1: no run of "
        "the lab is used.",
        *published.note(anchors),
        "Published latencies are p95, lines the mean.",
    ]
    return Head(_brief_title(predicted, anchors), notes)


def describe_brief(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the best predicted throughputs, and each published number with its prediction."""
    predicted = tables["brief_predicted"]
    parts = (
        f"{plain(row.qps)} with {row.servers} at {count(row.clients, 'client')}"
        for row in _best(predicted).itertuples()
    )
    words = [
        f"{_brief_title(predicted, anchors)}.",
        *in_sentences("The best throughputs in queries/s", parts),
    ]
    known = predicted.set_index(_POINT)
    for anchor in anchors:
        if (at := (anchor.servers, anchor.clients)) in known.index:
            value = known.loc[at, "qps" if anchor.unit == QPS.unit else "latency_p95_ms"]
            words.append(
                f"With {count(anchor.servers, 'server')} and {count(anchor.clients, 'client')}: "
                f"published {published.words(anchor)}, predicted {plain(float(value))}."
            )
    return words


def _best(predicted: pd.DataFrame) -> pd.DataFrame:
    """Return the best throughput of each number of servers, with the fewest clients that reach it.

    Where a curve is flat, the last digits of its points depend on the order of sums.
    """
    most = predicted.groupby("servers")["qps"].transform("max")
    best = predicted[predicted["qps"] >= (1 - _FLAT) * most].sort_values("clients")
    return best.groupby("servers").head(1).sort_values("servers")


def _brief_title(predicted: pd.DataFrame, anchors: Anchors) -> str:
    """Say what is predicted for the most servers, beside what was published for as many clients."""
    best = _best(predicted).iloc[-1]
    qps = predicted.set_index(_POINT)["qps"]
    theirs = [a for a in anchors if a.unit == QPS.unit and a.servers == best["servers"]]
    theirs = [a for a in theirs if (a.servers, a.clients) in qps.index]
    clients = theirs[-1].clients if theirs else int(best["clients"])
    servers = count(int(best["servers"]), "server")
    title = (
        f"Fitted to the brief, the model gives its {servers} with {count(clients, 'client')} "
        f"{plain(qps[best['servers'], clients] / 1e6)} million queries/s"
    )
    if not theirs:
        return title
    millions = replace(theirs[-1], value=theirs[-1].value / 1e6, unit="million")
    return f"{title}; published: {published.words(millions)}"


FIGURES = {
    "capacity": Entry(
        "How well does a one-server sweep predict many servers?",
        paint, describe, ("points", "predicted"), FORECAST, 4.4, recorded=forecast.obtain,
    ),
    **figure_of_resources.FIGURES,
    "errors": Entry(
        "How large are the prediction errors, and would a simpler method do?",
        paint_errors, describe_errors, ("errors", "verdicts"), FORECAST, 4.6,
        recorded=forecast.obtain,
    ),
    "brief-predicted": Entry(
        "What does the model predict for the brief's own server?",
        paint_brief, describe_brief, ("brief_predicted",), FORECAST, 4.0, recorded=forecast.obtain,
        published=brief_server.anchors, of_the_brief=True,
    ),
}  # fmt: skip
