"""A long run with writes: throughput second by second, and what local checkpoints take from it.

In: runs, intervals and events of a dataset, the published ratio. Out: a painted figure and its
description. Ratios are those of the verdict, one per cycle of a checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ndblab.analysis import formatting, stability
from ndblab.analysis.checkpoints import cost
from ndblab.analysis.checkpoints.cost import Run
from ndblab.analysis.checkpoints.spans import LEAST_GAP_S
from ndblab.analysis.estimate import Estimate
from ndblab.claims.publication import Anchor
from ndblab.error import MissingData
from ndblab.figures import published_panel, selection, sheet, style
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption

_RATIO = Quantity("ratio", "Whole cycle over outside", "ratio", style.THROUGHPUT)
_SHADE = "#c9c9c9"
_IN_MINUTES_FROM_S = 600


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the longest good run above; below the ratio of each cycle, and the start of one."""
    run = _longest(tables)
    unit_s, unit = (
        (60, "minutes") if run.row["duration_s"] >= _IN_MINUTES_FROM_S else (1, "seconds")
    )
    grid = sheet.panels(figure, rows=2, columns=(1.6, 1), wspace=0.27, hspace=0.36)
    (seconds, beside), (ratios, start) = grid
    seconds.set_title(caption.title(", ".join(selection.in_words(run.row))))
    _seconds(seconds, run, unit_s)
    _published(beside, anchors)
    _cycles(ratios, run, unit_s)
    _start(start, run)
    ratios.set_xlabel(f"Time after the warm-up, {unit}")
    for ax in (*grid[0], *grid[1]):
        ax.yaxis.label.set_size(9)
    return _notes(run)


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the run, its checkpoints, and what they take."""
    run = _longest(tables)
    servers, clients = selection.in_words(run.row)
    words = [
        f"Throughput in {len(run.samples)} seconds of one run of {run.row['workload']} with "
        f"{servers} and {clients}: mean {formatting.plain(run.samples['qps'].mean())} queries/s. "
        f"{_checkpoints(run)}"
    ]
    if (found := _kept(run)) is not None:
        words.append(f"The whole run has {_in_words(found)} times its throughput outside.")
        dip = cost.around_start(run)
        lowest = dip.loc[dip["ratio"].idxmin()]
        words.append(
            f"Around the start of a checkpoint throughput is lowest in second "
            f"{int(lowest['second'])}: {formatting.plain(lowest['ratio'])} of that outside."
        )
    return words + published_panel.sentence(
        anchors, (f"{a.series} {published_panel.words(a)}" for a in anchors)
    )


def _longest(tables: Tables) -> Run:
    runs = selection.good(tables["runs"])
    runs = runs[runs["run_id"].isin(tables["intervals"]["run_id"].unique())]
    if runs.empty:
        raise selection.nothing_to_draw("no interval of a good run")
    return cost.of_run(stability.longest(runs), tables)


def _kept(run: Run) -> Estimate | None:
    """Return the ratio of the verdict; None without a cycle."""
    try:
        return cost.kept(run.throughput)
    except MissingData:
        return None


def _checkpoints(run: Run) -> str:
    if not run.spans:
        return "No local checkpoint ran."
    number = formatting.count(len(run.spans), "local checkpoint")
    return f"{number} took {100 * run.share:.0f} % of the time."


def _in_words(found: Estimate) -> str:
    value, low, high = (f"{x:.3f}" for x in found)
    return f"{value} ({low} to {high})" if found.bounded else value


def _seconds(ax: Axes, run: Run, unit_s: int) -> None:
    """Draw every second, with checkpoints shaded."""
    times, values = run.samples["t_s"] / unit_s, run.samples["qps"]
    _shade(ax, run, unit_s)
    ax.plot(times, values, color=style.THROUGHPUT, lw=0.8, zorder=3)
    QPS.vertical(ax, values.max())
    ax.set_ylim(0, 1.12 * values.quantile(0.995))
    ax.set_xlim(0, float(times.max()))


def _shade(ax: Axes, run: Run, unit_s: int) -> None:
    for begin_s, end_s in run.spans:
        ax.axvspan(begin_s / unit_s, end_s / unit_s, facecolor=_SHADE, edgecolor="none", zorder=1)


def _cycles(ax: Axes, run: Run, unit_s: int) -> None:
    """Draw the ratio of each cycle, and their mean with its interval."""
    ax.axhline(1, color=style.INK, lw=1.2, zorder=1)
    ax.set_xlim(0, float(run.samples["t_s"].max()) / unit_s)
    table, found = run.throughput, _kept(run)
    if found is None:
        ax.text(0.5, 0.5, "no whole cycle of a checkpoint", transform=ax.transAxes, ha="center")
        _RATIO.vertical(ax, 1)
        return
    ratio = table["whole"] / table["outside"]
    if found.bounded:
        ax.axhspan(found.low, found.high, color=style.THROUGHPUT, alpha=0.25, lw=0, zorder=2)
    ax.axhline(found.value, color=style.THROUGHPUT, lw=1.6, zorder=3)
    middle = (table["begin_s"] + table["end_s"]) / 2 / unit_s
    ax.plot(middle, ratio, "o", color=style.THROUGHPUT, ms=3.6, zorder=4)
    ax.set_title(f"Cycle by cycle: {_in_words(found)}")
    _RATIO.vertical(ax, ratio.max())


def _start(ax: Axes, run: Run) -> None:
    """Draw throughput around the start of a checkpoint, over that outside."""
    table = cost.around_start(run)
    ax.axhline(1, color=style.INK, lw=1.2, zorder=1)
    ax.axvline(0, color=style.INK, lw=0.9, ls=":", zorder=1)
    ax.set_title("Around the start of a checkpoint")
    ax.set_xlabel("Seconds since it started")
    ax.set_xlim(-cost.BEFORE_S, cost.AFTER_S)
    ax.set_xticks(range(-2, cost.AFTER_S + 1, 2))
    Quantity("ratio", "Over the mean outside", "ratio", style.THROUGHPUT).vertical(ax, 1)
    if table.empty:
        return
    middle = table["second"] + 0.5
    ax.plot(middle, table["ratio"], "o-", color=style.THROUGHPUT, ms=4, zorder=3)
    style.whiskers(ax, middle, table["ratio"], table["low"], table["high"])
    ax.set_ylim(0, max(1.2, 1.1 * float(np.nanmax(table["ratio"]))))


def _published(ax: Axes, anchors: Sequence[Anchor]) -> None:
    published_panel.note(ax, anchors, "A ratio stated in the source's text.", 34)
    ax.axhline(1, color=style.INK, lw=1.2, zorder=1)
    for i, anchor in enumerate(anchors):
        published_panel.mark(ax, anchor, i, style.INK)
        published_panel.label(ax, anchor, i, published_panel.words(anchor))
    ax.set_xticks(range(len(anchors)), [a.series for a in anchors], fontsize=8)
    ax.tick_params(axis="x", length=0, pad=1)
    ax.grid(False, axis="x")
    ax.set_xlim(-0.7, max(len(anchors), 1) - 0.3)
    ax.set_ylim(0.7, 1.15)
    Quantity("ratio", "Throughput", "ratio", style.INK).vertical(ax, 1)


def _notes(run: Run) -> list[str]:
    notes = [f"Shaded: local checkpoints. {_checkpoints(run)}" if run.spans else _checkpoints(run)]
    if _kept(run) is not None:
        notes.append(
            "A cycle reaches from the middle of the gap before a checkpoint to the middle of the "
            f"gap after it; checkpoints less than {LEAST_GAP_S:g} s apart count as one. Line and "
            "band: geometric mean of the cycles with its 95 % interval. Whiskers: 95 % intervals."
        )
    return notes
