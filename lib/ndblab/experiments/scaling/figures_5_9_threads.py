"""Figures 5 and 9: utilisation of every NDB thread, as in ndb_top.

In: runs, slices and NDB threads of a dataset, the published screen. Out: a painted figure and its
description. Utilisation is user and system time in percent of one logical CPU.

The threads are shown where their claims are judged: in one side of a contrast. A dataset that has
not measured it shows the best mean throughput of its sweep.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ndblab import formatting
from ndblab.error import MissingData
from ndblab.figures import intervals, published_panel, selection, sheet, style
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.evidence import DATA_NODES_SHARE
from ndblab.judging.publication import Anchor
from ndblab.statistics import contrasts, summary

SATURATED_PCT = 80
"""From here on the brief calls an NDB thread saturated (text on Figures 5 and 9)."""
_HATCH = "/////"
# With more threads than this, bars are too narrow for their numbers.
_NUMBERED = 30
_BETWEEN_KINDS = 0.9
_BEST = "best mean throughput"


@dataclass(frozen=True)
class _Judged:
    """A side of a contrast, and why its point is shown."""

    contrast: str
    side: str
    why: str


# By `most_servers`.
_JUDGED = {
    False: _Judged("recv", contrasts.A, "far past the peak, as in the brief"),
    True: _Judged("overload", contrasts.B, _BEST),
}


@dataclass(frozen=True)
class _Shown:
    """Runs or slices of one point, and why it is shown."""

    runs: pd.DataFrame
    why: str
    are_slices: bool

    @property
    def point(self) -> list[str]:
        """The point in words: servers, clients."""
        return selection.in_words(self.runs.iloc[0])


def paint(
    most_servers: bool,
    figure: Figure,
    tables: Tables,
    anchors: Sequence[Anchor],
    caption: Caption,
) -> list[str]:
    """Draw a bar for each NDB thread of both data nodes, user and system time apart.

    Parameters
    ----------
    most_servers : show the point with the best throughput of the most servers; else one server with
        32 times the clients that saturate it.
    """
    shown = _point(most_servers, tables)
    threads = _threads(tables, shown)
    [[measured, beside]] = sheet.panels(figure, columns=(1.7, 1), wspace=0.24)
    servers, clients = shown.point
    measured.set_title(caption.title(f"{servers}, {clients}"))
    share_pct = 100 * DATA_NODES_SHARE / 2 * caption.cpus if _has_share(caption) else None
    _measured(measured, threads, share_pct)
    _published(beside, anchors)
    notes = [
        f"{clients.capitalize()}: {shown.why}.",
        f"Bars: mean of {len(shown.runs)} slices of seconds; whiskers: lowest to highest."
        if shown.are_slices
        else intervals.described(threads["runs"], "Bars", "whiskers", each="thread"),
    ]
    notes += ["Below a bar: thr_no."] if len(threads) <= _NUMBERED else []
    if share_pct is not None:
        reach = "out of reach" if share_pct < SATURATED_PCT else "percent of one CPU"
        notes.append(
            f"All threads of a data node share its quota, {formatting.plain(share_pct)} % of one "
            f"CPU here: the brief's {SATURATED_PCT} % is {reach}, so compare their order."
        )
    return notes


def describe(most_servers: bool, tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe how busy each kind of NDB thread was, measured and published."""
    shown = _point(most_servers, tables)
    threads = _threads(tables, shown)
    servers, clients = shown.point
    kinds = threads.groupby("thread", observed=True)["mean"].max().sort_values(ascending=False)
    each = [f"{kind} {formatting.plain(value)} %" for kind, value in kinds.items()]
    words = (
        f"Utilisation of {len(threads)} NDB threads with {servers} and {clients} ({shown.why}), "
        "user and system time in percent of one CPU. Busiest thread of each kind: "
        f"{formatting.listed(each)}."
    )
    theirs = (f"{a.series}: {formatting.plain(a.value)} %" for a in anchors)
    return [words, *published_panel.sentence(anchors, theirs)]


