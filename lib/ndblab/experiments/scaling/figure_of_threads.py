"""Figures 5 and 9: CPU of every NDB thread, and of one kind of thread over the others."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd
import seaborn as sns
import seaborn.objects as so
from matplotlib.colors import to_hex

from ndblab.error import MissingData
from ndblab.experiments.scaling import THREADS_OF_32
from ndblab.experiments.scaling.experiment import PAST_PEAK
from ndblab.figures import forest, published, selection, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.formatting import in_sentences, plain
from ndblab.judging.evidence import DATA_NODES_SHARE
from ndblab.judging.publication import Anchor
from ndblab.statistics import contrasts, estimate, intervals, summary

SATURATED_PCT = 80
"""From here on the brief calls an NDB thread saturated (text on Figures 5 and 9)."""
_ROW_IN, _AROUND_IN = 0.17, 1.9
"""Height of a thread's row and of what is around the rows, in inches."""


@dataclass(frozen=True)
class _Threads:
    """Where NDB threads are shown: in one side of a contrast, or at a point of the sweep."""

    contrast: str
    side: str
    kind: str
    where: str
    """Said in the notes of the contrast's side."""

    def runs(self, tables: Tables) -> pd.DataFrame:
        """Return the slices that the claims on these threads are judged by, or else good runs.

        Rows of one unit of analysis have the same `unit`.
        """
        sampled = tables["ndb_threads"]["run_id"].unique()
        with suppress(MissingData):
            slices = contrasts.whole(tables["slices"], self.contrast)
            mine = slices[(slices["side"] == self.side) & slices["run_id"].isin(sampled)]
            if len(mine):
                return mine.assign(unit=mine["block"])
        runs = selection.good(tables["runs"])
        runs = runs[runs["run_id"].isin(sampled)]
        runs = runs[runs["servers"] == (runs["servers"].max() if self is _OF_MOST else 1)]
        if runs.empty:
            raise MissingData("no NDB threads of a good run with this many servers")
        peak = summary.peaks(summary.points(runs))
        if peak.empty:
            raise MissingData("no point without idle servers")
        return runs[runs["clients"] == int(peak["clients"].iloc[0])].assign(unit=runs["run_id"])


_OF_ONE = _Threads(
    "recv", contrasts.A, "recv", f" (published: {PAST_PEAK} times the clients of its peak)"
)
_OF_MOST = _Threads("overload", contrasts.B, "tc", ", at peak throughput")


