"""Comparisons of two kinds of runs: SHM and TCP, spinning and none, NDB threads.

In: runs that alternate between kinds, the published ratios. Out: a painted figure and its
description. Ratios are of runs with the same repeat, clients and workload.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ndblab import formatting
from ndblab.error import LabError, MissingData
from ndblab.figures import intervals, selection
from ndblab.figures import old_published_panel as published_panel
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.selection import DEFAULT, Tables
from ndblab.judging.publication import Anchor
from ndblab.statistics import pairs, summary

_WORKLOADS = {"oltp_point_select": "point selects", "oltp_read_write": "OLTP read/write"}
_WORKLOAD_LOOKS = {"oltp_point_select": ("o", "-"), "oltp_read_write": ("s", "--")}
# Factor between points with equal clients, to keep their whiskers apart.
_APART = 1.045


@dataclass(frozen=True)
class Kind:
    """One side of a comparison."""

    name: str
    transporter: str
    variant: str
    colour: str


@dataclass(frozen=True)
class Comparison:
    """The kinds that are compared, and the one that all are divided by."""

    ratio: str
    over: Kind
    kinds: tuple[Kind, ...]
    scaled_note: str


TRANSPORTERS = Comparison(
    "Throughput, SHM over TCP",
    Kind("TCP", "tcp", DEFAULT, "#8a4fa0"),
    (Kind("SHM", "shm", DEFAULT, style.THROUGHPUT),),
    "Both sides have the same share of the CPUs as a quota.",
)
SPINNING = Comparison(
    "Spinning over no spinning",
    Kind("no spinning", "shm", DEFAULT, style.THROUGHPUT),
    (
        Kind("spinning transporter", "shm", "shm-spin", "#c8691c"),
        Kind("spinning tc and ldm too", "shm", "all-spin", "#5b3a8c"),
    ),
    "Spinning consumes CPU quota; dedicated CPUs are unaffected.",
)

THREADS = Comparison(
    "Balanced over automatic",
    Kind("automatic threads", "shm", DEFAULT, style.THROUGHPUT),
    (Kind("balanced threads", "shm", "balanced-threads", "#c8691c"),),
    "All threads of a data node share its CPU quota.",
)

TLS = Comparison(
    "Throughput, TLS over plain text",
    Kind("plain text", "tcp", DEFAULT, "#8a4fa0"),
    (Kind("TLS", "tcp", "tls", "#2b7a6f"),),
    "Both sides have the same share of the CPUs as a quota, which encryption uses too.",
)


def paint(
    comparison: Comparison,
    figure: Figure,
    tables: Tables,
    anchors: Sequence[Anchor],
    caption: Caption,
) -> list[str]:
    """Draw the paired ratios, the throughputs they are made of, and the published ratios."""
    runs, ratios = _runs(comparison, tables), _ratios(comparison, tables)
    runs = runs[runs["workload"].isin(ratios["workload"])]
    grid = sheet.panels(figure, rows=2, heights=(1.15, 1), wspace=0.24, hspace=0.2)
    (ratio, beside), (absolute, empty) = grid
    empty.remove()
    ratio.set_title(caption.title())
    cut = _ratio_panel(ratio, comparison, ratios)
    cut = _absolute_panel(absolute, comparison, runs) or cut
    _published(beside, comparison, anchors)
    notes = [_pairs(ratios)]
    notes += ["Some intervals reach beyond their panel."] if cut else []
    notes.append("Below: means of the same runs with their own intervals.")
    return notes + ([comparison.scaled_note] if caption.is_scaled else [])


def describe(comparison: Comparison, tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe each ratio with its interval."""
    ratios = _ratios(comparison, tables)
    words = [f"{comparison.ratio}, against clients, each with its 95 % interval over paired runs."]
    for (name, workload), line in ratios.groupby(["kind", "workload"], sort=False):
        each = [
            f"{row.mean:.2f}"
            + (f" ({row.low:.2f} to {row.high:.2f})" if row.low == row.low else "")
            + f" at {formatting.count(row.clients, 'client')}"
            for row in line.itertuples()
        ]
        words.append(f"{name}, {_WORKLOADS.get(workload, workload)}: {formatting.listed(each)}.")
    return words + published_panel.sentence(
        anchors, (f"{a.series} {published_panel.words(a)}" for a in anchors)
    )


def _runs(comparison: Comparison, tables: Tables) -> pd.DataFrame:
    """Return the good runs of all kinds, with the column `kind`."""
    runs = selection.with_variant(tables["runs"])
    runs = summary.good(runs)
    sides = []
    for kind in (comparison.over, *comparison.kinds):
        of_kind = (runs["transporter"] == kind.transporter) & (runs["variant"] == kind.variant)
        sides.append(runs[of_kind].assign(kind=kind.name))
    return pd.concat(sides, ignore_index=True)


