"""Figure 1: one long run, throughput and p95 latency second by second.

In: runs, intervals and events of a dataset, the published bands. Out: a painted figure and its
description. Every sample is drawn; outliers are marked, not removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ndblab import formatting
from ndblab.experiments.stability import checkpoints as spans
from ndblab.experiments.stability import figure_long_run
from ndblab.figures import published_panel, selection, sheet, style
from ndblab.figures.entry import Entry
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import LATENCY_NOTE, Caption
from ndblab.judging.publication import Anchor
from ndblab.statistics import series

_LATENCY = Quantity(P95.metric, P95.name, P95.unit, P95.colour)
"""On a linear axis, as in the brief."""
_IN_MINUTES_FROM_S = 600
# Samples above this multiple of the 99th percentile are drawn at the panel's upper edge.
_CUT = 1.6
_SMOOTHED_FROM = 2 * series.WINDOW
_STRIP = 0.955
_NODE_EVENTS = {
    "node_started": "started",
    "node_failed": "failed",
    "node_disconnected": "disconnected",
}
_SHOWN_EVENTS = 4


@dataclass(frozen=True)
class _Long:
    """The longest run, its samples in order, its events (None if the dataset has no such table)."""

    run: pd.Series
    samples: pd.DataFrame
    events: pd.DataFrame | None

    @property
    def duration_s(self) -> float:
        return float(self.samples["t_s"].iloc[-1])


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the longest good run."""
    run = _longest(tables)
    unit_s, unit = (60, "minutes") if run.duration_s >= _IN_MINUTES_FROM_S else (1, "seconds")
    half = _published_half_width(anchors)
    grid = sheet.panels(figure, rows=2, columns=(1.95, 1), wspace=0.27, hspace=0.14)
    top = grid[0][0]
    top.set_title(caption.title(", ".join(selection.in_words(run.run))))
    cut = 0
    for (ax, beside), quantity in zip(grid, (QPS, _LATENCY), strict=True):
        cut += _samples(ax, quantity, run, unit_s)
        _published(beside, quantity, [a for a in anchors if a.unit == quantity.unit])
    if half is not None:
        mean = run.samples["qps"].mean()
        for end in (mean * (1 - half), mean * (1 + half)):
            top.axhline(end, color=style.INK, lw=0.9, ls=(0, (5, 3)), zorder=3)
    events = _events(grid, run, unit_s)
    top.tick_params(labelbottom=False)
    sheet.share_labels(grid, anchors)
    grid[1][0].set_xlabel(f"Time after the warm-up, {unit}")
    return _notes(run, half, cut, events) + ([LATENCY_NOTE] if caption.is_scaled else [])


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe how much throughput and latency of the longest run varied and drifted."""
    run = _longest(tables)
    servers, clients = selection.in_words(run.run)
    words = [
        f"Throughput (queries/s) and 95th percentile latency (ms) in {len(run.samples)} samples "
        f"of one run of {formatting.plain(run.duration_s)} s with {servers} and {clients}."
    ]
    for quantity in (QPS, _LATENCY):
        values = run.samples[quantity.metric].dropna()
        if len(values):
            ends = (formatting.plain(values.quantile(end)) for end in (0.025, 0.975))
            words.append(
                f"{quantity.name}: mean {formatting.plain(values.mean())}, 95 % of the samples "
                f"from {' to '.join(ends)} {quantity.unit}; trend: {_trend(values, run)}."
            )
    return words + published_panel.sentence(
        anchors, (f"{a.series} {published_panel.words(a)}" for a in anchors)
    )


def _longest(tables: Tables) -> _Long:
    runs = selection.good(tables["runs"])
    intervals = tables["intervals"]
    runs = runs[runs["run_id"].isin(intervals["run_id"].unique())]
    if runs.empty:
        raise selection.nothing_to_draw("no interval of a good run")
    run = runs.loc[runs["duration_s"].idxmax()]
    samples = intervals[intervals["run_id"] == run["run_id"]].sort_values("t_s", ignore_index=True)
    events = tables.get("events")
    if events is not None:
        events = events[events["run_id"] == run["run_id"]].sort_values("t_s")
    return _Long(run, samples, events)


def _samples(ax: Axes, quantity: Quantity, run: _Long, unit_s: int) -> int:
    """Draw the samples and their running median; return how many are cut at the upper edge."""
    times, values = run.samples["t_s"] / unit_s, run.samples[quantity.metric]
    top = _CUT * values.quantile(0.99)
    top = min(top, 1.12 * values.max()) if values.max() < top else top
    few = len(values) < _SMOOTHED_FROM
    ax.plot(times, values, color=quantity.colour, lw=0.6, alpha=1 if few else 0.35, zorder=2)
    if not few:
        ax.plot(times, series.smooth(values), color=quantity.colour, lw=1.6, zorder=4)
    out = series.outliers(values)
    inside, beyond = out & (values <= top), values > top
    look = {"ls": "", "mec": style.INK, "mew": 0.7, "mfc": "none", "ms": 4, "zorder": 5}
    ax.plot(times[inside], values[inside], "o", **look)
    ax.plot(times[beyond], [0.985 * top] * int(beyond.sum()), "^", **look)
    quantity.vertical(ax, values.max())
    # Events are drawn in the strip above the samples.
    ax.set_ylim(0, top * (1.12 if quantity is QPS else 1))
    ax.set_xlim(0, run.duration_s / unit_s)
    return int(beyond.sum())


def _published(ax: Axes, quantity: Quantity, anchors: Sequence[Anchor]) -> None:
    """Draw the published band as a box, and published values as marks."""
    published_panel.note(ax, anchors, "Numbers stated in the source's text.")
    most = max((a.value for a in anchors), default=1.0)
    quantity.vertical(ax, most)
    ax.set_ylim(0, 1.75 * most)
    ax.set_xlim(0, 1)
    ax.set_xticks([])
    low, high = _band(anchors)
    if low is not None and high is not None:
        ax.fill_between([0.12, 0.6], low.value, high.value, color=quantity.colour, alpha=0.3, lw=0)
        about = "about " if "about" in (low.exactness, high.exactness) else ""
        # A line each for long numbers and their unit.
        apart = "\n" if low.value >= 1000 else " "
        ends = [formatting.exact(low.value), f"to {formatting.exact(high.value)}", low.unit]
        ax.annotate(
            f"{about}{apart.join(ends)}", (0.36, low.value), (0, -5),
            textcoords="offset points", ha="center", va="top", fontsize=8,
        )  # fmt: skip
    for anchor in anchors:
        if anchor in (low, high):
            continue
        published_panel.mark(ax, anchor, 0.78, quantity.colour)
        what = anchor.series.partition(", ")[2] or anchor.series
        value = published_panel.words(anchor).replace(" queries/s", "\nqueries/s")
        published_panel.label(ax, anchor, 0.78, f"{what}:\n{value}", 7.5)


def _band(anchors: Sequence[Anchor]) -> tuple[Anchor | None, Anchor | None]:
    low = next((a for a in anchors if a.bound == "lower"), None)
    high = next((a for a in anchors if a.bound == "upper"), None)
    return low, high


def _published_half_width(anchors: Sequence[Anchor]) -> float | None:
    """Half of the width of the published throughput band, relative to its middle."""
    low, high = _band([a for a in anchors if a.unit == QPS.unit])
    if low is None or high is None:
        return None
    return (high.value - low.value) / (high.value + low.value)


def _events(grid: list[list[Axes]], run: _Long, unit_s: int) -> list[str]:
    """Mark local checkpoints above the samples, and node events across both panels."""
    if run.events is None:
        return []
    if run.events.empty:
        return ["The cluster log has no events."]
    notes, top = [], grid[0][0]
    strip = {"transform": top.get_xaxis_transform(), "color": style.INK, "zorder": 6}
    checkpoints = spans.of_run(run.events, run.duration_s)
    for begin_s, end_s in checkpoints:
        top.plot([begin_s / unit_s, end_s / unit_s], [_STRIP] * 2, lw=3.5, **strip)
        top.plot([begin_s / unit_s], [_STRIP], "|", ms=7, **strip)
    if checkpoints:
        notes.append(f"Bars above: {formatting.count(len(checkpoints), 'local checkpoint')}.")
    nodes = run.events[run.events["event"].isin(list(_NODE_EVENTS))]
    for i, event in enumerate(nodes.itertuples()):
        for ax, _ in grid:
            ax.axvline(event.t_s / unit_s, color=style.INK, lw=0.9, ls=":", zorder=3)
        if i < _SHOWN_EVENTS:
            top.annotate(
                f"node {event.node_id} {_NODE_EVENTS[event.event]}", (event.t_s / unit_s, 0.02),
                (2, 0), xycoords=top.get_xaxis_transform(), textcoords="offset points",
                rotation=90, va="bottom", fontsize=7, color=style.INK,
            )  # fmt: skip
    warnings = int((run.events["event"] == "warning").sum())
    notes += [f"The cluster log has {formatting.count(warnings, 'warning')}."] if warnings else []
    return notes


def _trend(values: pd.Series, run: _Long) -> str:
    interval_s = run.duration_s / len(run.samples)
    trend = series.trend(values, interval_s)
    if not np.isfinite(trend.low):
        return "none, as the run is too short"
    low, high = (f"{end:+.1f}" for end in (trend.low, trend.high))
    return f"{trend.value:+.1f} % per hour ({low} to {high})"


def _notes(run: _Long, half: float | None, cut: int, events: list[str]) -> list[str]:
    qps, p95 = run.samples["qps"], run.samples[P95.metric].dropna()
    notes = [f"{len(run.samples)} samples."]
    notes += [] if len(qps) < _SMOOTHED_FROM else ["Thin: every sample; thick: running median."]
    notes.append(
        f"Circles: more than {series.OUTLYING} deviations from the running median of "
        f"{series.WINDOW}."
    )
    notes += [f"Triangles: {formatting.count(cut, 'sample')} beyond the panel."] if cut else []
    notes.append(
        f"Trends with 95 % interval: throughput {_trend(qps, run)}, p95 {_trend(p95, run)}."
    )
    if half is not None:
        within = qps.between(qps.mean() * (1 - half), qps.mean() * (1 + half)).mean()
        notes.append(
            f"Dashed: mean \N{PLUS-MINUS SIGN}{100 * half:.0f} %, the width of the published "
            f"band, with {100 * within:.0f} % of the samples."
        )
    return notes + events


FIGURES = {
    "1": Entry(
        "How stable are throughput and latency over a long run?",
        paint, describe, ("runs", "intervals"), one_workload=True, height_in=6.6,
    ),
    "long-run": Entry(
        "How much throughput do local checkpoints take from a long run?",
        figure_long_run.paint, figure_long_run.describe, ("runs", "intervals", "events"),
        height_in=6.8,
    ),
}  # fmt: skip
