"""Figure 1: one long run second by second, throughput and p95 latency in percent of their means."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ndblab.experiments.stability import analysis, checkpoint_cost, control, figure_long_run
from ndblab.experiments.stability.checkpoint_cost import Run
from ndblab.figures import published, selection, style, timeline
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.formatting import count, plain
from ndblab.statistics import series

_NODE_EVENTS = {
    "node_started": "started",
    "node_failed": "failed",
    "node_disconnected": "disconnected",
}
_SHOWN_EVENTS = 4


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the longest good run, with the published bands around the means."""
    long = _longest(tables)
    unit_s, unit = timeline.unit(long.samples["t_s"].max())
    speed = _speed(long, tables)
    heights = (3, 3) if speed.empty else (3, 3, 2)
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    beyond = 0
    for ax, quantity in zip(axes[:2], (QPS, P95), strict=True):
        values = _percent(long, quantity).set_axis(long.samples["t_s"])
        beyond += _samples(ax, values, quantity.colour, unit_s, _published(anchors, quantity))
        name = quantity.name.replace("95th percentile", "p95")
        ax.set_ylabel(f"{name},\n% of its mean", color=quantity.colour)
    if not speed.empty:
        beyond += _samples(axes[2], speed, style.TEAL, unit_s, _published(anchors, QPS))
        axes[2].set_ylabel("Host's speed,\n% of its mean", color=style.TEAL)
    axes[-1].set_xlabel(f"Time after the warm-up, {unit}")
    notes = [f"{count(len(long.samples), 'sample')}; thick: running median."]
    notes += ["Grey: the published band around its mean."] if anchors else []
    notes.append("Circles: outliers.")
    notes += [f"Triangles: {count(beyond, 'sample')} beyond the panel."] if beyond else []
    notes += [] if speed.empty else ["Bottom: equal work of a process beside the cluster."]
    return Head(_title(long, anchors), notes + _events(axes[0], long, unit_s, tables))


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe how much throughput and latency of the longest run varied and drifted."""
    long = _longest(tables)
    servers, clients = selection.in_words(long.row)
    words = [
        f"{_title(long, anchors)}.",
        f"Throughput (queries/s) and 95th percentile latency (ms) in {len(long.samples)} samples "
        f"of one run of {plain(long.samples['t_s'].max())} s with {servers} and {clients}.",
    ]
    for metric, row in analysis.steadiness(long.samples).iterrows():
        quantity = QPS if metric == QPS.metric else P95
        if np.isfinite(row["mean"]):
            words.append(
                f"{quantity.name}: mean {plain(row['mean'])}, 95 % of the samples from "
                f"{plain(row['low_95'])} to {plain(row['high_95'])} {quantity.unit}; trend: "
                f"{_trend(row)}."
            )
    if not (speed := _speed(long, tables)).empty:
        low, high = speed.quantile(list(analysis.RANGE)) - 100
        words.append(
            "A process that does equal work beside the cluster shows the speed of the host: for "
            f"95 % of seconds {low:+.1f} to {high:+.1f} % from its mean."
        )
    return [*words, *published.sentence(anchors, by_series=True)]


def _longest(tables: Tables) -> Run:
    return checkpoint_cost.of_run(analysis.longest(figure_long_run.sampled(tables)), tables)


def _speed(long: Run, tables: Tables) -> pd.Series:
    """Return the speed of the control in percent of its mean; empty if none ran."""
    speed = control.of_run(tables["control"], long.row) if "control" in tables else pd.Series()
    return 100 * speed / speed.mean()


def _percent(long: Run, quantity: Quantity) -> pd.Series:
    """Return the samples in percent of their mean."""
    values = long.samples[quantity.metric]
    return 100 * values / values.mean()


def _published(anchors: Anchors, quantity: Quantity) -> tuple[float, float] | None:
    """Return the published band in percent of its mean, or else of its middle."""
    mine = [a for a in anchors if a.unit == quantity.unit]
    ends = {a.bound: a.value for a in mine if a.bound}
    if set(ends) != {"lower", "upper"}:
        return None
    mean = next((a.value for a in mine if a.series.endswith("mean")), sum(ends.values()) / 2)
    return 100 * ends["lower"] / mean, 100 * ends["upper"] / mean


def _samples(
    ax: Axes, by_second: pd.Series, colour: str, unit_s: int, band: tuple[float, float] | None
) -> int:
    """Draw samples and the published band, in percent; return how many are beyond the panel."""
    times, values = pd.Series(by_second.index) / unit_s, by_second.reset_index(drop=True)
    timeline.draw(ax, times, values, colour)
    ax.axhline(100, color=style.INK, lw=0.8, zorder=1)
    if band is not None:
        ax.axhspan(*band, fc=style.INK, ec=style.INK, alpha=0.25, lw=1.2, zorder=3)
    ends = [*values.quantile([0.001, 0.999]), *(band or ())]
    room = 0.15 * (max(ends) - min(ends)) or 1.0
    low, high = max(0.0, min(ends) - room), max(ends) + room
    out = series.outliers(values)
    look = {"ls": "", "mec": style.INK, "mew": 0.7, "mfc": "none", "ms": 4, "zorder": 5}
    ax.plot(times[out], values.where(values.between(low, high))[out], "o", **look)
    edges = (values > high, high - 0.1 * room, "^"), (values < low, low + 0.1 * room, "v")
    for beyond, edge, mark in edges:
        ax.plot(times[beyond], [edge] * int(beyond.sum()), mark, **look)
    ax.set_ylim(low, high)
    return int((~values.between(low, high) & values.notna()).sum())


def _events(ax: Axes, long: Run, unit_s: int, tables: Tables) -> list[str]:
    """Shade local checkpoints and mark node events; return notes about the cluster log."""
    if "events" not in tables:
        return []
    events = tables["events"][tables["events"]["run_id"] == long.row["run_id"]]
    if events.empty:
        return ["The cluster log has no events."]
    for panel in ax.figure.axes:
        timeline.shade(panel, [(begin / unit_s, end / unit_s) for begin, end in long.spans])
    nodes = events[events["event"].isin(list(_NODE_EVENTS))].sort_values("t_s")
    words = [f"node {e.node_id} {_NODE_EVENTS[e.event]}" for e in nodes.itertuples()]
    timeline.label(ax, list(zip(nodes["t_s"] / unit_s, words, strict=True))[:_SHOWN_EVENTS])
    warnings, more = int((events["event"] == "warning").sum()), len(nodes) - _SHOWN_EVENTS
    notes = [f"Shaded: {count(len(long.spans), 'local checkpoint')}."] if long.spans else []
    notes += [f"Not marked: {count(more, 'later event')} of nodes."] if more > 0 else []
    return notes + ([f"The cluster log has {count(warnings, 'warning')}."] if warnings else [])


def _title(long: Run, anchors: Anchors) -> str:
    """Say how close to its mean throughput stayed, here and as published."""
    low, high = _percent(long, QPS).quantile(list(analysis.RANGE))
    title = (
        f"For 95 % of {plain(round(long.samples['t_s'].max()))} s, throughput differed from its "
    )
    title += f"mean by {low - 100:+.0f} to {high - 100:+.0f} %"
    if band := _published(anchors, QPS):
        title += f"; published: \N{PLUS-MINUS SIGN}{(band[1] - band[0]) / 2:.0f} %"
    return title.replace("-", "\N{MINUS SIGN}")


def _trend(row: pd.Series) -> str:
    trend = [row[f"trend_{part}"] for part in ("pct_per_hour", "low", "high")]
    if not np.isfinite(trend[1]):
        return "none, as the run is too short"
    value, low, high = (f"{end:+.1f}" for end in trend)
    return f"{value} % per hour ({low} to {high})"


FIGURES = {
    "1": Entry(
        "How stable are throughput and latency over a long run?",
        paint, describe, ("runs", "intervals"), height_in=5.4, one_workload=True, under_quotas=True,
    ),
    **figure_long_run.FIGURES,
}  # fmt: skip
