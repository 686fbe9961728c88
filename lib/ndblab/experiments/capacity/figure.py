"""Predictions of the capacity model beside measured points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ndblab import formatting
from ndblab.experiments.capacity import (
    brief_server,
    figure_bottlenecks,
    figure_bounds,
    figure_brief_predicted,
    figure_errors,
)
from ndblab.figures import intervals, sheet, style
from ndblab.figures.entry import FORECAST, Entry
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.publication import Anchor

_CLIENT_TICKS = tuple(8**i for i in range(6))


ROWS = (replace(QPS, log=True), replace(P95, name="p95 latency"))


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw predicted lines through measured marks, a column for each number of servers."""
    points, predicted = tables["points"], tables["predicted"]
    counts = sorted(int(n) for n in points["servers"].unique())
    above_in = sheet.ABOVE_WITH_LEGEND_IN
    grid = sheet.panels(figure, 2, [1.0] * len(counts), wspace=0.1, hspace=0.12, above_in=above_in)
    for quantity, axes in zip(ROWS, grid, strict=True):
        for ax, servers in zip(axes, counts, strict=True):
            line, measured = (t[t["servers"] == servers] for t in (predicted, points))
            _panel(ax, quantity, servers, line.sort_values("clients"), measured)
        _one_scale(axes, quantity, predicted, points)
    for ax, servers in zip(grid[0], counts, strict=True):
        ax.set_title(formatting.count(servers, "server"), pad=6)
        ax.set_xlabel("")
        ax.tick_params(labelbottom=False)
    handles = [
        Line2D([], [], color=style.QUIET, label="predicted from one server"),
        Patch(color=style.QUIET, alpha=0.28, label="95 % prediction interval"),
        style.measured_key(),
    ]
    sheet.legend(figure, handles)
    notes = [
        intervals.described(points["runs"], "Marks", "whiskers"),
        "Lines: fitted only to the one-server runs of the fitted dataset, at the host's speed "
        "then. Bands: 95 % of single runs, at another speed too; p95 has none.",
    ]
    if (predicted["extrapolated"] != "").any():
        notes.append("Dashed: more clients per server than were measured.")
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe, by number of servers, the best throughput measured and its prediction."""
    points = tables["points"]
    keys = ["servers", "clients"]
    best = points.loc[points.groupby("servers")["qps_mean"].idxmax()]
    both = best.merge(tables["predicted"][[*keys, "qps", "latency_p95_ms"]], on=keys)
    counts = formatting.listed(str(n) for n in both["servers"])
    plain = formatting.plain
    each = [
        f"with {row.servers} at {formatting.count(row.clients, 'client')} {plain(row.qps_mean)} "
        f"queries/s measured and {plain(row.qps)} predicted, p95 {plain(row.latency_p95_ms_mean)} "
        f"ms measured and {plain(row.latency_p95_ms)} predicted"
        for row in both.itertuples()
    ]
    return [
        "Throughput (queries/s) and 95th percentile latency (ms) against clients: lines predicted "
        f"from the runs with one MySQL server, and measured marks, a column each for {counts} "
        f"MySQL servers. At the best measured mean: {'; '.join(each)}."
    ]


def _panel(
    ax: Axes, quantity: Quantity, servers: int, line: pd.DataFrame, measured: pd.DataFrame
) -> None:
    shade, metric = style.colour(servers), quantity.metric
    if f"{metric}_low" in line:
        low, high = line[f"{metric}_low"], line[f"{metric}_high"]
        ax.fill_between(line["clients"], low, high, color=shade, alpha=0.28, lw=0)
    inside = line[metric].where(line["extrapolated"] == "")
    ax.plot(line["clients"], line[metric], color=shade, ls=(0, (2, 1.5)), lw=1.2, zorder=3)
    ax.plot(line["clients"], inside, color=shade, zorder=3)
    style.marks(ax, measured["clients"], measured, metric, style.marker(servers))


def _one_scale(
    axes: Sequence[Axes], quantity: Quantity, line: pd.DataFrame, points: pd.DataFrame
) -> None:
    """Give the panels of a row the same axes, for comparison; bands and whiskers fit in."""
    ends = [
        table.filter(regex=f"^{quantity.metric}(_mean|_low|_high)?$") for table in (line, points)
    ]
    values = pd.concat([table[name] for table in ends for name in table])
    values = values[values > 0]
    reach = points["clients"].min(), points["clients"].max()
    for ax in axes:
        quantity.against_clients(ax, points["clients"], values.max())
        ax.set_xticks([n for n in _CLIENT_TICKS if reach[0] <= n <= reach[1]])
        ax.set_ylim(values.min() / 1.5, values.max() * 1.5)
        sheet.trim_ticks(ax)
    for ax in axes[1:]:
        ax.set_ylabel("")
        ax.tick_params(labelleft=False)


FIGURES = {
    "capacity": Entry(
        "How well does a one-server sweep predict many servers?",
        paint, describe, ("points", "predicted"), FORECAST, 6.8,
    ),
    "bounds": Entry(
        "Which bounds limit one MySQL server?",
        figure_bounds.paint, figure_bounds.describe, ("bounds", "balance", "alone"), FORECAST,
    ),
    "bottlenecks": Entry(
        "Which resource saturates first as MySQL servers are added?",
        figure_bottlenecks.paint, figure_bottlenecks.describe, ("use", "measured_use"), FORECAST,
    ),
    "errors": Entry(
        "How large are the prediction errors, and would a simpler method do?",
        figure_errors.paint, figure_errors.describe, ("errors", "verdicts"), FORECAST, 6.0,
    ),
    "brief-predicted": Entry(
        "What does the model predict for the brief's own server?",
        figure_brief_predicted.paint, figure_brief_predicted.describe,
        ("brief_predicted",), FORECAST, 6.0,
        published=brief_server.anchors, of_the_brief=True,
    ),
}  # fmt: skip