def _has_share(caption: Caption) -> bool:
    return caption.is_scaled and caption.cpus is not None


def _point(most_servers: bool, tables: Tables) -> _Shown:
    """Return the slices that the claims on these threads are judged by, or else good runs."""
    sampled, judged = tables["ndb_threads"]["run_id"].unique(), _JUDGED[most_servers]
    with suppress(MissingData):
        slices = contrasts.whole(tables["slices"], judged.contrast)
        mine = slices[(slices["side"] == judged.side) & slices["run_id"].isin(sampled)]
        if len(mine):
            return _Shown(mine, judged.why, are_slices=True)
    return _Shown(_best(most_servers, tables["runs"], sampled), _BEST, are_slices=False)


def _best(most_servers: bool, runs: pd.DataFrame, sampled: np.ndarray) -> pd.DataFrame:
    """Return the good runs of the point with the best mean throughput."""
    runs = selection.good(runs)
    runs = runs[runs["run_id"].isin(sampled)]
    runs = runs[runs["servers"] == (runs["servers"].max() if most_servers else 1)]
    if runs.empty:
        raise selection.nothing_to_draw("no NDB threads of a good run with this many servers")
    peak = summary.peaks(summary.points(runs))
    if peak.empty:
        raise selection.nothing_to_draw("no point without idle servers")
    return runs[runs["clients"] == int(peak["clients"].iloc[0])]


def _threads(tables: Tables, shown: _Shown) -> pd.DataFrame:
    """Average each thread over runs or slices; sort kinds and threads, the busiest first.

    Neighbouring slices are not independent, so they have their range, and no interval.
    """
    keys = ["node_id", "thr_no", "thread"]
    samples = tables["ndb_threads"]
    samples = samples[samples["run_id"].isin(shown.runs["run_id"])]
    times = ["os_user_pct", "os_system_pct"]
    by_run = samples.groupby(["run_id", *keys], observed=True)[times].mean().reset_index()
    by_run["pct"] = by_run[times[0]] + by_run[times[1]]
    parts = by_run.groupby(keys, observed=True)[times].mean().reset_index()
    threads = intervals.means(by_run, keys, "pct").merge(parts, on=keys)
    if shown.are_slices:
        ends = by_run.groupby(keys, observed=True)["pct"].agg(["min", "max"]).reset_index()
        threads = threads.drop(columns=["low", "high"]).merge(
            ends.rename(columns={"min": "low", "max": "high"}), on=keys
        )
    threads["thread"] = threads["thread"].astype(str)
    threads["kind_pct"] = threads.groupby("thread")["mean"].transform("max")
    return threads.sort_values(
        ["kind_pct", "thread", "mean"], ascending=[False, True, False], ignore_index=True
    )


def _measured(ax: Axes, threads: pd.DataFrame, share_pct: float | None) -> None:
    x = _places(threads["thread"])
    nodes = sorted(threads["node_id"].unique())
    shades = dict(zip(nodes, (style.DATA_NODE, style.OTHER_DATA_NODE), strict=False))
    colours = [shades.get(node, style.QUIET) for node in threads["node_id"]]
    user, system = threads["os_user_pct"], threads["os_system_pct"]
    ax.bar(x, user, 0.84, color=colours, zorder=2)
    ax.bar(
        x, system, 0.84, bottom=user, zorder=2, color="white", edgecolor=colours, hatch=_HATCH,
        linewidth=0.8,
    )  # fmt: skip
    low, high = threads["low"].clip(lower=0), threads["high"]
    style.whiskers(ax, x, threads["mean"], low, high, elinewidth=0.8, capsize=1.5)
    numbered = len(threads) <= _NUMBERED
    _kinds(ax, threads["thread"], x, threads["thr_no"] if numbered else None)
    handles = [Patch(color=shades[node], label=f"data node {node}") for node in shades]
    handles += [
        Patch(color=style.QUIET, label="user"),
        Patch(fc="white", ec=style.QUIET, hatch=_HATCH, label="system"),
    ]
    ax.legend(handles=handles, loc="upper right", bbox_to_anchor=(1, 0.93), fontsize=8)
    most = max(threads["mean"].max(), threads["high"].max(), 0.1)
    if share_pct is None:
        ax.set_ylim(0, 105)
        _level(ax, SATURATED_PCT, f"{SATURATED_PCT} %: saturated, according to the brief")
        return
    ax.set_ylim(0, min(1.12 * share_pct, 1.35 * most))
    share = f"share of a data node: {formatting.plain(share_pct)} %"
    if ax.get_ylim()[1] > share_pct:
        _level(ax, share_pct, share)
    else:
        ax.text(
            0.99, 0.985, f"{share}, far above \N{UPWARDS ARROW}", transform=ax.transAxes,
            ha="right", va="top", fontsize=7.5, color=style.QUIET,
            bbox=style.WHITE_BOX,
        )  # fmt: skip


