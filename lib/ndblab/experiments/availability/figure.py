"""Faults: throughput seen by clients when a part of the cluster fails.

In: outages, intervals and events of a dataset of faults. Out: a painted figure and its description.
A panel for each fault; every run is drawn, and the numbers above a panel are those of the worst.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ndblab import formatting
from ndblab.dataset import Dataset
from ndblab.experiments.availability import analysis
from ndblab.experiments.availability import analysis as outage
from ndblab.experiments.availability.fault import FAULT, HEALED, RESTART, SERVED
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures import selection
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.quantity import QPS
from ndblab.figures.selection import Tables
from ndblab.judging.publication import Anchor

_SUCCEEDED = replace(QPS, name="Succeeded", unit="operations/s")
_DONE = (FAULT, HEALED, RESTART)
_COLUMNS = 2
_ROW_IN, _REST_IN = 2.1, 2.75
_TOLERANCE_S = 0.1
_GAP_SHADE = "#9a9a9a"
# Room above the lines.
_ROOM = 1.12
# Actions within this part of the time shown share one label.
_APART = 0.04


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw throughput around the fault, a panel for each kind of fault."""
    outages = _outages(tables)
    faults = list(dict.fromkeys(outages["fault"]))
    rows = math.ceil(len(faults) / _COLUMNS)
    figure.set_figheight(_REST_IN + rows * _ROW_IN)
    grid = sheet.panels(
        figure, rows=rows, columns=(1,) * _COLUMNS, wspace=0.14, hspace=0.55, right=0.975,
        above_in=1.0,
    )  # fmt: skip
    places = [ax for row in grid for ax in row]
    for ax, fault in zip(places, faults, strict=False):
        _panel(ax, fault, outages[outages["fault"] == fault], tables)
    for ax in places[len(faults) :]:
        ax.remove()
    for at in range(0, len(faults), _COLUMNS):
        _one_scale(places[at : at + _COLUMNS][: len(faults) - at])
    for ax in places[: len(faults)][-_COLUMNS:]:
        ax.set_xlabel("Time since the fault, seconds")
    clients = formatting.listed(str(n) for n in sorted(outages["clients"].unique()))
    notes = [
        f"{clients} clients, each with one operation at a time. Lines: each run, second by second.",
        "Shaded: the longest time without a successful operation, in the run that has the "
        "longest; dashed: actions in that run; dotted: a node serves again.",
        "A label with + 1 stands for one more action at the same time.",
        "Above each panel: the worst of its runs. A client gives up an operation after one retry.",
    ]
    return notes if anchors else [*notes, "The sources give no numbers for faults."]


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe for each fault the throughput, the longest gap and the losses."""
    words = ["Successful operations per second before, during and after a fault."]
    for fault, runs in _outages(tables).groupby("fault", sort=False):
        means = runs[["qps_before", "qps_during", "qps_after"]].mean()
        before, during, after = (_number(value) for value in means)
        words.append(
            f"{_title(fault)} ({formatting.count(len(runs), 'run')}): {before} operations/s "
            f"before, {during} until {_end(runs)}, {after} after that; at worst {_worst(runs)}."
        )
    return words


def _end(runs: pd.DataFrame) -> str:
    """Describe when the outages of a fault's runs ended."""
    if runs["served_again_s"].isna().any():
        return "the end of the load, since not every node served again"
    text = f"all served again, at most {_number(runs['served_again_s'].max())} s after the fault"
    started_s = runs["restarted_s"].min()
    return text + (f" (restarted after {_number(started_s)} s)" if started_s > 0 else "")


def _outages(tables: Tables) -> pd.DataFrame:
    if tables["outages"].empty:
        raise selection.nothing_to_draw("no run with a fault under load")
    return tables["outages"]


