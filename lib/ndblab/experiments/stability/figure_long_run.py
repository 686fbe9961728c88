"""A long run with writes: throughput second by second, and what local checkpoints take from it.

In: runs, intervals and events of a dataset, the published ratio. Out: a painted figure and its
description. Ratios are those of the verdict, one per cycle of a checkpoint, of the longest run and
of its repeats.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.experiments.stability import checkpoint_cost as cost
from ndblab.experiments.stability.checkpoint_cost import Repeats, Run
from ndblab.experiments.stability.checkpoints import LEAST_GAP_S
from ndblab.figures import published_panel, selection, sheet, style
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.publication import Anchor
from ndblab.statistics.estimate import Estimate

_RATIO = Quantity("ratio", "Whole cycle over outside", "ratio", style.THROUGHPUT)
_SHADE = "#c9c9c9"
_IN_MINUTES_FROM_S = 600


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the longest good run above; below the ratio of each cycle, and the start of one."""
    repeats = _longest(tables)
    run = repeats.longest
    unit_s, unit = (
        (60, "minutes") if run.row["duration_s"] >= _IN_MINUTES_FROM_S else (1, "seconds")
    )
    grid = sheet.panels(figure, rows=2, columns=(1.6, 1), wspace=0.27, hspace=0.36)
    (seconds, beside), (ratios, start) = grid
    seconds.set_title(caption.title(", ".join(selection.in_words(run.row))))
    _seconds(seconds, run, unit_s)
    _published(beside, anchors)
    _cycles(ratios, repeats, unit_s)
    _start(start, repeats)
    ratios.set_xlabel(f"Time after the warm-up, {unit}")
    for ax in (*grid[0], *grid[1]):
        ax.yaxis.label.set_size(9)
    return _notes(repeats)


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the longest run, its checkpoints, and what they take from it and its repeats."""
    repeats = _longest(tables)
    run = repeats.longest
    servers, clients = selection.in_words(run.row)
    words = [
        f"Throughput in {len(run.samples)} seconds of one run of {run.row['workload']} with "
        f"{servers} and {clients}: mean {formatting.plain(run.samples['qps'].mean())} queries/s. "
        f"{_checkpoints(run)}"
    ]
    if (found := _kept(repeats)) is not None:
        whole = "The whole run has" if len(repeats.runs) == 1 else f"{_runs(repeats)} have"
        outside = "its" if len(repeats.runs) == 1 else "their"
        words.append(f"{whole} {_in_words(found)} times {outside} throughput outside.")
        dip = cost.around_start(repeats)
        lowest = dip.loc[dip["ratio"].idxmin()]
        words.append(
            f"Around the start of a checkpoint throughput is lowest in second "
            f"{int(lowest['second'])}: {formatting.plain(lowest['ratio'])} of that outside."
        )
    return words + published_panel.sentence(
        anchors, (f"{a.series} {published_panel.words(a)}" for a in anchors)
    )


def _longest(tables: Tables) -> Repeats:
    runs = selection.good(tables["runs"])
    runs = runs[runs["run_id"].isin(tables["intervals"]["run_id"].unique())]
    if runs.empty:
        raise selection.nothing_to_draw("no interval of a good run")
    return cost.of_longest(runs, tables)


def _kept(repeats: Repeats) -> Estimate | None:
    """Return the ratio of the verdict; None without a cycle."""
    try:
        return cost.kept(repeats.throughput)
    except MissingData:
        return None


def _checkpoints(run: Run) -> str:
    if not run.spans:
        return "No local checkpoint ran."
    number = formatting.count(len(run.spans), "local checkpoint")
    return f"{number} took {100 * run.share:.0f} % of the time."


def _runs(repeats: Repeats) -> str:
    return formatting.count(len(repeats.runs), "run")


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


def _cycles(ax: Axes, repeats: Repeats, unit_s: int) -> None:
    """Draw the ratio of each cycle of all runs, and their mean with its interval."""
    ax.axhline(1, color=style.INK, lw=1.2, zorder=1)
    ax.set_xlim(0, float(repeats.longest.samples["t_s"].max()) / unit_s)
    found = _kept(repeats)
    if found is None:
        ax.text(0.5, 0.5, "no whole cycle of a checkpoint", transform=ax.transAxes, ha="center")
        _RATIO.vertical(ax, 1)
        return
    if found.bounded:
        ax.axhspan(found.low, found.high, color=style.THROUGHPUT, alpha=0.25, lw=0, zorder=2)
    ax.axhline(found.value, color=style.THROUGHPUT, lw=1.6, zorder=3)
    highest = 1.0
    for run in repeats.runs:
        table = run.throughput
        ratio, middle = table["whole"] / table["outside"], (table["begin_s"] + table["end_s"]) / 2
        filled = style.THROUGHPUT if run is repeats.longest else "white"
        ax.plot(middle / unit_s, ratio, "o", color=style.THROUGHPUT, mfc=filled, ms=3.6, zorder=4)
        highest = max(highest, ratio.max())
    of = f", {_runs(repeats)}" if len(repeats.runs) > 1 else ""
    ax.set_title(f"Cycle by cycle{of}: {_in_words(found)}")
    _RATIO.vertical(ax, highest)


def _start(ax: Axes, repeats: Repeats) -> None:
    """Draw throughput around the start of a checkpoint, over that outside."""
    table = cost.around_start(repeats)
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


def _notes(repeats: Repeats) -> list[str]:
    run = repeats.longest
    notes = [f"Shaded: local checkpoints. {_checkpoints(run)}" if run.spans else _checkpoints(run)]
    if len(repeats.runs) > 1:
        below = "its repeats too" if len(run.throughput) else "cycles of its repeats alone"
        notes.append(f"Above: the longest run. Below: {below}, as hollow points.")
    if _kept(repeats) is not None:
        notes.append(
            "A cycle reaches from the middle of the gap before a checkpoint to the middle of the "
            f"gap after it; checkpoints less than {LEAST_GAP_S:g} s apart count as one. Line and "
            "band: geometric mean of the cycles with its 95 % interval. Whiskers: 95 % intervals."
        )
    return notes
