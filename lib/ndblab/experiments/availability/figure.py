"""Faults: the longest gap of each in successful operations, and throughput around the fault."""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ndblab.dataset.schema import FAULT, HEALED, RESTART, SERVED
from ndblab.error import MissingData
from ndblab.experiments.availability import analysis
from ndblab.experiments.availability.words import (
    FROZEN,
    LOST_ARBITRATOR,
    OTHERS_ARBITRATE,
    SHORT_HEARTBEATS,
    silences,
    worded,
)
from ndblab.figures import bars, sheet, style, timeline
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS
from ndblab.formatting import count, listed, plain

_SUCCEEDED = replace(QPS, name="Succeeded", unit="operations/s")
_DONE = (FAULT, HEALED, RESTART)
_PANEL_IN, _BAR_IN, _REST_IN = 1.2, 0.28, 1.7
_TOLERANCE_S = 0.1
_LEAST_PAD, _ROW_PT = 20, 11
# Actions closer together than this share of the time axis have one label.
_APART = 0.04
_ACROSS = 2
"""Panels beside each other on a wide sheet."""
_MOST_LABELS = 4
"""Most labels of actions that fit into a panel of a wide sheet."""
_BEFORE_S = 10
_TITLES = {
    LOST_ARBITRATOR: "Data node killed, no arbitrator",
    OTHERS_ARBITRATE: "Data node killed, servers arbitrate",
}
"""What these faults are called, which their names say less well."""
_NAME, _NARROW, _LINE_IN = 20, 26, 0.14
"""Characters in a line of a bar's name; in a line of the text beside a bar on a tall sheet, and the
extra height per bar for that text."""


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw a bar of each fault's longest gap, and below them throughput around each fault."""
    outages = tables["outages"]
    if outages.empty:
        raise MissingData("no run with a fault under load")
    gaps = outages.groupby("fault", sort=False)["longest_gap_s"].max()
    faults = list(gaps.sort_values(ascending=False, kind="stable").index)
    across = 1 if sheet.is_tall(figure) else _ACROSS
    rows = math.ceil(len(faults) / across)
    gaps_in, panels_in = 0.6 + _BAR_IN * len(faults), 0.7 + _PANEL_IN * rows
    figure.set_figheight(_REST_IN + gaps_in + panels_in)
    upper, lower = figure.subfigures(2, height_ratios=(gaps_in, panels_in))
    _gaps(upper.subplots(), outages)
    grid = lower.subplots(rows, across, sharex=True, sharey=True, squeeze=False)
    panels, unused = list(grid.flat)[: len(faults)], list(grid.flat)[len(faults) :]
    last_s = max(1.0, float((outages["ends_s"] - outages["fault_s"]).max()))
    for ax, fault in zip(panels, faults, strict=True):
        ax.set_xlim(-min(_BEFORE_S, float(outages["fault_s"].max())), last_s)
        _panel(ax, outages[outages["fault"] == fault], tables)
        # Above all rows of labels: a long title would meet the upper ones.
        highest = max((label.xyann[1] for label in ax.texts), default=0)
        ax.set_title(_title(fault), pad=max(_LEAST_PAD, highest + _ROW_PT))
        _SUCCEEDED.vertical(ax, 1.0)
        ax.set_ylabel("")
        ax.label_outer()
    panels[0].set_ylim(bottom=0)
    lower.suptitle(
        "Succeeded operations/s, second by second", x=0.012, ha="left", fontsize=9.5,
        color=_SUCCEEDED.colour,
    )  # fmt: skip
    for ax in panels[-across:]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("Time since the fault, seconds")
    for ax in unused:
        ax.remove()
    clients = listed(str(n) for n in sorted(outages["clients"].unique()))
    notes = [
        f"{clients} clients, each with one operation at a time. {_runs(outages)} per fault. Lines: "
        "each run, second by second. "
        "Shaded: the longest gap; dashed: actions in that run; dotted: a node serves again. A "
        "client gives up an operation after one retry."
        + ("" if sheet.is_tall(figure) else " + 1: one more action, within seconds.")
    ]
    if (outages["wrong"] > outages["lost"]).any():
        notes.append("Other errors: wrong rows or reads.")
    return Head(_answer(outages), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe for each fault the throughput, the longest gap and the losses."""
    words = [f"{_answer(tables['outages'])}."]
    for fault, runs in tables["outages"].groupby("fault", sort=False):
        means = runs[["qps_before", "qps_during", "qps_after"]].mean()
        before, during, after = (_number(value) for value in means)
        words.append(
            f"{_title(fault)} ({count(len(runs), 'run')}): {before} operations/s "
            f"before, {during} until {_end(runs)}, {after} after that. At worst {_worst(runs)}."
        )
    return words


def _end(runs: pd.DataFrame) -> str:
    """Describe when the outages of a fault's runs ended."""
    if runs["served_again_s"].isna().any():
        return "the end of the load, since not every node served again"
    text = f"all served again, at most {_number(runs['served_again_s'].max())} s after the fault"
    started_s = runs["restarted_s"].min()
    return text + (f" (restarted after {_number(started_s)} s)" if started_s > 0 else "")


def _runs(outages: pd.DataFrame) -> str:
    """Say how many runs each fault has."""
    least, most = outages.groupby("fault").size().agg(["min", "max"])
    return count(most, "run") if least == most else f"{least} to {most} runs"


def _answer(outages: pd.DataFrame) -> str:
    """Say what stopped clients longest, how much a setting saved, and how many writes were lost.

    If a replica could not be read, the title does not say that nothing was lost.
    """
    gaps_s = outages.groupby("fault", sort=False)["longest_gap_s"]
    most = gaps_s.max().idxmax()
    title = f"{worded(most)[:1].upper()}{worded(most)[1:]} stopped "
    span = f"clients for {_span(gaps_s.get_group(most))} s"
    # That stop ends only when the lab ends it.
    title += "the cluster until the lab restarted it" if most == LOST_ARBITRATOR else span
    if most in (silent := silences(gaps_s.groups)):
        gap = _span(outages.loc[outages["fault"].isin(silent), "longest_gap_s"])
        title = f"A data node that fell silent stopped clients for {gap} s"
    if most == FROZEN and SHORT_HEARTBEATS in gaps_s.groups:
        title += f", {_span(gaps_s.get_group(SHORT_HEARTBEATS))} with short heartbeats"
    losses = [
        f"{_writes(lost)} lost {_with(fault, most)}"
        for fault, lost in outages.groupby("fault", sort=False)["lost"]
        if lost.max() > 0
    ]
    if losses:
        return f"{title}; {listed(losses)}"
    return title + ("; no write was lost" if outages["replicas"].min() else ", the longest gap")


def _span(values: pd.Series) -> str:
    """Write the least and the most of a fault's runs; one number if they are the same."""
    return " to ".join(dict.fromkeys(_number(value) for value in (values.min(), values.max())))


def _writes(lost: pd.Series) -> str:
    least, most = int(lost.min()), int(lost.max())
    if least == most:
        return count(most, "write")
    return f"{least} to {most} writes" if least else f"up to {count(most, 'write')}"


def _with(fault: str, most: str) -> str:
    """Refer to a fault in a title that begins with the one of the longest gap."""
    if fault == most:
        return "with it"
    return "without an arbitrator" if fault == LOST_ARBITRATOR else f"with {worded(fault)}"


def _gaps(ax: Axes, outages: pd.DataFrame) -> None:
    """Draw the longest gap of each kind of fault, the longest first, on a logarithmic axis."""
    rows = [
        (fault, _title(fault), runs["longest_gap_s"].max(), _worst(runs))
        for fault, runs in outages.groupby("fault", sort=False)
    ]
    table = pd.DataFrame(rows, columns=["fault", "name", "gap_s", "text"])
    if sheet.is_tall(ax.figure):
        sheet.grow(ax.figure, _LINE_IN * len(table))
        table["text"] = [_short(text) for text in table["text"]]
    table["name"] = [textwrap.fill(name, _NAME) for name in table["name"]]
    table = table.sort_values("gap_s", ascending=False, kind="stable", ignore_index=True)
    bars.draw(ax, table, "gap_s", "Longest gap without success, s", style.LATENCY, room=3.0)


def _short(text: str) -> str:
    """Leave out counts of zero, and fold the rest for a narrow screen."""
    parts = [part for part in text.split(", ") if not part.startswith("0 ")]
    return textwrap.fill(", ".join(parts), _NARROW)


def _panel(ax: Axes, runs: pd.DataFrame, tables: Tables) -> None:
    """Draw every run around the fault; mark gap and actions of the run with the longest gap."""
    intervals = tables["intervals"]
    for run in runs.itertuples():
        # The second in which the load stops is incomplete.
        here = (intervals["run_id"].astype(str) == run.run_id) & (
            intervals["t_s"] <= run.ends_s + _TOLERANCE_S
        )
        own = intervals[here].sort_values("t_s")
        # Each sample covers the second before it; the first one needs a start as well.
        times, heights = [0.0, *own["t_s"]], [*own["qps"].head(1), *own["qps"]]
        ax.step(
            np.array(times) - run.fault_s, heights, where="pre", color=_SUCCEEDED.colour, lw=0.9,
            alpha=0.8 if len(runs) > 1 else 1, zorder=3,
        )  # fmt: skip
    longest = runs.loc[runs["longest_gap_s"].idxmax()]
    began_s = longest["gap_began_s"] - longest["fault_s"]
    timeline.shade(ax, [(began_s, began_s + longest["longest_gap_s"])])
    _marks(ax, longest, tables["events"])


def _marks(ax: Axes, run: pd.Series, events: pd.DataFrame) -> None:
    """Mark the actions in a run, and when the nodes served again, with labels."""
    own = events[events["run_id"].astype(str) == run["run_id"]].sort_values("t_s")
    kind = own["event"].astype(str)
    done, served = own[kind.isin(_DONE)], own[kind == SERVED]
    low, high = ax.get_xlim()
    labels = _apart(done, _APART * (high - low))
    if len(done) and (sheet.is_tall(ax.figure) or len(labels) > _MOST_LABELS):
        # Where there is no room for all: the first action and how many follow.
        first, more = str(done["text"].iloc[0]), len(done) - 1
        labels = {float(done["t_s"].iloc[0]): f"{first}, then {more} more" if more else first}
    words = {(t_s - run["fault_s"], "--"): text for t_s, text in labels.items()}
    if len(served):
        is_whole = len(served) > 1 and not math.isnan(run["served_again_s"])
        text = "all serve again" if is_whole else "serves again"
        words[float(served["t_s"].iloc[-1]) - run["fault_s"], ":"] = text
    for dashes, marked in (("--", done), (":", served)):
        for t_s in marked["t_s"]:
            ax.axvline(t_s - run["fault_s"], color=style.INK, lw=0.9, ls=dashes, zorder=2)
    timeline.label(ax, [(t_s, text) for (t_s, _), text in words.items()], "")


def _apart(done: pd.DataFrame, least_s: float) -> dict[float, str]:
    """Return the labels of actions by time; actions that follow at once share the first label."""
    words: dict[float, list[str]] = {}
    for row in done.itertuples():
        if not words or row.t_s - max(words) >= least_s:
            words[float(row.t_s)] = []
        words[max(words)].append(str(row.text))
    return {
        t_s: f"{first} + {len(more)}" if more else first for t_s, (first, *more) in words.items()
    }


def _worst(runs: pd.DataFrame) -> str:
    """Describe the worst of a fault's runs in a few words."""
    worst = runs[["longest_gap_s", "gave_up_clients", "lost"]].max()
    gave_up = int(worst["gave_up_clients"])
    lost, more = int(worst["lost"]), int((runs["wrong"] - runs["lost"]).max())
    words = [
        f"{_number(worst['longest_gap_s'])} s",
        f"{count(gave_up, 'client')} gave up",
        f"{count(lost, 'write')} lost" if lost or runs["replicas"].min() else "writes not read",
        f"{more} other errors" if more else "",
    ]
    return ", ".join(filter(None, words))


def _title(fault: str) -> str:
    return _TITLES.get(fault, fault.replace("-", " ").capitalize())


def _number(value: float) -> str:
    return plain(value) if math.isfinite(value) else "unknown"


FIGURES = {
    key: Entry(
        f"What do clients see when {what} fails?",
        paint, describe, ("outages", "intervals", "events"),
        computed=lambda data: {"outages": analysis.of_dataset(data)},
    )
    for key, what in {
        "faults": "a part of the cluster", "network-faults": "the network or a host"
    }.items()
}  # fmt: skip
