"""Throughput by the data nodes' share of the CPUs, beside what the utilisation law predicts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn.objects as so

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.cpu_split import analysis
from ndblab.experiments.cpu_split.experiment import QUARTER_PCT, SHARES_PCT, contrast
from ndblab.figures import curves, forest, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS
from ndblab.figures.style import Look
from ndblab.formatting import count, in_sentences, listed, plain
from ndblab.judging.evidence import usable_cpus
from ndblab.statistics import intervals, ratio_tables

_LAW = Look("utilisation law", style.QUIET)
_CLIENTS = ((style.THROUGHPUT, "o"), (style.ORANGE, "s"), (style.VIOLET, "^"))
"""Looks of the largest numbers of clients; fewer of them leave CPUs unused."""
_SOME = " in some recordings only"
_AROUND_PCT = 4.0
_ASIDE_PCT = 0.35
"""How far lines are moved apart, so that their whiskers do not cover each other."""


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw a quarter over every other share, and throughput against the share, with the law."""
    means, ratios, law = _means(tables), _ratios(tables), _law(tables)
    lower = forest.leading(figure, ratios, "A quarter over another share, throughput ratio", 3.0)
    panel = lower.subplots()
    numbers = sorted(means["clients"].unique())
    looks = {
        clients: Look(count(clients, "client"), *look)
        for clients, look in zip(numbers, _CLIENTS, strict=False)
    }
    aside = means["clients"].map(numbers.index) - (len(numbers) - 1) / 2
    moved = means.assign(share_pct=means["share_pct"] + _ASIDE_PCT * aside)
    (
        style.plot(
            moved.astype({"clients": object}), x="share_pct", y="mean", marker="clients",
            color="clients",
        )
        .add(so.Range(), ymin="low", ymax="high", legend=False)
        .add(so.Line(pointsize=6), legend=False)
        .scale(
            marker={clients: look.marker for clients, look in looks.items()},
            color={clients: look.colour for clients, look in looks.items()},
        )
        .label(x="", y="")
        .on(panel)
        .plot()
    )  # fmt: skip
    last = means.sort_values("share_pct").groupby("clients")[["share_pct", "mean"]].last()
    labels = [(looks[row.Index], row.share_pct, row.mean) for row in last.itertuples()]
    least, most = min(SHARES_PCT) - _AROUND_PCT, max(SHARES_PCT) + _AROUND_PCT
    notes = [*forest.notes(ratios), intervals.described(means["runs"], "Vertical bars")]
    ends = means[["mean", "high"]]
    top = curves.top(float(means["mean"].max()), float(ends.max(axis=None)))
    if law:
        x = np.unique([*np.linspace(least, most, 100), law.best_pct])
        y = [law.qps(pct) for pct in x]
        panel.plot(x, y, ls=":", color=_LAW.colour)
        labels.append((_LAW, most, y[-1]))
        top = max(top, 1.04 * max(y))
        notes.append(
            f"Dotted: predicted from a query's CPU time without quotas, best with "
            f"{law.best_pct:.0f} %."
        )
    panel.set_xlim(least, most)
    panel.set_ylim(0, top)
    at_share = means.assign(clients=means["share_pct"])
    curves.cut(panel, at_share, [looks[n].label for n in means["clients"]], "Vertical bars")
    QPS.vertical(panel, top)
    panel.set_xticks(SHARES_PCT)
    panel.set_xlabel("CPUs for both data nodes, % of the host; servers and clients have the rest")
    curves.label_ends(panel, labels)
    return Head(_title(means, ratios, tables["earlier"]), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the ratios, throughput with each share, and what the law predicts."""
    means, ratios, law = _means(tables), _ratios(tables), _law(tables)
    title = _title(means, ratios, tables["earlier"])
    words = [f"{title}.", *forest.sentence(ratios)]
    for clients, own in means.groupby("clients"):
        phrases = [f"{plain(row.mean)} with {row.share_pct:g} %" for row in own.itertuples()]
        words += in_sentences(f"Queries/s with {count(clients, 'client')}", phrases)
    if law:
        phrases = [f"{plain(law.qps(pct))} with {pct} %" for pct in SHARES_PCT]
        words += in_sentences("Queries/s that the utilisation law predicts", phrases)
        words.append(
            f"It predicts most with {law.best_pct:.0f} %: a query takes {plain(law.data_us)} "
            f"\N{MICRO SIGN}s of the data nodes and {plain(law.sql_us)} of servers and clients."
        )
    return words


def _means(tables: Tables) -> pd.DataFrame:
    runs = analysis.divided(tables["runs"])
    most = sorted(runs["clients"].unique())[-len(_CLIENTS) :]
    runs = runs[runs["clients"].isin(most)]
    means = intervals.means(runs, ["clients", "share_pct"], "qps")
    return means.astype({"clients": int})


def _ratios(tables: Tables) -> pd.DataFrame:
    names = {
        contrast(pct): f"{QUARTER_PCT} % over {pct} %" for pct in SHARES_PCT if pct != QUARTER_PCT
    }
    rows = forest.of_contrasts(tables["slices"], names)
    return rows.assign(name=[f"{row.name}, {forest.clients(row)}" for row in rows.itertuples()])


def _law(tables: Tables) -> analysis.Law | None:
    rows = [analysis.Law(*row) for row in tables["law"].itertuples(index=False)]
    return rows[0] if rows else None


def _title(means: pd.DataFrame, ratios: pd.DataFrame, earlier: pd.DataFrame) -> str:
    """Say which shares a quarter beats and loses to, and what earlier recordings leave open.

    It names the clients if all sides had the same number; else they are in the names of the rows.
    Without contrasts, say which share was best.
    """
    known = ratios[ratios["low"].notna()]
    if known.empty:
        best = means.loc[means["mean"].idxmax()]
        return f"Throughput was best with {best['share_pct']:g} % of the CPUs for data nodes"
    # Clear here, and in an earlier recording within the error or clear the other way.
    now = known.set_index("contrast")
    low, high = (earlier["contrast"].map(now[end]) for end in ("low", "high"))
    same = ((earlier["low"] > 1) & (low > 1)) | ((earlier["high"] < 1) & (high < 1))
    unsure = earlier.loc[earlier["low"].notna() & ~same, "contrast"]
    sure = ~known["contrast"].isin(unsure)
    wins, loses = known["low"] > 1, known["high"] < 1
    said = [
        f"{verb} {_shares(known[of])}{where}"
        for verb, of, where in (
            ("loses to", loses & sure, ""),
            ("beats", wins & sure, ""),
            ("loses to", loses & ~sure, _SOME),
            ("beats", wins & ~sure, _SOME),
            ("shows no clear gain over", ~wins & ~loses, ""),
        )
        if of.any()
    ]
    numbers = {int(n) for n in known[["clients", "clients_other"]].to_numpy().ravel()}
    same = f"With {count(min(numbers), 'client')}, a quarter" if len(numbers) == 1 else "A quarter"
    return f"{same} of the CPUs for data nodes {listed(said)}"


def _shares(rows: pd.DataFrame) -> str:
    return f"{listed(rows['contrast'].str.rpartition('-')[2])} %"


def _computed(dataset: Dataset) -> Mapping[str, pd.DataFrame]:
    """Return the law that the undivided runs give, no row if they give none, and what earlier
    recordings found.
    """
    try:
        rows = [analysis.law(dataset.runs, dataset.processes, usable_cpus(dataset.host))]
    except MissingData:
        rows = []
    earlier = [ratio_tables.of_contrasts(recording.slices) for recording in dataset.earlier]
    none = pd.DataFrame(columns=["contrast", "low", "high"])
    return {
        "law": pd.DataFrame(rows, columns=analysis.Law._fields),
        "earlier": pd.concat(earlier, ignore_index=True) if earlier else none,
    }


FIGURES = {
    "cpu-split": Entry(
        "Which division of CPUs between data nodes and MySQL servers gives most?",
        paint, describe, ("runs", "slices"), height_in=5.6, computed=_computed,
    ),
}  # fmt: skip