def _panel(ax: Axes, fault: str, runs: pd.DataFrame, tables: Tables) -> None:
    intervals = tables["intervals"]
    longest = runs.loc[runs["longest_gap_s"].idxmax()]
    for run in runs.itertuples():
        # The second in which the load stops is incomplete.
        here = (intervals["run_id"].astype(str) == run.run_id) & (
            intervals["t_s"] <= run.ends_s + _TOLERANCE_S
        )
        own = intervals[here].sort_values("t_s")
        # Each sample is about the second before it; the first one needs a start as well.
        times, heights = [0.0, *own["t_s"]], [*own["qps"].head(1), *own["qps"]]
        ax.step(
            np.array(times) - run.fault_s, heights, where="pre", color=_SUCCEEDED.colour, lw=0.9,
            alpha=0.8 if len(runs) > 1 else 1, zorder=3,
        )  # fmt: skip
    began_s = longest["gap_began_s"] - longest["fault_s"]
    ax.axvspan(
        began_s, began_s + longest["longest_gap_s"], facecolor=_GAP_SHADE, edgecolor=_GAP_SHADE,
        alpha=0.45, lw=0.8, zorder=1,
    )  # fmt: skip
    _marks(ax, longest, tables["events"])
    ax.set_title(_title(fault), pad=17)
    ax.annotate(
        _worst(runs), (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points",
        fontsize=7, color=style.INK, va="bottom",
    )  # fmt: skip
    ax.margins(x=0.01)
    low, high = ax.get_xlim()
    ax.set_xlim(low, high)
    ax.set_xticks([tick for tick in ax.get_xticks() if low <= tick <= high])


def _marks(ax: Axes, run: pd.Series, events: pd.DataFrame) -> None:
    """Mark the actions in a run, and when the nodes served again, with labels."""
    own = events[events["run_id"].astype(str) == run["run_id"]].sort_values("t_s")
    kind = own["event"].astype(str)
    done, served = own[kind.isin(_DONE)], own[kind == SERVED]
    for dashes, marked in (("--", done), (":", served)):
        for t_s in marked["t_s"]:
            ax.axvline(t_s - run["fault_s"], color=style.INK, lw=0.9, ls=dashes, zorder=2)
    span_s = float(own["t_s"].max()) - run["fault_s"]
    words = _apart(done, _APART * max(span_s, 1.0))
    if len(served):
        last_s = float(served["t_s"].iloc[-1])
        words[last_s] = "serves again" if len(served) == 1 else "all serve again"
    for t_s, text in words.items():
        ax.annotate(
            text, (t_s - run["fault_s"], 0.03), (2, 0), xycoords=ax.get_xaxis_transform(),
            textcoords="offset points", rotation=90, va="bottom", fontsize=6.5, color=style.INK,
            zorder=5, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.6},
        )  # fmt: skip


def _apart(done: pd.DataFrame, least_s: float) -> dict[float, str]:
    """Return the labels of actions by time; those that follow at once count to the first."""
    words: dict[float, list[str]] = {}
    for row in done.itertuples():
        if not words or row.t_s - max(words) >= least_s:
            words[float(row.t_s)] = []
        words[max(words)].append(str(row.text))
    return {
        t_s: f"{first} + {len(more)}" if more else first for t_s, (first, *more) in words.items()
    }


def _one_scale(row: Sequence[Axes]) -> None:
    """Give the panels of a row the same vertical axis, for comparison."""
    heights = [max(line.get_ydata(), default=0.0) for ax in row for line in ax.lines]
    most = max(1.0, *map(float, heights))
    for ax in row:
        _SUCCEEDED.vertical(ax, most)
        ax.yaxis.label.set_size(8.5)
        ax.set_ylim(0, _ROOM * most)
    for ax in row[1:]:
        ax.set_ylabel("")


def _worst(runs: pd.DataFrame) -> str:
    """Describe the worst of a fault's runs in a few words."""
    worst = outage.worst(runs).iloc[0]
    gave_up = int(worst["gave_up_clients"])
    words = [
        f"gap {_number(worst['longest_gap_s'])} s",
        f"{formatting.count(gave_up, 'client')} gave up",
    ]
    lost, more = int(worst["lost"]), int((runs["wrong"] - runs["lost"]).max())
    if not runs["replicas"].min():
        words.append("writes not read")
    else:
        words.append(f"{formatting.count(lost, 'write')} lost")
    if more:
        words.append(f"{more} more wrong")
    return ", ".join(words)


def _title(fault: str) -> str:
    return fault.replace("-", " ").capitalize()


def _number(value: float) -> str:
    return formatting.plain(value) if math.isfinite(value) else "unknown"


def _computed(data: Dataset) -> dict[str, pd.DataFrame]:
    return {"outages": analysis.of_dataset(data)}


FIGURES = {
    "faults": Entry(
        "What do clients see when a part of the cluster fails?",
        paint, describe, ("outages", "intervals", "events"),
        computed=_computed,
    ),
    "network-faults": Entry(
        "What do clients see when the network or a host fails?",
        paint, describe, ("outages", "intervals", "events"),
        computed=_computed,
    ),
}  # fmt: skip