def paint_threads(
    shown: _Threads, figure: Figure, tables: Tables, anchors: Anchors, caption: Caption
) -> Head:
    """Draw a bar for each NDB thread of both data nodes, and one kind over the others."""
    runs = shown.runs(tables)
    threads, ratios = _threads(shown, tables, runs)
    bar_rows_in = _ROW_IN * threads["name"].nunique()
    figure.set_figheight(max(figure.get_figheight(), _AROUND_IN + bar_rows_in))
    rows = sheet.rows_of(figure, 2, 1)
    left, right = figure.subfigures(rows, 2 // rows, width_ratios=(1.15, 1)[: 2 // rows])
    bars = left.subplots()
    nodes = sorted(threads["node"].unique())
    shades = sns.blend_palette((style.DATA_NODE, style.OTHER_DATA_NODE), len(nodes))
    colours = dict(zip(nodes, map(to_hex, shades), strict=True))
    whisker = so.Range(color=style.INK, linewidth=1)
    (
        style.plot(threads, y="name", x="mean", color="node")
        .add(so.Bar(alpha=1, width=0.8), so.Dodge(), legend=False)
        .add(whisker, so.Dodge(), xmin="low", xmax="high", legend=False)
        .scale(color=colours)
        .label(x="CPU, percent of one logical CPU", y="")
        .on(bars)
        .plot()
    )
    bars.tick_params(axis="y", length=0, labelsize=8)
    keys = [bars.barh(0, 0, color=colour, label=node) for node, colour in colours.items()]
    bars.legend(handles=keys, loc="lower right")
    bars.set_xlim(0, 1.08 * float(threads[["mean", "high"]].max(axis=None)) or 1)
    theirs = _published_ratios(shown, anchors)
    mine = {name: [a] for name, a in theirs.items() if name in set(ratios["name"])}
    ax = right.subplots()
    if len(ratios):
        forest.draw(ax, ratios, f"CPU of {shown.kind} over another kind's, ratio", anchors=mine)
        ax.set_title(f"CPU of {shown.kind} over that of")
    else:
        sheet.nothing(ax, f"no {shown.kind} thread to compare")
    servers, clients = selection.in_words(runs.iloc[0])
    where = shown.where if "block" in runs else ", at peak throughput"
    notes = [f"{servers.capitalize()}, {clients}{where}.", _units(runs)]
    notes += published.note(chain(*mine.values()))
    undivided = _undivided(runs)
    if caption.is_scaled and undivided:
        notes.append("No quota divides the CPUs, and the threads are the brief's 27.")
    elif caption.is_scaled and caption.cpus:
        share = plain(100 * DATA_NODES_SHARE / 2 * caption.cpus)
        notes.append(f"All threads of a data node share its quota, {share} % of one CPU.")
        notes.append("Under it, their order need not be NDB's own.")
    else:
        bars.axvline(SATURATED_PCT, color=style.INK, lw=1, ls="--")
        bars.set_xlim(0, 105)
        notes.append(f"Dashed: {SATURATED_PCT} %, saturated according to the brief.")
    return Head(_threads_title(shown, ratios, runs), notes, undivided)


def describe_threads(shown: _Threads, tables: Tables, anchors: Anchors) -> list[str]:
    """Describe how busy each kind of NDB thread was, measured and published."""
    runs = shown.runs(tables)
    threads, ratios = _threads(shown, tables, runs)
    kinds = threads.groupby("thread", sort=False)["mean"].max()
    servers, clients = selection.in_words(runs.iloc[0])
    lead = f"Busiest thread of each kind with {servers} and {clients}, in percent of one CPU"
    return [
        f"{_threads_title(shown, ratios, runs)}.",
        *in_sentences(lead, (f"{kind} {plain(pct)} %" for kind, pct in kinds.items())),
        *forest.sentence(ratios),
        *published.sentence(anchors, by_series=True),
    ]


def _threads(
    shown: _Threads, tables: Tables, runs: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Average each thread over units, and compare one kind with the others, unit by unit.

    As in the claims: in Figure 5 a kind is its busiest thread, in Figure 9 the mean of its threads,
    both averaged over the data nodes.
    """
    samples = tables["ndb_threads"].merge(runs[["run_id", "unit"]], on="run_id")
    samples = samples.assign(
        thread=samples["thread"].astype(str),
        node="data node " + samples["node_id"].astype(str),
        pct=samples["os_user_pct"] + samples["os_system_pct"],
    )
    keys = ["unit", "node", "thread", "thr_no"]
    by_unit = samples.groupby(keys)["pct"].mean().reset_index()
    threads = intervals.means(by_unit, keys[1:], "pct")
    threads["name"] = threads["thread"] + " " + threads["thr_no"].astype(str)
    order = threads.groupby("thread")["mean"].transform("max")
    threads = threads.assign(order=order).sort_values(
        ["order", "thread", "thr_no"], ascending=[False, True, True], ignore_index=True
    )
    of_node = by_unit.groupby(["unit", "node", "thread"])["pct"].agg(
        "mean" if shown is _OF_MOST else "max"
    )
    kinds = of_node.groupby(level=["unit", "thread"]).mean().unstack("thread")
    rows = [
        [kind, *estimate.geometric(values)]
        for kind in threads["thread"].unique()
        if kind != shown.kind and shown.kind in kinds
        for values in [(kinds[shown.kind] / kinds[kind]).replace(np.inf, np.nan).dropna()]
        if len(values) and (values > 0).all()
    ]
    return threads, pd.DataFrame(rows, columns=["name", "ratio", "low", "high"])


def _published_ratios(shown: _Threads, anchors: Anchors) -> dict[str, Anchor]:
    """Return the published ratio of one kind to each other kind, from the screen's threads."""
    by_kind: dict[str, list[Anchor]] = {}
    for anchor in anchors:
        by_kind.setdefault(anchor.series.split(" ")[0], []).append(anchor)
    of_kind = {
        kind: float((np.mean if shown is _OF_MOST else np.max)([a.value for a in group]))
        for kind, group in by_kind.items()
    }
    own = of_kind.pop(shown.kind, None)
    return {
        kind: replace(by_kind[kind][0], value=own / value, unit="ratio")
        for kind, value in of_kind.items()
        if own is not None
    }


def _threads_title(shown: _Threads, ratios: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Say which NDB thread was busiest in Figure 5, which kind in Figure 9, and by how much."""
    if ratios.empty:
        return f"The data nodes have no {shown.kind} thread to compare"
    nearest = next(ratios.sort_values("ratio").head(1).itertuples())
    mine = nearest.ratio >= 1
    busiest = shown.kind if mine else nearest.name
    if nearest.low <= 1 <= nearest.high:
        said = f"{shown.kind} and {nearest.name} were the busiest threads, too close to tell which"
    elif shown is _OF_MOST:
        said = f"{busiest} was the busiest kind of thread: "
        said += _more_cpu(shown.kind, nearest, mine, nearest.name)
    else:
        said = f"a thread of {busiest} was busiest: "
        said += _more_cpu(shown.kind, nearest, mine, f"any of {nearest.name}")
    where = _lead(shown, runs)
    return f"{where[0].upper()}{where[1:]}, {said}"


def _more_cpu(kind: str, nearest, mine: bool, than: str) -> str:
    """Say how much more CPU a kind of threads used than the nearest, or how much less."""
    if mine:
        return forest.compared(nearest.ratio, "CPU", than)
    return f"{kind} used {forest.change(nearest.ratio)} CPU"


def _lead(shown: _Threads, runs: pd.DataFrame) -> str:
    """Say with how many clients threads of Figure 5 are shown; else at the peak of the sweep."""
    where = "at peak throughput"
    if shown is _OF_ONE and "block" in runs:
        where = f"with {selection.in_words(runs.iloc[0])[1]}"
    return f"without quotas, {where}" if _undivided(runs) else where


def _undivided(runs: pd.DataFrame) -> bool:
    """Return whether no quota stops the threads: those of the brief have none here."""
    return bool(runs["variant"].iloc[0] == THREADS_OF_32)


def _units(runs: pd.DataFrame) -> str:
    units = runs["unit"].nunique()
    of_slices = "block" in runs
    what = "blocks, each of several short loads" if of_slices else "runs"
    sure = "95 % confidence interval"
    spread = {1: "none", 2: f"range (of ratios: {sure})"}.get(units, sure)
    return f"Means of {units} {what}; whiskers: {spread}."


FIGURES = {
    "5": Entry(
        "Which NDB thread is busiest under one MySQL server?",
        partial(paint_threads, _OF_ONE), partial(describe_threads, _OF_ONE),
        ("runs", "ndb_threads", "slices"), one_workload=True,
    ),
    "9": Entry(
        "Which NDB thread is the bottleneck at peak throughput?",
        partial(paint_threads, _OF_MOST), partial(describe_threads, _OF_MOST),
        ("runs", "ndb_threads", "slices"), one_workload=True, under_quotas=True,
    ),
}  # fmt: skip