def _published(ax: Axes, anchors: Sequence[Anchor]) -> None:
    """Draw every thread of the published screen, by kind."""
    published_panel.note(ax, anchors, "A screen of ndb_top: one data node, whole percents.", 38)
    table = pd.DataFrame({
        "anchor": list(anchors),
        "thread": [a.series.split(" ")[0] for a in anchors],
        "value": [a.value for a in anchors],
    })  # fmt: skip
    table["kind"] = table.groupby("thread")["value"].transform("max")
    table = table.sort_values(
        ["kind", "thread", "value"], ascending=[False, True, False], ignore_index=True
    )
    x = _places(table["thread"])
    for place, anchor in zip(x, table["anchor"], strict=True):
        published_panel.mark(ax, anchor, place, style.DATA_NODE, 7)
    firsts = table.drop_duplicates("thread")
    for i, anchor in zip(firsts.index, firsts["anchor"], strict=True):
        own = x[(table["thread"] == table["thread"][i]).to_numpy()]
        published_panel.label(
            ax, anchor, float(own.mean()), f"{formatting.plain(anchor.value)} %", 7.5
        )
    _kinds(ax, table["thread"], x, None)
    ax.set_xlim(-2, x.max() + 2 if len(x) else 2)
    ax.set_ylim(0, 112)
    ax.set_yticks(range(0, 101, 20))
    _level(ax, SATURATED_PCT, "")


def _places(kinds: pd.Series) -> np.ndarray:
    """Place bars side by side, with gaps between kinds."""
    another = (kinds != kinds.shift()).cumsum() - 1
    return np.arange(len(kinds)) + _BETWEEN_KINDS * another.to_numpy(float)


def _kinds(ax: Axes, kinds: pd.Series, x: np.ndarray, numbers: pd.Series | None) -> None:
    """Label the kinds below their bars, and the bars with thread numbers if there is room."""
    middles = pd.Series(x).groupby(kinds.to_numpy(), sort=False).mean()
    ax.set_xticks(middles.to_numpy(), list(middles.index))
    ax.tick_params(axis="x", length=0, pad=3 if numbers is None else 12)
    ax.grid(False, axis="x")
    for place, number in zip(x, numbers if numbers is not None else (), strict=False):
        ax.annotate(
            str(number), (place, 0), (0, -3), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center", va="top", fontsize=6, color=style.QUIET,
        )  # fmt: skip
    ax.set_xlabel("NDB thread, by kind")
    ax.set_ylabel("Utilisation, percent of one logical CPU", color=style.DATA_NODE)
    if len(x):
        ax.set_xlim(x.min() - 1, x.max() + 1)


def _level(ax: Axes, value: float, text: str) -> None:
    ax.axhline(value, color=style.INK, lw=1, ls=(0, (4, 3)), zorder=1)
    ax.text(
        0.99, value, text, transform=ax.get_yaxis_transform(), ha="right", va="bottom",
        fontsize=7.5, color=style.QUIET,
    )  # fmt: skip