def _ratios(comparison: Comparison, tables: Tables) -> pd.DataFrame:
    """Return the ratio of each kind per workload and clients, computed as for the verdicts."""
    runs = _runs(comparison, tables)
    rows = []
    for kind in comparison.kinds:
        for workload, of_workload in runs.groupby("workload", observed=True):
            sides = [of_workload[of_workload["kind"] == k.name] for k in (kind, comparison.over)]
            try:
                logs = pairs.log_ratios(*sides)
            except MissingData:
                continue
            for clients, of_point in logs.groupby("clients"):
                found = pairs.ratio(logs, [clients])
                rows.append((kind.name, workload, clients, len(of_point), *found))
    if not rows:
        others = formatting.listed(f'"{kind.name}"' for kind in comparison.kinds)
        raise LabError(
            "The figure has no pair of runs to compare",
            found="no two good runs of the same repeat, clients and workload",
            expected=f'runs of "{comparison.over.name}" and of {others}',
            next_step="Choose a dataset of an experiment that compares them.",
        )
    columns = ["kind", "workload", "clients", "runs", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _pairs(ratios: pd.DataFrame) -> str:
    """Describe how many pairs a ratio has, and what its whiskers are."""
    fewest, most = int(ratios["runs"].min()), int(ratios["runs"].max())
    number = f"{fewest} to {most}" if fewest < most else f"{most}"
    words = f"{number} {'pair' if most == 1 else 'pairs'} per point, of the same repeat, clients "
    words += "and workload. Marks: geometric mean of their ratios; "
    if ratios["low"].isna().all():
        return words + "a single pair has no interval, so there are no whiskers."
    return words + "whiskers: 95 % interval, from the variability of all pairs of a line."


def _limits(ratios: pd.DataFrame) -> tuple[float, float]:
    low = min(0.95, ratios["mean"].min(), ratios["low"].clip(lower=ratios["mean"] / 1.3).min())
    high = max(1.05, ratios["mean"].max(), ratios["high"].clip(upper=ratios["mean"] * 1.3).max())
    return low, high


def _ratio_panel(ax: Axes, comparison: Comparison, ratios: pd.DataFrame) -> bool:
    """Draw the ratios; return whether an interval reaches beyond the panel."""
    kinds = {kind.name: kind for kind in comparison.kinds}
    lines = list(ratios.groupby(["kind", "workload"], sort=False))
    handles = []
    ax.axhline(1, color=style.INK, lw=1.2, zorder=1)
    for i, ((name, workload), line) in enumerate(lines):
        marker, dashes = _WORKLOAD_LOOKS.get(workload, ("D", ":"))
        look = {"color": kinds[name].colour, "marker": marker, "ls": dashes}
        x = line["clients"] * _APART ** (2 * i - len(lines) + 1)
        ax.plot(x, line["mean"], zorder=3, **look)
        thin = {"ecolor": look["color"], "elinewidth": 1.1, "capsize": 2.5, "zorder": 2}
        style.whiskers(ax, x, line["mean"], line["low"], line["high"], **thin)
        label = _WORKLOADS.get(workload, workload)
        label = f"{name}, {label}" if len(kinds) > 1 else label
        handles.append(Line2D([], [], label=label, **look))
    quantity = Quantity("mean", comparison.ratio, "ratio", style.INK)
    quantity.against_clients(ax, ratios["clients"], 1)
    ax.set_xlabel("")
    low, high = _limits(ratios)
    # The legend is above the ratios and their whiskers, of which the panel shows a part.
    shown = ratios["high"].clip(upper=ratios["mean"].max() * 1.6).max()
    high = max(high, shown) if shown == shown else high
    ax.set_ylim(low - 0.04, high + 0.04 + (high - low) * 0.11 * (len(handles) + 1))
    ax.legend(handles=handles, loc="upper left", handlelength=2.8, fontsize=8)
    bottom, top = ax.get_ylim()
    return bool((ratios["low"] < bottom).any() or (ratios["high"] > top).any())


def _absolute_panel(ax: Axes, comparison: Comparison, runs: pd.DataFrame) -> bool:
    """Draw throughput by kind; return whether an interval reaches beyond the panel."""
    kinds = {kind.name: kind for kind in (comparison.over, *comparison.kinds)}
    means = intervals.means(runs, ["kind", "workload", "clients"], "qps")
    for (name, workload), line in means.groupby(["kind", "workload"], sort=False):
        marker, dashes = _WORKLOAD_LOOKS.get(workload, ("D", ":"))
        look = {"color": kinds[name].colour, "marker": marker, "ls": dashes}
        ax.fill_between(
            line["clients"], line["low"], line["high"], color=look["color"], alpha=0.15, lw=0
        )
        # The base is hollow, since lines may overlap.
        face = "white" if name == comparison.over.name else look["color"]
        ax.plot(line["clients"], line["mean"], mfc=face, zorder=3, **look)
    QPS.against_clients(ax, means["clients"], means["mean"].max())
    ax.set_ylim(0, means["mean"].max() * 1.15)
    handles = [
        Line2D(
            [], [], color=kind.colour, label=name, marker="o",
            mfc="white" if name == comparison.over.name else kind.colour,
        )
        for name, kind in kinds.items()
        if name in set(means["kind"])
    ]  # fmt: skip
    # Below the published panel.
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.08, 0.55))
    return bool((means["high"] > ax.get_ylim()[1]).any())


def _published(ax: Axes, comparison: Comparison, anchors: Sequence[Anchor]) -> None:
    """Draw the published ratios side by side, since the sources give no clients for them."""
    published_panel.note(ax, anchors, "Ratios stated in the sources' text.", 36)
    ax.axhline(1, color=style.INK, lw=1.2, zorder=1)
    for i, anchor in enumerate(anchors):
        published_panel.mark(ax, anchor, i, style.INK)
        published_panel.label(ax, anchor, i, published_panel.words(anchor))
    names = [anchor.series for anchor in anchors]
    ax.set_xticks(range(len(anchors)), names, fontsize=8, rotation=35, ha="right")
    ax.tick_params(axis="x", length=0, pad=1)
    ax.grid(False, axis="x")
    ax.set_xlim(-0.7, max(len(anchors), 1) - 0.3)
    values = [anchor.value for anchor in anchors] or [1.0]
    ax.set_ylim(min(*values, 1) - 0.12, max(*values, 1) + 0.35)
    ax.set_ylabel(f"{comparison.ratio}, ratio")


def entry(question: str, kinds: Comparison) -> Entry:
    """Return the figure of a comparison of variants."""
    return Entry(question, partial(paint, kinds), partial(describe, kinds), height_in=7.4)
