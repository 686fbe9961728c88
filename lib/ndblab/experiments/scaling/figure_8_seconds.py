"""Figure 8: throughput and p95 latency second by second, one client count after the other.

In: runs and intervals of a dataset, the published numbers. Out: a painted figure and its
description. All repeats are shown, and every second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ndblab import formatting
from ndblab.figures import published_panel, selection, sheet
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import LATENCY_NOTE, Caption
from ndblab.judging.publication import Anchor
from ndblab.statistics import summary

# Gap between segments, relative to their length.
_GAP = 0.2


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the intervals of the runs with the most servers, a segment for each client count."""
    samples = _samples(tables)
    servers = int(samples["servers"].iloc[0])
    grid = sheet.panels(figure, rows=2, columns=(1.85, 1), hspace=0.16)
    grid[0][0].set_title(caption.title(formatting.count(servers, "server")))
    for (ax, beside), quantity in zip(grid, (QPS, P95), strict=True):
        _segments(ax, quantity, samples)
        of_unit = [a for a in anchors if a.unit == quantity.unit]
        published_panel.against_clients(beside, quantity, of_unit, room=2.7)
    sheet.share_labels(grid, anchors)
    seconds = round(samples["t_s"].max())
    grid[1][0].set_xlabel(f"Clients; in each segment the {seconds} s of a run, left to right")
    most = int(samples.groupby("clients")["run_id"].nunique().max())
    notes = ["Thin: each run" + (f", up to {most} per client count" if most > 1 else "") + "."]
    notes += ["Thick: median of the runs at each second."] if most > 1 else []
    if (samples["clients"] < servers).any():
        notes.append("With fewer clients than servers, some servers are idle.")
    return notes + ([LATENCY_NOTE] if caption.is_scaled else [])


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe how much the seconds of a run differ, by client count."""
    samples = _samples(tables)
    servers = formatting.count(int(samples["servers"].iloc[0]), "server")
    steady = summary.steadiness(samples).groupby("clients")[["qps_cv", "latency_p95_ms_cv"]].mean()
    each = [
        f"{100 * row.qps_cv:.0f} and {100 * row.latency_p95_ms_cv:.0f} % at "
        f"{formatting.count(int(clients), 'client')}"
        for clients, row in steady.iterrows()
        if np.isfinite(row.qps_cv) and np.isfinite(row.latency_p95_ms_cv)
    ]
    words = [
        f"Throughput (queries/s) and 95th percentile latency (ms) second by second with {servers}, "
        "a segment for each client count. Coefficients of variation within a run, of throughput "
        f"and of latency: {formatting.listed(each)}."
    ]
    return words + published_panel.sentence(anchors)


def _samples(tables: Tables) -> pd.DataFrame:
    """Return the intervals of the good runs with the most servers, in order."""
    runs = selection.good(tables["runs"])
    runs = runs[runs["servers"] == runs["servers"].max()]
    intervals = tables["intervals"].drop(columns="clients", errors="ignore")
    samples = intervals.merge(runs[["run_id", "servers", "clients", "repeat"]], on="run_id")
    if samples.empty:
        raise selection.nothing_to_draw("no interval of a good run")
    return samples.sort_values(["clients", "repeat", "run_id", "t_s"], ignore_index=True)


def _segments(ax: Axes, quantity: Quantity, samples: pd.DataFrame) -> None:
    counts = sorted(samples["clients"].unique())
    length_s = samples["t_s"].max()
    step_s = (1 + _GAP) * length_s
    starts = {clients: i * step_s for i, clients in enumerate(counts)}
    for i, clients in enumerate(counts):
        if i % 2:
            edge = starts[clients] - _GAP / 2 * length_s
            ax.axvspan(edge, edge + step_s, color="#f1f1f1", lw=0, zorder=0)
    x = samples["t_s"] + samples["clients"].map(starts)
    # A NaN before each run separates its line from the previous one.
    new = (samples["run_id"] != samples["run_id"].shift()).to_numpy().nonzero()[0]
    xs = np.insert(x.to_numpy(float), new, np.nan)
    ys = np.insert(samples[quantity.metric].to_numpy(float), new, np.nan)
    many = samples.groupby("clients")["run_id"].nunique().max() > 1
    alpha, width = (0.4, 0.7) if many else (1.0, 1.2)
    ax.plot(xs, ys, color=quantity.colour, alpha=alpha, lw=width, zorder=2)
    if many:
        seconds = samples.assign(x=x, second=samples["t_s"].round())
        by_second = seconds.groupby(["clients", "second"])
        middle = by_second[["x", quantity.metric]].median()
        for _, line in middle.groupby(level="clients"):
            ax.plot(line["x"], line[quantity.metric], color=quantity.colour, lw=1.8, zorder=3)
    least, most = samples[quantity.metric].min(), samples[quantity.metric].max()
    quantity.vertical(ax, most)
    ax.set_ylim(*((least / 1.6, most * 1.6) if quantity.log else (0, 1.08 * most)))
    middles = [starts[clients] + length_s / 2 for clients in counts]
    ax.set_xticks(middles, [str(clients) for clients in counts])
    ax.tick_params(axis="x", length=0)
    ax.grid(False, axis="x")
    ax.set_xlim(-_GAP * length_s / 2, starts[counts[-1]] + (1 + _GAP / 2) * length_s)
